package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// SessionQuery selects sessions, those where something happened last first. What is empty selects nothing away.
type SessionQuery struct {
	User    string
	Channel string
	Mode    string
	Agent   string
	Cursor  string
	Limit   int
}

// SessionsFor lists the sessions that somebody may see: their own, or everybody's by their role.
func (e *Engine) SessionsFor(ctx context.Context, tenant holdshort.TenantID, q SessionQuery, actor holdshort.Actor) (store.Page[holdshort.Session], error) {
	return store.Page[holdshort.Session]{}, nil
}
