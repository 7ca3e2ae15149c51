package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// rates limits how often each caller calls. Callers who have not called for a while are forgotten: they have their whole burst again.
type rates struct {
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

func newRates(perSecond float64, burst int) *rates {
	refill := max(time.Second, time.Duration(float64(burst)/perSecond*float64(time.Second)))
	return &rates{limit: rate.Limit(perSecond), burst: burst, after: refill, of: map[string]*allowance{}, swept: time.Now()}
}

// take says how long the caller must wait; 0: now.
func (r *rates) take(caller string) time.Duration {
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
