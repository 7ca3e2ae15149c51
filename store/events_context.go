package store

import (
	"context"

	"github.com/holdshort/holdshort"
)

type eventsKey struct{}

// WithEvents returns a context under which Update and the calls of System report the events that they commit to fn: each event once, in the
// order of its stream, after the commit and before the call returns. Events that the store writes by itself are among them. A commit whose
// outcome is not known is not reported.
func WithEvents(ctx context.Context, fn func(holdshort.TenantID, []holdshort.Event)) context.Context {
	return context.WithValue(ctx, eventsKey{}, fn)
}

// ReportEvents hands committed events to the function of WithEvents, if ctx has one. Stores call it.
func ReportEvents(ctx context.Context, tenant holdshort.TenantID, events []holdshort.Event) {
	if len(events) == 0 {
		return
	}
	if fn, ok := ctx.Value(eventsKey{}).(func(holdshort.TenantID, []holdshort.Event)); ok {
		fn(tenant, events)
	}
}
