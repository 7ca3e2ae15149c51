package clock

import (
	"context"
	crand "crypto/rand"
	"math/rand"
	randv2 "math/rand/v2"
	stdtime "time"

	"github.com/holdshort/holdshort/flow"
)

func Refund(c *flow.Context, in string) (int, error) {
	start := stdtime.Now() // want "stdtime.Now reads the clock"
	stdtime.Sleep(5)       // want "stdtime.Sleep waits in memory"
	select {               // want "selects between channels"
	case <-stdtime.After(5):
	}
	_ = stdtime.Since(start)  // want "stdtime.Since reads the clock"
	_ = stdtime.NewTimer(5)   // want "stdtime.NewTimer waits"
	now := stdtime.Now        // want "stdtime.Now reads the clock"
	_ = rand.Intn(5) + int(1) // want "rand.Intn gives another number"
	_ = randv2.N(5)           // want "randv2.N gives another number"
	_, _ = crand.Read(nil)    // want "crand.Read gives another number"
	_ = 5 * stdtime.Second    // a constant
	_ = stdtime.Unix(1, 1)    // a function of its arguments
	_ = stdtime.Duration(len(in))
	_, cancel := context.WithTimeout(context.Background(), 5) // want "context.WithTimeout waits by the clock"
	defer cancel()
	func() {
		_ = now()
		_ = stdtime.Until(start) // want "stdtime.Until reads the clock"
	}()
	return flow.Step(c, "now", func(ctx context.Context) (int, error) {
		stdtime.Sleep(5)
		ctx, cancel := context.WithTimeout(ctx, 5)
		defer cancel()
		return rand.Intn(stdtime.Now().Day()), ctx.Err()
	})
}

type place struct{}

func (place) Method(c *flow.Context) { _ = rand.Int() } // want "rand.Int gives"

func notAFlow(ctx context.Context) stdtime.Time { return stdtime.Now() }

func secondParameter(n int, c *flow.Context) stdtime.Time { return stdtime.Now() }

func shadowed(c *flow.Context) int {
	rand := struct{ Int func() int }{}
	return rand.Int()
}
