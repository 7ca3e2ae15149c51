package telemetry_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/holdshort/holdshort/telemetry"
)

// Methods that somebody makes up do not fill the counters: what matters is still told apart.
func TestMethodsThatAreNone(t *testing.T) {
	m := telemetry.NewMetrics()
	door := telemetry.NewObserver(m, noop.NewTracerProvider()).Door(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	for i := range 1100 {
		door.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(fmt.Sprintf("X%d", i), "/", nil))
	}
	door.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil))
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if text := w.Body.String(); !strings.Contains(text, `method="POST"`) || strings.Contains(text, "X99") {
		t.Error(text[:min(len(text), 2000)])
	}
}
