package sqlite

import (
	"context"
	"slices"
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// names are the rows that transactions under way are going to write. Who wants one that is taken waits in line: nobody is overtaken on a row
// that it wants.
type names struct {
	mu      sync.Mutex
	lines   map[name][]chan struct{} // of a taken name: who waits for it
	waiting int
}

type name struct {
	tenant holdshort.TenantID
	row    store.Row
}

func newNames() *names { return &names{lines: map[name][]chan struct{}{}} }

// take waits until all rows are ours, in their order: so two who want the same ones never wait for each other.
func (n *names) take(ctx context.Context, tenant holdshort.TenantID, rows []store.Row) (give func(), err error) {
	rows = slices.Clone(rows)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	for i, row := range rows {
		if err := n.one(ctx, name{tenant, row}); err != nil {
			n.give(tenant, rows[:i])
			return nil, err
		}
	}
	return func() { n.give(tenant, rows) }, nil
}

func (n *names) one(ctx context.Context, key name) error {
	n.mu.Lock()
	line, taken := n.lines[key]
	if !taken {
		n.lines[key] = nil
		n.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	n.lines[key] = append(line, turn)
	n.waiting++
	n.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := slices.Index(n.lines[key], turn); i >= 0 {
		n.lines[key] = slices.Delete(n.lines[key], i, i+1)
		n.waiting--
	} else {
		n.next(key) // it became ours at the same moment
	}
	return ctx.Err()
}

func (n *names) give(tenant holdshort.TenantID, rows []store.Row) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, row := range rows {
		n.next(name{tenant, row})
	}
}

// next hands a name on to who has waited longest.
func (n *names) next(key name) {
	line := n.lines[key]
	if len(line) == 0 {
		delete(n.lines, key)
		return
	}
	n.lines[key] = line[1:]
	n.waiting--
	close(line[0])
}

// queued is how many wait.
func (n *names) queued() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.waiting
}
