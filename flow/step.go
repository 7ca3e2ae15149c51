package flow

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/holdshort/holdshort"
)

// Retry says how often and with which pauses a Step or Model is tried before its error is recorded. The zero value tries once.
type Retry struct {
	Times int           // further attempts
	Wait  time.Duration // before the first of them; it doubles. Default: 100ms
}

// Step does fn and records what it returns, its error too. It is at least once: a crash before the record does it again. What must not
// repeat is a Call.
func Step[T any](c *Context, name string, fn func(ctx context.Context) (T, error), retry ...Retry) (T, error) {
	return local(c, KindStep, name, fn, retry)
}

// Model asks a language model. It is a Step whose outcome is made durable before anything follows, so that a restart does not pay for it
// twice.
func Model[T any](c *Context, name string, fn func(ctx context.Context) (T, error), retry ...Retry) (T, error) {
	return local(c, KindModel, name, fn, retry)
}

func local[T any](c *Context, kind, name string, fn func(context.Context) (T, error), retry []Retry) (T, error) {
	entry := c.perform(kind, name, "", func(key string) (holdshort.JournalEntry, error) {
		began := c.x.recorder.Now()
		value, err := attempt(c.streamed(kind, key), fn, retry)
		if cause := context.Cause(c.x.ctx); cause != nil {
			return holdshort.JournalEntry{}, cause // whatever it returned is not the world's answer: it was told to stop
		}
		if err != nil {
			return c.recordSince(began, kind, key, "", nil, &holdshort.Failure{Code: holdshort.CodeOf(err), Message: clipTo(err.Error(), 2000), Step: key})
		}
		raw, err := encode("outcome of "+key, value)
		if err != nil {
			return holdshort.JournalEntry{}, Fail(holdshort.Failure{Code: holdshort.Invalid, Message: err.Error(), Step: key})
		}
		return c.recordSince(began, kind, key, "", raw, nil)
	})
	return outcome[T](c, entry)
}

func attempt[T any](ctx context.Context, fn func(context.Context) (T, error), retry []Retry) (value T, err error) {
	var r Retry
	if len(retry) > 0 {
		r = retry[0]
	}
	wait := r.Wait
	if wait <= 0 {
		wait = 100 * time.Millisecond
	}
	for n := 0; ; n++ {
		if value, err = fn(ctx); err == nil || n >= r.Times {
			return value, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return value, err
		}
		wait *= 2
	}
}

// Now is the time, recorded: the same on every replay.
func Now(c *Context, name string) time.Time {
	entry := c.perform(KindNow, name, "", func(key string) (holdshort.JournalEntry, error) {
		raw, _ := json.Marshal(c.x.recorder.Now().UTC())
		return c.record(KindNow, key, "", raw, nil)
	})
	at, _ := outcome[time.Time](c, entry)
	return at
}

// Random is a number in [0, n), recorded. It is not for secrets.
func Random(c *Context, name string, n int64) int64 {
	entry := c.perform(KindRandom, name, "", func(key string) (holdshort.JournalEntry, error) {
		if n <= 0 {
			return holdshort.JournalEntry{}, Fail(holdshort.Failure{Code: holdshort.Invalid, Message: "Random needs a positive bound", Step: key})
		}
		raw, _ := json.Marshal(rand.Int64N(n))
		return c.record(KindRandom, key, "", raw, nil)
	})
	v, _ := outcome[int64](c, entry)
	return v
}

// End ends the run here, with a result, from whatever branch.
func End(c *Context, result any) {
	c.begin("End")
	raw, err := encode("result", result)
	if err != nil {
		c.obey(Fail(*failureOf(err)))
	}
	c.x.stop(&Ending{State: Completed, Result: raw})
	c.unwind()
}
