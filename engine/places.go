package engine

import (
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// places remembers to which run and session recent requests belong, so that a decision can name the rows it is going to write without
// looking first. Both never change, so nothing here can be out of date; what is not here is looked up.
type places struct {
	mu       sync.Mutex
	now, old map[holdshort.RequestID]place // two generations: when the young one is full the old one goes
}

type place struct {
	run     holdshort.RunID
	session holdshort.SessionID
}

const generation = 10_000

func newPlaces() *places { return &places{now: map[holdshort.RequestID]place{}} }

func (p *places) put(req holdshort.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.now) >= generation {
		p.old, p.now = p.now, map[holdshort.RequestID]place{}
	}
	p.now[req.ID] = place{req.RunID, req.SessionID}
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
