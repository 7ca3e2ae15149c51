package demo

import (
	"sync/atomic"
	"time"
)

// Clock is the time, or an earlier one while the desk's past is being made up.
type Clock struct{ back atomic.Int64 }

// Now is the clock's time.
func (c *Clock) Now() time.Time { return time.Now().Add(-time.Duration(c.back.Load())) }

// Ago sets the clock back by so much; 0 is now. It must not run backwards: set it to shorter and shorter times.
func (c *Clock) Ago(d time.Duration) { c.back.Store(int64(d)) }
