package sqldb

import (
	"errors"
	"sync"

	"github.com/holdshort/holdshort"
)

// Heads remembers the ends of event streams, so that an event finds its place without a look at the log. Only a writer that sees every
// commit may trust it. What a transaction appended is open until it is known whether it was committed. Where others write too it is a guess:
// whoever guessed wrong finds the place taken, and then asks the log.
type Heads struct {
	guess     bool
	mu        sync.Mutex
	committed map[streamKey]head
	open      map[streamKey]head
	shared    map[streamKey]bool // moved under somebody once: whoever guesses there keeps others from ever getting it right
}

type streamKey struct {
	tenant holdshort.TenantID
	stream string
}

// mostHeads bounds it. Streams are appended to in bursts: one that was forgotten costs a look at an index.
const (
	mostHeads  = 16 << 10
	mostShared = 1 << 10
)

// NewHeads gives an empty one; guess says that others write too.
func NewHeads(guess bool) *Heads {
	return &Heads{guess: guess, committed: map[streamKey]head{}, open: map[streamKey]head{}, shared: map[streamKey]bool{}}
}

func (h *Heads) find(tenant holdshort.TenantID, stream string) (end head, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := streamKey{tenant, stream}
	if end, ok = h.open[key]; !ok {
		end, ok = h.committed[key]
	}
	return end, ok
}

func (h *Heads) note(tenant holdshort.TenantID, stream string, end head) {
	if h.guess {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[streamKey{tenant, stream}] = end
}

// learn takes what a transaction appended, once it is committed.
func (h *Heads) learn(tenant holdshort.TenantID, heads ends) {
	if !h.guess || len(heads) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.committed)+len(heads) > mostHeads {
		clear(h.committed)
	}
	for _, end := range heads {
		if key := (streamKey{tenant, end.stream}); end.seq > 0 && !h.shared[key] {
			h.committed[key] = end.head
		}
	}
}

// Moved says whether err is of a stream that did not end where it was thought to, and forgets where that was.
func (h *Heads) Moved(err error) bool {
	var m *movedStream
	if !errors.As(err, &m) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.committed, m.key)
	if len(h.shared) >= mostShared {
		clear(h.shared)
	}
	h.shared[m.key] = true
	return true
}

// isShared says that the stream's lock must be taken before a look at its end.
func (h *Heads) isShared(tenant holdshort.TenantID, stream string) bool {
	if !h.guess {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shared[streamKey{tenant, stream}]
}

// Commit: what is open was committed.
func (h *Heads) Commit() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.committed)+len(h.open) > mostHeads {
		clear(h.committed)
	}
	for key, end := range h.open {
		h.committed[key] = end
	}
	clear(h.open)
}

// Forget: some of what is open was undone. The log knows what is left of it.
func (h *Heads) Forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key := range h.open {
		delete(h.committed, key)
	}
	clear(h.open)
}
