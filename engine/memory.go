package engine

import (
	"maps"
	"slices"
	"sync"

	"github.com/holdshort/holdshort"
)

// memory keeps the journals of runs that this node suspended a short while ago, so that a decision that comes soon need not read them back.
// It is small and of a fixed size: a run that waits for long costs nothing. A journal counts only for the very revision at which it was left;
// every use case that adds to a journal stores the run too, so a newer one never goes unnoticed.
type memory struct {
	mu       sync.Mutex
	now, old map[runKey]remembered
	size     int
}

type remembered struct {
	run     holdshort.Run // as it was stored
	entries []holdshort.JournalEntry
}

const (
	memorySize  = 4 << 20 // bytes of one generation
	memoryEntry = 16 << 10
)

func (m *memory) keep(tenant holdshort.TenantID, run holdshort.Run, j *journal) {
	j.mu.RLock()
	entries := slices.Collect(maps.Values(j.entries))
	j.mu.RUnlock()
	size := 400 + len(run.Input) + len(run.Result)
	for _, e := range entries {
		size += 200 + len(e.Key) + len(e.Outcome)
	}
	if size > memoryEntry || len(j.voided) > 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil || m.size+size > memorySize {
		m.old, m.now, m.size = m.now, map[runKey]remembered{}, 0
	}
	m.size += size
	m.now[runKey{tenant, run.ID}] = remembered{run, entries}
}

// run gives a run as it was left here.
func (m *memory) run(tenant holdshort.TenantID, id holdshort.RunID) (holdshort.Run, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.now[runKey{tenant, id}]
	if !ok {
		r, ok = m.old[runKey{tenant, id}]
	}
	return r.run, ok
}

// take gives the journal of a run as it was at a revision, and forgets it.
func (m *memory) take(tenant holdshort.TenantID, id holdshort.RunID, revision int64) ([]holdshort.JournalEntry, bool) {
	key := runKey{tenant, id}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, generation := range []map[runKey]remembered{m.now, m.old} {
		if r, ok := generation[key]; ok {
			delete(generation, key)
			return r.entries, r.run.Revision == revision
		}
	}
	return nil, false
}
