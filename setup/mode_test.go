package setup_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/model/script"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/store/sqlite"
)

type durability bool

func (d durability) Durable() bool { return bool(d) }

// An agent of the configuration and one of the program go through one check: same modes, same words, also when the store is another than the
// configuration says.
func TestModes(t *testing.T) {
	const needsStore, unknown = "async HITL requires session_store to be configured", "invalid hitl.mode: X (must be 'auto', 'blocking', or 'async')"
	parrot, err := script.New([]script.Rule{{Say: "yes"}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		store   string // session_store
		durable bool
		mode    string
		want    string
		err     string
	}{
		{"", true, "", config.Blocking, ""},
		{"", true, "auto", config.Blocking, ""},
		{"", true, "blocking", config.Blocking, ""},
		{"", true, "async", "", needsStore},
		{"main", true, "", config.Async, ""},
		{"main", true, "auto", config.Async, ""},
		{"main", true, "blocking", config.Blocking, ""},
		{"main", true, "async", config.Async, ""},
		{"main", false, "auto", config.Blocking, ""},
		{"main", false, "async", "", "async HITL requires a durable session_store: main is in memory"},
		{"", true, "X", "", unknown},
		{"main", true, "X", "", unknown},
	}
	for _, tt := range tests {
		text := "stores: {main: {url: 'sqlite:x.db'}}\nmodels: {m: {provider: script, rules: [{say: yes sir}]}}\nagents:\n  a:\n    model: m\n"
		if tt.store != "" {
			text += "    session_store: " + tt.store + "\n"
		}
		if tt.mode != "" {
			text += "    task: {hitl: {mode: " + tt.mode + "}}\n"
		}
		ofCode, codeErr := setup.Build(t.Context(), config.Config{Stores: map[string]config.Store{"main": {URL: "sqlite:x.db"}}},
			setup.Options{Dir: t.TempDir(), Store: durability(tt.durable), Agents: []setup.Agent{{Config: agent.Config{Name: "a", Model: parrot}, SessionStore: tt.store, Mode: tt.mode}}})
		var ofYAML *setup.Parts
		c, yamlErr := config.Parse("x.yaml", []byte(text), nil)
		if yamlErr == nil {
			ofYAML, yamlErr = setup.Build(t.Context(), c, setup.Options{Dir: t.TempDir(), Store: durability(tt.durable)})
		}
		if tt.err != "" {
			if codeErr == nil || codeErr.Error() != tt.err {
				t.Errorf("%+v in code: %v", tt, codeErr)
			}
			if faults := config.FaultsOf(yamlErr); len(faults) != 1 || faults[0].Message != tt.err || faults[0].Line == 0 || faults[0].Path != "agents.a.task.hitl.mode" {
				t.Errorf("%+v in YAML: %v", tt, yamlErr)
			}
			continue
		}
		if codeErr != nil || yamlErr != nil {
			t.Errorf("%+v: in code %v, in YAML %v", tt, codeErr, yamlErr)
			continue
		}
		if ofCode.Modes["a"] != tt.want || ofYAML.Modes["a"] != tt.want || ofYAML.Listed[0].Mode != tt.want || ofYAML.Agents["a"] != "agent.a" {
			t.Errorf("%+v: in code %v, in YAML %v", tt, ofCode.Modes, ofYAML.Modes)
		}
	}
}

// The store itself says whether it outlives the process, not its name and not its type.
func TestStoreSaysWhetherItLasts(t *testing.T) {
	parrot, err := script.New([]script.Rule{{Say: "yes"}})
	if err != nil {
		t.Fatal(err)
	}
	memory, err := sqlite.OpenTemporary(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	build := func(s *sqlite.Store, mode string) (*setup.Parts, error) {
		return setup.Build(t.Context(), config.Config{}, setup.Options{Dir: t.TempDir(), Store: s, Agents: []setup.Agent{{Config: agent.Config{Name: "a", Model: parrot}, SessionStore: "main", Mode: mode}}})
	}
	if _, err := build(memory, "async"); holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("async in memory: %v", err)
	}
	if p, err := build(memory, ""); err != nil || p.Modes["a"] != config.Blocking {
		t.Errorf("in memory: %+v, %v", p, err)
	}
	if p, err := build(file, ""); err != nil || p.Modes["a"] != config.Async {
		t.Errorf("in a file: %+v, %v", p, err)
	}
}

// A blocking agent's call waits through the pause; what it answers then is what an async one gets by asking again.
func TestBlockingWaitsThroughPauses(t *testing.T) {
	h := newHouse(t, houseOptions{text: blocking(desk)})
	agents, err := h.as("ben").Agents(t.Context())
	if err != nil || len(agents) != 1 || agents[0].Name != "refunds" || agents[0].Mode != config.Blocking || agents[0].Description != "Pays money back." || strings.Join(agents[0].Tools, " ") != "orders.lookup orders.refund" {
		t.Errorf("%+v, %v", agents, err)
	}
	session := h.session("refunds")
	type answer struct {
		status int
		body   string
	}
	answered := make(chan answer, 1)
	h.as("ana", reviewer...)
	go func() {
		status, _, body := h.call("ben", "POST", "/v1/sessions/"+string(session)+"/messages", `{"text":"look up order 9"}`)
		answered <- answer{status, body}
	}()
	for range 3 { // three pauses, one call
		h.approveNext()
	}
	got := <-answered
	taken := into[client.Taken](t, got.body)
	if got.status != 200 || taken.Run == nil || taken.Run.Status != holdshort.RunCompleted || taken.Request != nil || len(taken.Replies) == 0 || taken.Replies[len(taken.Replies)-1].Parts[0].Text != "Done: paid back a3" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if told := h.shop.told(); len(told) != 4 {
		t.Errorf("%q", told)
	}
}

// approveNext approves whatever asks next.
func (h *house) approveNext() {
	h.t.Helper()
	asked := make(chan holdshort.RequestID, 1)
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	look := func() {
		page, err := h.as("ana").Requests(ctx, client.Find{Status: holdshort.RequestOpen})
		if err == nil && len(page.Items) > 0 && len(asked) == 0 {
			asked <- page.Items[0].ID
			cancel()
		}
	}
	err := h.as("ana").Watch(ctx, client.Watching{Types: []string{"hitl.*"}, Connected: look}, func(holdshort.Event) error {
		look()
		return nil
	})
	if len(asked) == 0 {
		h.t.Fatal(err)
	}
	if _, err := h.as("ana").Decide(h.t.Context(), <-asked, client.Choice{Action: holdshort.Approve}); err != nil {
		h.t.Fatal(err)
	}
}

// The contract is the same in both modes: after a wait that ended first the same fields say the same things.
func TestModesAnswerAlike(t *testing.T) {
	shapes := map[string][]string{}
	for mode, text := range map[string]string{"async": async(desk), "blocking": blocking(desk)} {
		h := newHouse(t, houseOptions{text: text})
		session := h.session("refunds")
		want := map[string]int{"async": 200, "blocking": 202}[mode]
		var shape []string
		note := func(what string, status int, body string) holdshort.RequestID {
			t.Helper()
			if status != want && !(what == "run" && status == map[string]int{"async": 201, "blocking": 202}[mode]) {
				t.Errorf("%s %s: %d %s", mode, what, status, body)
			}
			got := into[map[string]any](t, body)
			for key := range got {
				shape = append(shape, what+"."+key)
			}
			hitl, _ := got["hitl"].(map[string]any)
			for key := range hitl {
				shape = append(shape, what+".hitl."+key)
			}
			if got["request"] == nil || hitl == nil || hitl["message"] == "" || len(hitl["tool_calls"].([]any)) != 1 {
				t.Fatalf("%s %s: %s", mode, what, body)
			}
			return holdshort.RequestID(hitl["request_id"].(string))
		}
		wait := map[string]string{"async": "50s", "blocking": "300ms"}[mode] // the one returns at the pause, the other when its time is up
		status, _, body := h.call("ben", "POST", "/v1/sessions/"+string(session)+"/messages?wait="+wait, `{"text":"refund order 1 for 10"}`)
		note("message", status, body)
		status, _, body = h.call("ben", "POST", "/v1/runs?wait="+wait, `{"agent":"refunds","input":{"text":"look up order 9"}}`)
		id := note("run", status, body)
		h.as("ana", reviewer...)
		status, _, body = h.call("ana", "POST", "/v1/resume/"+string(id)+"?wait="+wait, `{"action":"approve"}`)
		next := into[struct {
			Status, Message string
			Hitl            *struct{ RequestID holdshort.RequestID }
		}](t, body)
		if status != want || next.Status != "Paused" {
			t.Errorf("%s resume: %d %s", mode, status, body)
		}
		if status, _, body := h.call("ben", "GET", "/v1/runs/"+string(into[client.Run](t, second(h, t)).ID)+"?wait=5s", ""); status != 200 {
			t.Errorf("%s: reading a run that waits: %d %s", mode, status, body)
		}
		status, header, body := h.call("ben", "POST", "/v1/runs", `{"agent":"refunds","input":"refund order 3 for 30"}`, "Prefer", "respond-async")
		if status != 201 || header.Get("Preference-Applied") != "respond-async" {
			t.Errorf("%s: %d %v %s", mode, status, header, body)
		}
		shapes[mode] = shape
	}
	for _, list := range shapes {
		slices.Sort(list)
	}
	if a, b := strings.Join(shapes["async"], "\n"), strings.Join(shapes["blocking"], "\n"); a != b {
		t.Errorf("async answers\n%s\nblocking\n%s", a, b)
	}
}

// second starts a run that waits.
func second(h *house, t *testing.T) string {
	t.Helper()
	status, _, body := h.call("ben", "POST", "/v1/runs?wait=50ms", `{"agent":"refunds","input":"refund order 2 for 20"}`)
	if status != 201 && status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	return body
}
