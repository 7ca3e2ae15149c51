package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Retry says how often a request is made again, and after which waits.
type Retry struct {
	// Times is how often a request is made again. Default: 3. Negative: never.
	Times int
	// Wait before the first of them. Each further one waits twice as long; up to a quarter is taken off at random, so that many do not come at once. Default: 500 ms.
	Wait time.Duration
	// Most is the longest wait, also where the provider asks for a longer one. Default: 30 seconds.
	Most time.Duration
}

// WithDefaults fills in what is not set.
func (r Retry) WithDefaults() Retry {
	if r.Times == 0 {
		r.Times = 3
	}
	if r.Wait <= 0 {
		r.Wait = 500 * time.Millisecond
	}
	if r.Most <= 0 {
		r.Most = 30 * time.Second
	}
	return r
}

// Retrying is m with its retryable errors retried. What was said in an attempt that failed is void: the function of WithRestart is called before
// the next. When ctx ends, or will have ended before the wait is over, there is no further attempt.
func Retrying(m Model, r Retry) Model {
	return &retrying{m, r.WithDefaults()}
}

type retrying struct {
	model Model
	retry Retry
}

func (r *retrying) Generate(ctx context.Context, req Request, say func(text string)) (Response, error) {
	for attempt := 0; ; attempt++ {
		response, err := r.model.Generate(ctx, req, say)
		if err == nil || attempt >= r.retry.Times || !Retryable(err) {
			return response, err
		}
		if ended := ctx.Err(); ended != nil {
			return Response{}, ended
		}
		wait := r.retry.wait(attempt, err)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
			return Response{}, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return Response{}, ctx.Err()
		}
		Restart(ctx)
	}
}

// wait before the attempt after this one.
func (r Retry) wait(attempt int, err error) time.Duration {
	wait := r.Most
	if attempt < 30 && r.Wait < r.Most>>attempt { // as long as doubling cannot run over
		wait = r.Wait << attempt
	}
	wait -= time.Duration(rand.Int64N(int64(wait)/4 + 1))
	var e *Error
	if errors.As(err, &e) && e.After > wait {
		wait = min(e.After, r.Most)
	}
	return wait
}
