package engine

import (
	"context"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// denials keeps the log from being flooded by one actor who is told no again and again.
type denials struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const denialEvery = time.Second

func (d *denials) first(actor string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if d.last == nil || len(d.last) > 10_000 {
		d.last = map[string]time.Time{}
	}
	if now.Sub(d.last[actor]) < denialEvery {
		return false
	}
	d.last[actor] = now
	return true
}

// denied leaves the event of a refusal. The refusal itself wrote nothing, so it has a transaction of its own.
func (e *Engine) denied(ctx context.Context, tenant holdshort.TenantID, actor holdshort.Actor, action string, on holdshort.Request) {
	if !e.denials.first(string(tenant) + "\x00" + actor.ID) {
		return
	}
	err := e.update(unkeyed(context.WithoutCancel(ctx)), tenant, func(c *change) error {
		return c.event("access.denied", c.originOf(on.RunID), &on, clip(actor.ID), holdshort.Code(action), nil)
	})
	if err != nil {
		e.log.Error("record a refusal", "actor", actor.ID, "action", action, "error", err)
	}
}

// Denied leaves the event of a refusal that a door made before the kernel was asked.
func (e *Engine) Denied(ctx context.Context, tenant holdshort.TenantID, actor holdshort.Actor, action string) {
	e.denied(ctx, tenant, actor, action, holdshort.Request{})
}
