package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/telemetry"
	"github.com/holdshort/holdshort/tool"
)

var refund = flow.New("refund", 1, func(c *flow.Context, order string) (string, error) {
	return flow.Call[string](c, "refund", "refund", map[string]string{"order": order})
})

// node is one process: an engine over the file, with its own spans and metrics.
type node struct {
	*engine.Engine
	spans   *tracetest.InMemoryExporter
	metrics *telemetry.Metrics
	door    *telemetry.Observer
	stop    func()
}

func startNode(t *testing.T, path string) *node {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{spans: tracetest.NewInMemoryExporter(), metrics: telemetry.NewMetrics()}
	n.door = telemetry.NewObserver(n.metrics, sdktrace.NewTracerProvider(sdktrace.WithSyncer(n.spans)))
	called := tool.Tool{Name: "refund", Effect: tool.Write, Call: func(ctx context.Context, c tool.Call) (tool.Result, error) {
		if telemetry.TraceParent(ctx) == "" {
			t.Error("a tool is called outside any trace")
		}
		return tool.Result{Value: []byte(`"re_1"`)}, nil
	}}
	n.Engine, err = engine.New(s, engine.Config{Flows: []flow.Flow{refund}, Tools: []tool.Tool{called}, Observer: n.door, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	n.metrics.Watch(n.Engine, "default")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	<-n.Ready()
	n.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	return n
}

// One trace from the call that starts a run to the tool that another process calls after the decision.
func TestTraceAcrossProcesses(t *testing.T) {
	path := t.TempDir() + "/t.db"
	first := startNode(t, path)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	var run holdshort.Run
	door := first.door.Door(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		run, err = first.Start(r.Context(), "default", engine.StartInput{Flow: "refund", Input: []byte(`"77"`), User: "ben", TraceParent: r.Header.Get("Traceparent")})
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusCreated)
	}), slog.New(slog.DiscardHandler))
	call := httptest.NewRequest("POST", "/v1/runs", nil)
	call.Header.Set("Traceparent", parent)
	door.ServeHTTP(httptest.NewRecorder(), call)
	waiting, err := first.AwaitRun(t.Context(), "default", run.ID, engine.Resting)
	if err != nil || waiting.Status != holdshort.RunWaiting {
		t.Fatal(waiting.Status, err)
	}
	first.stop()

	second := startNode(t, path)
	ids, err := second.OpenRequests(t.Context(), "default", waiting)
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	ana := holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{policy.Reviewer}, Assurance: holdshort.AssuranceLogin}
	if _, err := second.Decide(t.Context(), "default", engine.DecideInput{Request: ids[0], Action: holdshort.Approve, Actor: ana}); err != nil {
		t.Fatal(err)
	}
	if run, err := second.AwaitRun(t.Context(), "default", run.ID, engine.Ended); err != nil || run.Status != holdshort.RunCompleted {
		t.Fatal(run.Status, run.Error, err)
	}
	recorder := httptest.NewRecorder()
	second.metrics.ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	second.stop()

	names := map[string]bool{}
	for _, n := range []*node{first, second} {
		for _, span := range n.spans.GetSpans() {
			names[span.Name] = true
			if got := span.SpanContext.TraceID().String(); got != "0af7651916cd43dd8448eb211c80319c" {
				t.Errorf("span %q is of trace %s", span.Name, got)
			}
		}
	}
	for _, name := range []string{"POST other", "run refund", "call refund"} {
		if !names[name] {
			t.Errorf("no span %q among %v", name, names)
		}
	}
	for _, line := range []string{`holdshort_requests_closed_total{kind="approval",outcome="approved"} 1`, `holdshort_tool_calls_total{tool="refund",result="ok"} 1`, "holdshort_resume_seconds_count 1",
		`holdshort_time_to_decision_seconds_count{kind="approval"} 1`, "holdshort_lease_losses_total 0", "holdshort_store_up 1", `holdshort_operations_unknown{tenant="default"} 0`} {
		if !strings.Contains(recorder.Body.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, recorder.Body)
		}
	}
}

func TestLogCarriesTheTrace(t *testing.T) {
	var b bytes.Buffer
	provider := sdktrace.NewTracerProvider()
	ctx, span := provider.Tracer("t").Start(t.Context(), "s")
	telemetry.Logger(&b, slog.LevelInfo).InfoContext(ctx, "hello", "run_id", "run_1", "took", time.Second)
	for _, want := range []string{`"run_id":"run_1"`, `"otel_trace_id":"` + span.SpanContext().TraceID().String() + `"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
}
