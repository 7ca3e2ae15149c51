package engine

import (
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// places remembers recent requests: to which run and session they belong, so that a decision can name the rows it is going to write without
// looking first, and how they were last stored here, for a first look. Run and session never change; whether the rest is still so,
// compare-and-set finds out. It is small and of a fixed size: what is not here is looked up.
type places struct {
	mu       sync.Mutex
	now, old map[holdshort.RequestID]place // two generations: when the young one is full the old one goes
}

type place struct {
	tenant  holdshort.TenantID
	run     holdshort.RunID
	session holdshort.SessionID
	request *holdshort.Request // as this node stored it, if it did
}

const (
	generation  = 4_000
	keepRequest = 4 << 10 // bytes of question, arguments and context up to which a request is kept
)

func newPlaces() *places { return &places{now: map[holdshort.RequestID]place{}} }

// put remembers a request; stored is how it was stored, nil if that is not known.
func (p *places) put(tenant holdshort.TenantID, req holdshort.Request, stored *holdshort.Request) {
	if stored != nil {
		size := len(stored.Question) + len(stored.Context) + len(stored.Schema)
		for _, a := range stored.Actions {
			size += len(a.Args)
		}
		if size > keepRequest {
			stored = nil
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.now) >= generation {
		p.old, p.now = p.now, map[holdshort.RequestID]place{}
	}
	p.now[req.ID] = place{tenant, req.RunID, req.SessionID, stored}
}

func (p *places) get(id holdshort.RequestID) (place, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.now[id]; ok {
		return at, true
	}
	at, ok := p.old[id]
	return at, ok
}

// rows names what deciding a request writes.
func (at place) rows(id holdshort.RequestID) []store.Row {
	rows := []store.Row{store.RequestRow(id)}
	if at.run != "" {
		rows = append(rows, store.RunRow(at.run))
	}
	if at.session != "" {
		rows = append(rows, store.SessionRow(at.session))
	}
	return rows
}
