package holdshorttest

import (
	"sync"
	"time"
)

// Monday is when a kit's clock starts unless Options.Start says otherwise: the morning of a working day.
var Monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// clock stands still until the test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// moveTo never goes back.
func (c *clock) moveTo(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.now) {
		c.now = at
	}
}

// nudge puts a microsecond, the least that a store keeps, between two things that a test does one after the other.
func (c *clock) nudge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Microsecond)
}
