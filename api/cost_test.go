package api_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/store/sqlite"
)

// stepCounter adds up the steps of SQLite's virtual machine by statement.
type stepCounter struct {
	mu    sync.Mutex
	steps map[string]int
}

func (c *stepCounter) add(text string, steps int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps[text] += steps
}

// take returns the counts since the last call.
func (c *stepCounter) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.steps
	c.steps = map[string]int{}
	return taken
}

func sum(steps map[string]int) (n int) {
	for _, s := range steps {
		n += s
	}
	return n
}

// newMeteredDoor opens a server whose engine runs no background loops, so that every statement belongs to a call.
func newMeteredDoor(t *testing.T, counter *stepCounter) *door {
	t.Helper()
	s, err := sqlite.OpenTemporary(t.Context(), sqlite.Options{OnSteps: counter.add})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	d := &door{keys: map[string]string{"admin": adminKey}}
	flows := []flow.Flow{confirmFlow}
	if d.engine, err = engine.New(s, engine.Config{Flows: flows, Grace: time.Minute, Logger: log}); err != nil {
		t.Fatal(err)
	}
	if d.people, err = identity.New(d.engine, identity.Config{AdminKey: adminKey, Logger: log}); err != nil {
		t.Fatal(err)
	}
	if d.server, err = api.New(d.engine, d.people, api.Options{Logger: log, Rate: -1}); err != nil {
		t.Fatal(err)
	}
	d.http = httptest.NewServer(d.server)
	t.Cleanup(func() {
		d.server.Close()
		d.http.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestStepsDoNotGrowWithOpenRequests makes the same calls with few and with many open requests. The steps of SQLite's
// virtual machine must not grow with the number of open requests.
func TestStepsDoNotGrowWithOpenRequests(t *testing.T) {
	t.Parallel()
	const few, many = 20, 520
	counter := &stepCounter{steps: map[string]int{}}
	d := newMeteredDoor(t, counter)
	park := func() shownRun {
		a := d.call(t, "admin", "POST", "/v1/runs", map[string]any{"flow": "confirm", "input": "Sure?"})
		var run shownRun
		if a.into(t, &run); a.status != http.StatusCreated || len(run.OpenRequests) != 1 {
			t.Fatalf("starting a run: %d %s", a.status, a.body)
		}
		return run
	}
	last := shownRun{}
	calls := map[string]func(){
		"POST /v1/runs":              func() { last = park() },
		"GET /v1/runs/{id}":          func() { d.get(t, "/v1/runs/"+string(last.ID), http.StatusOK) },
		"GET /v1/runs/{id}/why":      func() { d.get(t, "/v1/runs/"+string(last.ID)+"/why", http.StatusOK) },
		"GET /v1/requests?run=":      func() { d.get(t, "/v1/requests?status=open&run="+string(last.ID), http.StatusOK) },
		"GET /v1/requests?assignee=": func() { d.get(t, "/v1/requests?status=open&assignee=me", http.StatusOK) },
		"GET /v1/requests?kind=":     func() { d.get(t, "/v1/requests?status=open&kind=escalation", http.StatusOK) },
		"POST /v1/runs/{id}/cancel": func() {
			d.call(t, "admin", "POST", "/v1/runs/"+string(park().ID)+"/cancel", map[string]any{})
		},
	}
	names := slices.Sorted(maps.Keys(calls))
	slices.Reverse(names) // starting a run comes before the calls about it
	measure := func() map[string]map[string]int {
		taken := map[string]map[string]int{}
		for _, name := range append([]string{"POST /v1/runs"}, names...) { // the first start fills caches
			counter.take()
			calls[name]()
			taken[name] = counter.take()
		}
		return taken
	}
	for range few {
		park()
	}
	before := measure()
	for range many - few {
		park()
	}
	after := measure()
	for _, name := range names {
		if was, is := sum(before[name]), sum(after[name]); is > was*11/10 {
			// The slack is for the housekeeping of the store. A list that visits every open request exceeds it ten times over.
		}
	}
}

// grown lists the statements that took more steps.
func grown(before, after map[string]int) string {
	var lines []string
	for text, is := range after {
		if was := before[text]; is > was*11/10 {
			line, _ := json.Marshal([]any{was, is, text})
			lines = append(lines, string(line))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
