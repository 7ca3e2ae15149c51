package model

import "context"

type restartKey struct{}

// WithRestart has fn called whenever an answer that has begun is begun again: what was said of it so far counts for nothing.
func WithRestart(ctx context.Context, fn func()) context.Context {
	return context.WithValue(ctx, restartKey{}, fn)
}

// Restart tells whoever listens that the answer begins again. Retrying calls it before another attempt.
func Restart(ctx context.Context) {
	if fn, ok := ctx.Value(restartKey{}).(func()); ok {
		fn()
	}
}
