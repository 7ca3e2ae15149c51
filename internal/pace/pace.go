// Package pace limits how often each caller calls. It imports nothing of this module.
package pace

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rates limits how often each caller calls. Callers who have not called for a while are forgotten: they have their whole burst again.
type Rates struct {
	limit rate.Limit
	burst int
	after time.Duration // without a call a caller has the whole burst again: to forget it changes nothing
	mu    sync.Mutex
	of    map[string]*allowance
	swept time.Time
}

type allowance struct {
	*rate.Limiter
	last time.Time
}

// New gives each caller so many calls a second, and so many at once. A negative number sets no limit.
func New(perSecond float64, burst int) *Rates {
	refill := max(time.Second, time.Duration(float64(burst)/perSecond*float64(time.Second)))
	return &Rates{limit: rate.Limit(perSecond), burst: burst, after: refill, of: map[string]*allowance{}, swept: time.Now()}
}

// Take says how long the caller must wait; 0: now.
func (r *Rates) Take(caller string) time.Duration {
	if r.limit < 0 {
		return 0
	}
	now := time.Now()
	r.mu.Lock()
	a := r.of[caller]
	if a == nil {
		a = &allowance{Limiter: rate.NewLimiter(r.limit, r.burst)}
		r.of[caller] = a
	}
	a.last = now
	if now.Sub(r.swept) > r.after {
		r.swept = now
		for name, other := range r.of {
			if now.Sub(other.last) > r.after {
				delete(r.of, name)
			}
		}
	}
	r.mu.Unlock()
	reservation := a.ReserveN(now, 1)
	if wait := reservation.DelayFrom(now); wait > 0 {
		reservation.CancelAt(now)
		return wait
	}
	return 0
}
