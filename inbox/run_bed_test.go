package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

// runBed is the pages over an engine that has flows and an agent.
type runBed struct {
	*deskBed
	answers atomic.Int64 // of the model
	mended  atomic.Bool  // what the broken step needs
}

// parrot is a model that asks for a refund when it hears of one, and else says what it heard.
type parrot struct{ *runBed }

func (p parrot) Generate(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
	p.answers.Add(1)
	last := req.Messages[len(req.Messages)-1]
	if last.Role == model.User && last.Text == "refund" {
		return model.Response{Calls: []model.Call{{ID: "c1", Tool: "orders.refund", Args: json.RawMessage(`{"order":"77","secret":"iban-1234"}`)}}, Stop: model.StopCalls, Usage: model.Usage{Input: 1000, Output: 7, Cost: 1500}}, nil
	}
	text := "I heard: " + last.Text
	if last.Role != model.User {
		text = "It is done."
	}
	if say != nil {
		say(text)
	}
	return model.Response{Text: text, Stop: model.StopEnd, Usage: model.Usage{Input: 10, Output: 5}}, nil
}

func newRunBed(t *testing.T) *runBed {
	t.Helper()
	b := &runBed{deskBed: &deskBed{t: t}}
	log := slog.New(slog.DiscardHandler)
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), sqlite.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	refund := tool.Tool{Name: "orders.refund", Effect: tool.Write, Schema: json.RawMessage(`{"type":"object"}`), Call: func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(`{"receipt":"rc-77"}`), ExternalIDs: map[string][]string{"receipt": {"rc-77"}}}, nil
	}}
	desk, err := agent.New(agent.Config{Name: "desk", Model: parrot{b}, Tools: []tool.Tool{refund}})
	if err != nil {
		t.Fatal(err)
	}
	flows := []flow.Flow{desk.Flow(),
		flow.New("steps", 1, func(c *flow.Context, n int) (string, error) {
			for i := range n {
				if _, err := flow.Step(c, fmt.Sprintf("look %d", i), func(context.Context) (string, error) { return "a-value-" + fmt.Sprint(i), nil }); err != nil {
					return "", err
				}
			}
			return "<b>all done</b>", nil
		}),
		flow.New("broken", 1, func(c *flow.Context, _ string) (string, error) {
			return flow.Step(c, "mend", func(context.Context) (string, error) {
				if !b.mended.Load() {
					return "", errors.New("the <wheel> is off")
				}
				return "mended", nil
			})
		}),
		flow.New("nap", 1, func(c *flow.Context, _ string) (string, error) {
			flow.Sleep(c, "a nap", time.Hour)
			return "rested", nil
		}),
		flow.New("refund", 1, func(c *flow.Context, order string) (string, error) {
			got, err := flow.Call[map[string]string](c, "pay back", "orders.refund", map[string]string{"order": order})
			return got["receipt"], err
		})}
	rules := policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Decision: policy.Ask, Rule: "a person looks", Audience: holdshort.Audience{Roles: []string{policy.Reviewer}}, ExpiresIn: time.Hour}, nil
	})
	if b.engine, err = engine.New(s, engine.Config{Flows: flows, Tools: []tool.Tool{refund}, Agents: map[string]string{"desk": agent.FlowName("desk")}, Policy: rules, Logger: log}); err != nil {
		t.Fatal(err)
	}
	people, err := identity.New(b.engine, identity.Config{Logger: log, Hook: func(r *http.Request) (identity.Who, bool, error) {
		name := r.Header.Get("X-Test-Who")
		if c, err := r.Cookie("test_who"); err == nil {
			name = c.Value
		}
		if _, known := deskPeople[name]; !known {
			return identity.Who{}, false, nil
		}
		return identity.Who{Tenant: deskTenant, Actor: deskActor(name), Method: identity.ByLogin, CSRF: true}, true, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := New(b.engine, people, Options{Logger: log, Rate: -1, Agents: []Agent{{Name: "desk", Description: "Says what it hears.", Tools: []string{"orders.refund"}, Examples: []string{"refund", `say "<hi>"`}}}})
	if err != nil {
		t.Fatal(err)
	}
	doors, err := api.New(b.engine, people, api.Options{Logger: log, Rate: -1, Pages: in})
	if err != nil {
		t.Fatal(err)
	}
	b.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, "/as/"); ok { // a browser comes in
			http.SetCookie(w, &http.Cookie{Name: "test_who", Value: name, Path: "/", HttpOnly: true})
			http.Redirect(w, r, "/playground", http.StatusSeeOther)
			return
		}
		doors.ServeHTTP(w, r)
	}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.engine.Run(ctx) }()
	<-b.engine.Ready()
	t.Cleanup(func() {
		in.Close()
		doors.Close()
		b.http.CloseClientConnections()
		b.http.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// starts begins a run for somebody and waits until it rests.
func (b *runBed) starts(user, name string, input any) holdshort.Run {
	b.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		b.t.Fatal(err)
	}
	run, err := b.engine.Start(b.t.Context(), deskTenant, engine.StartInput{Flow: name, User: user, Actor: deskActor(user), Input: raw})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.rests(run.ID)
}

func (b *runBed) rests(id holdshort.RunID) holdshort.Run {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	run, err := b.engine.AwaitRun(ctx, deskTenant, id, engine.Resting)
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

func (b *runBed) openOf(id holdshort.RunID) holdshort.Request {
	b.t.Helper()
	page, err := b.engine.Requests(b.t.Context(), deskTenant, engine.RequestQuery{Run: id, Status: holdshort.RequestOpen})
	if err != nil || len(page.Items) != 1 {
		b.t.Fatalf("%d open, %v", len(page.Items), err)
	}
	return page.Items[0]
}
