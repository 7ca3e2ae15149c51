package sqldb

import (
	"sync"
	"time"
)

// Clock keeps a store's time from going back. A small step back (up to a minute: a correction) makes time stand still until it has caught
// up. A large one is followed: a clock that was once wrong by years must not stop every timer for years. What was expired or fired by then
// stays so: those are rows.
type Clock struct {
	mu   sync.Mutex
	last time.Time
	back int64
}

const stepBack = time.Minute

// Start makes sure that time does not begin before the newest thing that the store knows.
func (c *Clock) Start(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = at
}

// Read gives the time to the microsecond, in UTC.
func (c *Clock) Read(wall time.Time) time.Time {
	wall = wall.UTC().Truncate(time.Microsecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	if behind := c.last.Sub(wall); behind > 0 {
		if behind <= stepBack {
			return c.last
		}
		c.back++
	}
	c.last = wall
	return wall
}

// SetBack counts the large steps back.
func (c *Clock) SetBack() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.back
}
