package telemetry

import (
	"context"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// Logger writes JSON lines. A line that is written under a span carries its ids, beside the ids of run, session, request and trace that the
// engine adds itself.
func Logger(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(traced{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})})
}

type traced struct{ slog.Handler }

func (t traced) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r.AddAttrs(slog.String("otel_trace_id", span.TraceID().String()), slog.String("otel_span_id", span.SpanID().String()))
	}
	return t.Handler.Handle(ctx, r)
}

func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }
func (t traced) WithGroup(name string) slog.Handler       { return traced{t.Handler.WithGroup(name)} }
