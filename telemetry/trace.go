package telemetry

import (
	"context"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/holdshort/holdshort"
)

// Traces exports spans over OTLP/HTTP as OpenTelemetry's own environment variables say (OTEL_EXPORTER_OTLP_ENDPOINT and the others). Without
// them nobody listens, and spans cost next to nothing. stop sends what is left.
func Traces(ctx context.Context, version, node string) (provider trace.TracerProvider, stop func(context.Context) error, err error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" || os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return noop.NewTracerProvider(), func(context.Context) error { return nil }, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, &holdshort.Error{Code: holdshort.Invalid, Op: "start tracing", Message: "the exporter cannot be made", Hint: "check OTEL_EXPORTER_OTLP_ENDPOINT, or unset it", Err: err}
	}
	return exporting(exporter, version, node)
}

func exporting(exporter sdktrace.SpanExporter, version, node string) (trace.TracerProvider, func(context.Context) error, error) {
	about := resource.NewSchemaless(attribute.String("service.name", "holdshort"), attribute.String("service.version", version), attribute.String("service.instance.id", node))
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(time.Second)), sdktrace.WithResource(about))
	return p, p.Shutdown, nil
}
