package telemetry

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Door wraps what serves HTTP: a span, a log line and the counters of every call. The path's ids and its query never go anywhere: a link's
// token stands there.
func (o *Observer) Door(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		ctx := w3c.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := o.tracer.Start(ctx, methodOf(r), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("http.request.method", methodOf(r))))
		r = r.WithContext(ctx)
		if parent := TraceParent(ctx); parent != "" {
			r.Header.Set("Traceparent", parent) // what is stored with a run hangs under this call
		}
		seen := &status{ResponseWriter: w}
		guarded(next, seen, r, log)
		route, took := routeOf(r), time.Since(began)
		code := max(seen.code, http.StatusOK)
		span.SetName(methodOf(r) + " " + route)
		span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", code))
		if code >= 500 {
			span.SetStatus(codes.Error, http.StatusText(code))
		}
		span.End()
		o.http.add(1, methodOf(r), route, strconv.Itoa(code))
		if !r.URL.Query().Has("wait") && !seen.streamed {
			o.httpTime.observe(took.Seconds(), route)
		}
		log.DebugContext(ctx, "http", "method", r.Method, "route", route, "status", code, "took", took)
	})
}

// guarded serves, and survives what panics: the log has where, the caller a plain answer if there was none yet. Whoever means to cut the
// connection still does.
func guarded(next http.Handler, w *status, r *http.Request, log *slog.Logger) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler {
			panic(p)
		}
		log.ErrorContext(r.Context(), "a call panicked", "method", methodOf(r), "route", routeOf(r), "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		if w.code == 0 {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			return
		}
		panic(http.ErrAbortHandler) // half an answer is none
	}()
	next.ServeHTTP(w, r)
}

// methodOf is the method if it is one: callers can make up as many as they like, and would fill the counters with them.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "_OTHER"
}

// routeOf is the pattern that took the call, without the method.
func routeOf(r *http.Request) string {
	if _, path, ok := strings.Cut(r.Pattern, " "); ok {
		return path
	}
	if r.Pattern != "" {
		return r.Pattern
	}
	return "other"
}

// status remembers what was answered.
type status struct {
	http.ResponseWriter
	code     int
	streamed bool
}

func (s *status) WriteHeader(code int) {
	if s.code == 0 {
		s.code = code
		kind := s.Header().Get("Content-Type")
		s.streamed = strings.HasPrefix(kind, "text/event-stream") || strings.HasPrefix(kind, "application/x-ndjson")
	}
	s.ResponseWriter.WriteHeader(code)
}

func (s *status) Write(b []byte) (int, error) {
	if s.code == 0 {
		s.WriteHeader(http.StatusOK)
	}
	return s.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach what is below.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }
