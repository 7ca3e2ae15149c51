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
}

func (c *clock) saw(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.After(c.seen) {
		c.seen, c.at = now, time.Now()
	}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen.IsZero() {
		return time.Now().UTC()
	}
	return c.seen.Add(time.Since(c.at))
}
