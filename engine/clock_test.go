package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestClockGoesForward: the time of a process does not step back when it sees the store's time, which is a moment old by then, and no two
// steps have the same time.
func TestClockGoesForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		start := time.Now().UTC()
		c.saw(start)
		<-time.After(50 * time.Millisecond)
		before := c.now()
		c.saw(start.Add(time.Millisecond)) // as the store said 49 ms ago
		for range 100 {
			after := c.now()
			if !after.After(before) {
				t.Fatalf("%v comes after %v", after, before)
			}
			before = after
		}
		<-time.After(time.Second)
		if late := start.Add(1001 * time.Millisecond).Sub(c.now()); late > 0 {
			t.Errorf("it is %v behind the store's time", late)
		}
	})
}
