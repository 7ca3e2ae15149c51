package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// Observer tells metrics and traces what an engine does.
type Observer struct {
	*Metrics
	tracer trace.Tracer
}

var _ engine.Observer = (*Observer)(nil)

// NewObserver makes one. Spans go to the provider; where nobody listens, give it a no-op one.
func NewObserver(m *Metrics, provider trace.TracerProvider) *Observer {
	return &Observer{m, provider.Tracer("github.com/holdshort/holdshort")}
}

var w3c = propagation.TraceContext{}

// TraceParent gives the W3C trace context of ctx, to be stored with a run.
func TraceParent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	w3c.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// under makes ctx a part of the trace that was stored.
func under(ctx context.Context, traceParent string) context.Context {
	if traceParent == "" {
		return ctx
	}
	return w3c.Extract(ctx, propagation.MapCarrier{"traceparent": traceParent})
}

// Slice is a span for each time that a run is executed, under the trace of whoever started it, whichever process that was.
func (o *Observer) Slice(ctx context.Context, run holdshort.Run) (context.Context, func(holdshort.Run, error)) {
	o.goesOn(run.ID)
	ctx, span := o.tracer.Start(under(ctx, run.TraceParent), "run "+run.Flow, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("holdshort.run_id", string(run.ID)), attribute.String("holdshort.session_id", string(run.SessionID)), attribute.String("holdshort.trace_id", run.TraceID),
		attribute.String("holdshort.flow", run.Flow), attribute.Int("holdshort.flow_version", run.FlowVersion), attribute.Int("holdshort.attempt", run.Attempt)))
	return ctx, func(rested holdshort.Run, err error) {
		span.SetAttributes(attribute.String("holdshort.status", string(rested.Status)))
		switch {
		case errors.Is(err, holdshort.LeaseLost):
			o.leaseLosses.add(1)
			span.SetStatus(codes.Error, "the run is another node's")
		case err != nil:
			span.SetStatus(codes.Error, string(holdshort.CodeOf(err)))
		case rested.Status == holdshort.RunFailed && rested.Error != nil:
			span.SetStatus(codes.Error, string(rested.Error.Code))
		}
		span.End()
	}
}

// Call is a span for each call of a tool. Its arguments and answers are nobody's business.
func (o *Observer) Call(ctx context.Context, run holdshort.RunID, tool, operation string) (context.Context, func(error)) {
	ctx, span := o.tracer.Start(ctx, "call "+tool, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("holdshort.run_id", string(run)), attribute.String("holdshort.tool", tool), attribute.String("holdshort.operation_id", operation)))
	return ctx, func(err error) {
		result := "ok"
		if err != nil {
			result = "error"
			span.SetStatus(codes.Error, string(holdshort.CodeOf(err)))
		}
		o.calls.add(1, tool, result)
		span.End()
	}
}
