package identity

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const fetchLimit = 10 * time.Second

var errTooOften = errors.New("the issuer was asked a moment ago")

// turn lets one caller at a time ask an issuer, and none of them too often. Those who waited meanwhile share what came of it: made-up tokens
// must not become a flood at the issuer.
type turn struct {
	mine  chan struct{}
	limit *rate.Limiter
	clock func() time.Time
	count atomic.Int64
	err   error // of the last; guarded by mine
}

func newTurn(c Config, every time.Duration, burst int) *turn {
	return &turn{mine: make(chan struct{}, 1), limit: rate.NewLimiter(rate.Every(every), burst), clock: c.Clock}
}

// take asks, unless somebody asked while this caller waited.
func (t *turn) take(ctx context.Context, ask func(context.Context) error) error {
	before := t.count.Load()
	select {
	case t.mine <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.mine }()
	if t.count.Load() != before {
		return t.err
	}
	return t.run(ctx, ask)
}

// behind asks behind the caller's back, unless somebody does so already.
func (t *turn) behind(ctx context.Context, ask func(context.Context) error) {
	select {
	case t.mine <- struct{}{}:
		go func() {
			defer func() { <-t.mine }()
			t.run(ctx, ask) // what was known goes on when the issuer is away
		}()
	default:
	}
}

func (t *turn) run(ctx context.Context, ask func(context.Context) error) error {
	if !t.limit.AllowN(t.clock(), 1) {
		return errTooOften
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit) // one impatient caller must not keep the others waiting
	defer cancel()
	t.err = ask(ctx)
	t.count.Add(1)
	return t.err
}
