package flow

import (
	"time"

	"github.com/holdshort/holdshort"
)

// Sleep waits without costing anything. The run goes on when the time has come, on whatever node.
func Sleep(c *Context, name string, d time.Duration) {
	key := c.enter(KindSleep, name)
	defer c.leave()
	c.vacant(key, KindSleep)
	if err := c.x.recorder.Sleep(c.x.ctx, key, d); err != nil {
		c.obey(err)
	}
}

// Wait takes the first post of that name that was sent to the run and that no other Wait took. Past the timeout (0: never) its error has
// code timed_out; of a post that is no T it has code does_not_fit: whoever sent it cannot stop the run.
func Wait[T any](c *Context, name string, timeout time.Duration) (T, error) {
	entry := c.perform(KindWait, name, "", func(key string) (holdshort.JournalEntry, error) {
		return c.x.recorder.Wait(c.x.ctx, key, name, timeout)
	})
	return given[T](entry, "the sender of the post")
}
