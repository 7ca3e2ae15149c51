package engine

import (
	"sync"
	"time"
)

// clock is the store's time as this process saw it last, carried on by its own clock: good enough for what is told about an effect, never
// for who wins.
type clock struct {
	mu   sync.Mutex
	seen time.Time // the store's
	at   time.Time // the process's, when it saw that
	last time.Time // what now gave last
}

func (c *clock) saw(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.After(c.seen) {
		c.seen, c.at = now, time.Now()
	}
}

// now is later each time, by a microsecond at least: the steps of a run are listed in the order of their times. What the store said is a
// moment old when it is seen, so that taking it over would set the time back.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now().UTC()
	if !c.seen.IsZero() {
		now = c.seen.Add(time.Since(c.at))
	}
	if now = now.Truncate(time.Microsecond); !now.After(c.last) {
		now = c.last.Add(time.Microsecond)
	}
	c.last = now
	return now
}
