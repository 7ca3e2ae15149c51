package telemetry

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// Metrics counts what happens and reads, when it is asked, how things stand.
type Metrics struct {
	decisions, events, calls, leaseLosses, http *metric
	toDecision, resume, httpTime                *metric
	open, oldest, runs, outbox, outboxOldest    *metric
	unknown                                     *metric
	all                                         []*metric

	mu      sync.Mutex
	decided map[holdshort.RunID]time.Time // whose decision was committed here and whose run has not gone on yet

	reading sync.Mutex
	tenants []holdshort.TenantID
	engine  *engine.Engine
	read    time.Time
	now     func() time.Time
}

var (
	humanTimes   = []float64{1, 10, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600}
	machineTimes = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
)

// mostDecided bounds what is remembered of runs that another node carries on.
const mostDecided = 10_000

// NewMetrics makes the metrics of one process.
func NewMetrics() *Metrics {
	m := &Metrics{
		decisions:    counter("holdshort_requests_closed_total", "Requests that came to their end here.", "kind", "outcome"),
		events:       counter("holdshort_events_total", "Audit events committed by this process.", "type"),
		calls:        counter("holdshort_tool_calls_total", "Calls of tools.", "tool", "result"),
		leaseLosses:  counter("holdshort_lease_losses_total", "Runs that another node took over."),
		http:         counter("holdshort_http_requests_total", "HTTP calls.", "method", "route", "status"),
		toDecision:   histogram("holdshort_time_to_decision_seconds", "From raised to decided.", humanTimes, "kind"),
		resume:       histogram("holdshort_resume_seconds", "From the committed decision until the run goes on, on this process.", machineTimes),
		httpTime:     histogram("holdshort_http_seconds", "HTTP calls that do not wait.", machineTimes, "route"),
		open:         gauge("holdshort_requests_open", "Open requests; exact up to 1000.", "tenant", "kind"),
		oldest:       gauge("holdshort_requests_oldest_seconds", "Age of the oldest open request.", "tenant", "kind"),
		runs:         gauge("holdshort_runs", "Runs that wait, are held or failed; exact up to 1000.", "tenant", "state"),
		outbox:       gauge("holdshort_outbox_depth", "Deliveries that are still to be sent; exact up to 1000.", "tenant"),
		outboxOldest: gauge("holdshort_outbox_oldest_seconds", "Age of the oldest of them.", "tenant"),
		unknown:      gauge("holdshort_operations_unknown", "Operations of which nobody knows what became.", "tenant"),
		decided:      map[holdshort.RunID]time.Time{}, now: time.Now,
	}
	m.all = []*metric{m.decisions, m.events, m.calls, m.leaseLosses, m.http, m.toDecision, m.resume, m.httpTime, m.open, m.oldest, m.runs, m.outbox, m.outboxOldest, m.unknown}
	m.leaseLosses.add(0)
	return m
}

// Watch says which engine and tenants the gauges are of.
func (m *Metrics) Watch(e *engine.Engine, tenants ...holdshort.TenantID) {
	m.engine, m.tenants = e, tenants
}

// freshFor is how long gauges that were read are good: a scraper in a hurry costs no more than one in none.
const freshFor = time.Second

// refresh reads how things stand.
func (m *Metrics) refresh(ctx context.Context) error {
	m.reading.Lock()
	defer m.reading.Unlock()
	if m.engine == nil || m.now().Sub(m.read) < freshFor {
		return nil
	}
	for _, g := range []*metric{m.open, m.oldest, m.runs, m.outbox, m.outboxOldest, m.unknown} {
		g.clear()
	}
	for _, tenant := range m.tenants {
		s, err := m.engine.Stats(ctx, tenant)
		if err != nil {
			return err
		}
		name := string(tenant)
		for kind, t := range s.ByKind {
			m.open.set(float64(t.Count), name, string(kind))
			m.oldest.set(age(s.At, t.Oldest), name, string(kind))
		}
		m.runs.set(float64(s.Waiting.Count), name, "waiting")
		m.runs.set(float64(s.Held.Count), name, "held")
		m.runs.set(float64(s.Failed.Count), name, "failed")
		m.outbox.set(float64(s.Outbox.Count), name)
		m.outboxOldest.set(age(s.At, s.Outbox.Oldest), name)
		m.unknown.set(float64(s.Unknown.Count), name)
	}
	m.read = m.now()
	return nil
}

func age(now, since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(now.Sub(since).Seconds(), 0)
}

// ServeHTTP gives all of it in Prometheus' text format. If the store does not answer, what this process counted is given all the same.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	up := 1
	if err := m.refresh(r.Context()); err != nil {
		up = 0
	}
	var b bytes.Buffer
	b.WriteString("# HELP holdshort_store_up Whether the store answered.\n# TYPE holdshort_store_up gauge\nholdshort_store_up " + strconv.Itoa(up) + "\n")
	for _, metric := range m.all {
		metric.write(&b)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(b.Bytes())
}

// Fact counts a committed event.
func (m *Metrics) Fact(e holdshort.Event) {
	m.events.add(1, e.Type)
}

// goesOn measures how long a run whose request was decided here took to go on.
func (m *Metrics) goesOn(id holdshort.RunID) {
	m.mu.Lock()
	since, ok := m.decided[id]
	delete(m.decided, id)
	m.mu.Unlock()
	if ok {
		m.resume.observe(m.now().Sub(since).Seconds())
	}
}

// Closed counts a request that came to its end.
func (m *Metrics) Closed(req holdshort.Request) {
	outcome := string(req.Outcome)
	if outcome == "" {
		outcome = string(req.Status)
	}
	m.decisions.add(1, string(req.Kind), outcome)
	if req.Outcome != "" {
		m.toDecision.observe(req.ClosedAt.Sub(req.CreatedAt).Seconds(), string(req.Kind))
	}
	if req.RunID == "" {
		return
	}
	m.mu.Lock()
	if len(m.decided) >= mostDecided {
		clear(m.decided)
	}
	m.decided[req.RunID] = m.now()
	m.mu.Unlock()
}
