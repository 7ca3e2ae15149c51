package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

var (
	admin = holdshort.Actor{ID: "ada", Kind: holdshort.Person, Roles: []string{policy.Admin}, Assurance: holdshort.AssuranceLogin}
	gated = holdshort.Actor{ID: "key_bot", Kind: holdshort.Service, Assurance: holdshort.AssuranceToken}
)

// eventEnv is an engine that can be brought to write every event of the catalogue.
type eventEnv struct {
	*room
	s      holdshort.Session
	answer atomic.Value // func() error: what the tool answers
	panics atomic.Bool  // the tool panics
	lines  logLines
	edited atomic.Bool // the code of the flow "held" changed since its run began
}

func newEventEnv(t *testing.T) *eventEnv {
	t.Helper()
	n := &eventEnv{}
	operators := holdshort.Audience{Roles: []string{policy.Operator}, Quorum: 2}
	n.room = newRoom(t, Config{
		Logger: slog.New(&n.lines),
		Flows: []flow.Flow{asker("ask"), confirmer("confirm"), escalating(), talker(), teller(),
			flow.New("vote", 1, func(c *flow.Context, _ string) (bool, error) {
				a, err := flow.Approve(c, "ok", flow.Question{Text: "go?", To: operators})
				return a.Approved(), err
			}),
			flow.New("pay", 1, func(c *flow.Context, tool string) (any, error) {
				return flow.Call[any](c, "pay", tool, map[string]string{"order": canary})
			}),
			flow.New("fail", 1, func(*flow.Context, string) (string, error) { return "", errors.New("no such order: " + canary) }),
			flow.New("panic", 1, func(*flow.Context, string) (string, error) { panic(canary) }),
			flow.New("paid", 1, func(c *flow.Context, _ string) (any, error) {
				if _, err := flow.Call[any](c, "pay", "free", map[string]string{"order": canary}); err != nil {
					return "", err
				}
				return "", errors.New(canary)
			}),
			flow.New("both", 1, func(c *flow.Context, _ string) ([]string, error) {
				return flow.Each(c, "each", []string{"ask", "nap"}, func(s string) string { return s },
					func(c *flow.Context, what string) (string, error) {
						if what == "nap" {
							flow.Sleep(c, "nap", time.Second)
							return "", nil
						}
						return flow.Ask(c, "q", flow.Question{Text: canary})
					})
			}),
			flow.New("emit", 1, func(c *flow.Context, _ string) (string, error) { return "", flow.Emit(c, "progress", 1) }),
			flow.New("held", 1, func(c *flow.Context, _ string) (string, error) {
				if n.edited.Load() {
					flow.Sleep(c, "first", time.Second)
				} else if _, err := flow.Step(c, "first", func(context.Context) (int, error) { return 1, nil }); err != nil {
					return "", err
				}
				return flow.Ask(c, "q", flow.Question{Text: "go on?"})
			}),
		},
		Tools: []tool.Tool{n.tool("refund"), n.tool("free"), n.tool("forbidden")},
		Policy: policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
			switch c.Tool {
			case "free":
				return policy.Verdict{Decision: policy.Allow}, nil
			case "forbidden":
				return policy.Verdict{Decision: policy.Deny}, nil
			}
			return policy.Verdict{Audience: holdshort.Audience{Roles: []string{policy.Operator}}}, nil
		}),
		Retention: &store.Retention{Events: time.Hour, Limit: 500},
	})
	n.config.Senders[WebhookChannel] = n.box
	n.s = n.chatting("talk")
	return n
}

// tool answers what the test set; without it, it succeeds.
func (n *eventEnv) tool(name string) tool.Tool {
	return tool.Tool{Name: name, Timeout: 10 * time.Second, Schema: json.RawMessage(`{"type":"object"}`),
		Call: func(context.Context, tool.Call) (tool.Result, error) {
			if n.panics.Load() {
				panic(canary)
			}
			if answer, ok := n.answer.Load().(func() error); ok {
				return tool.Result{}, answer()
			}
			return tool.Result{}, nil
		}}
}

// start starts a flow in the session.
func (n *eventEnv) start(name string) holdshort.Run {
	n.Helper()
	return n.begin(name, n.s, `"`+canary+`"`)
}

// pay starts the call of a tool.
func (n *eventEnv) pay(tool string) holdshort.Run {
	n.Helper()
	return n.begin("pay", n.s, `"`+tool+`"`)
}

func (n *eventEnv) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// open returns the open request of a run.
func (n *eventEnv) open(run holdshort.Run) holdshort.Request {
	n.Helper()
	for _, req := range n.requests(n.s) {
		if req.RunID == run.ID && req.Status == holdshort.RequestOpen {
			return req
		}
	}
	n.Fatalf("%s has no open request; it is %s", run.ID, n.run(run.ID).Status)
	return holdshort.Request{}
}

// decide decides the open request of a run over the API.
func (n *eventEnv) decide(run holdshort.Run, verb holdshort.Verb, who holdshort.Actor, option ...string) holdshort.Request {
	n.Helper()
	req := n.open(run)
	in := DecideInput{Request: req.ID, Action: verb, Actor: who, OptionIDs: option, Channel: "api"}
	if verb == holdshort.Answer {
		in.Value = json.RawMessage(`"blue"`)
	}
	_, err := n.Decide(n.Context(), acme, in)
	n.must(err)
	n.settle()
	return req
}

// raise asks through the gate.
func (n *eventEnv) raise() holdshort.Request {
	n.Helper()
	out, err := n.Ask(n.Context(), acme, AskInput{Kind: holdshort.Approval, Question: "Refund?", Session: n.s.ID, Actor: gated,
		Actions: []AskAction{{Tool: "refund", Args: json.RawMessage(`{"order":"` + canary + `"}`)}}})
	n.must(err)
	return out.Request
}

// factAbout is the event that a scenario expects about a run.
func factAbout(run holdshort.Run, actor string) holdshort.Event {
	return holdshort.Event{Run: run.ID, Session: run.SessionID, Trace: run.TraceID, Flow: run.Flow, Actor: actor}
}

// about adds the request and the channel.
func about(e holdshort.Event, req holdshort.Request, channel string) holdshort.Event {
	e.Request, e.Channel = req.ID, channel
	return e
}

// wantEvent fails unless the log has an event of that name with exactly these ids, actor and channel.
func (n *eventEnv) wantEvent(name string, want holdshort.Event) {
	n.Helper()
	want.Type = name
	var found []holdshort.Event
	err := n.store.System().Export(context.Background(), func(r store.Record) error {
		if r.Event != nil && r.Event.Type == name {
			e := *r.Event
			found = append(found, holdshort.Event{Type: e.Type, Run: e.Run, Session: e.Session, Request: e.Request, Trace: e.Trace,
				Flow: e.Flow, Actor: e.Actor, Channel: e.Channel})
		}
		return nil
	})
	n.must(err)
	same := func(e holdshort.Event) bool {
		return e.Run == want.Run && e.Session == want.Session && e.Request == want.Request && e.Trace == want.Trace &&
			e.Flow == want.Flow && e.Actor == want.Actor && e.Channel == want.Channel
	}
	if !slices.ContainsFunc(found, same) {
		n.Errorf("no %s is like\n%+v\namong\n%+v", name, want, found)
	}
}

// TestEveryEvent brings the engine to write each event of the catalogue and checks what the event says.
func TestEveryEvent(t *testing.T) {
	scenarios := maps.Clone(runScenarios)
	maps.Copy(scenarios, storeScenarios)
	for _, name := range holdshort.EventNames {
		scenario, ok := scenarios[name]
		if !ok {
			if eventsProvenElsewhere[name] == "" {
				t.Errorf("no scenario writes %s: add one, or take the name out of the catalogue", name)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			n := newEventEnv(t)
			n.wantEvent(name, scenario(n))
		})
	}
	for name := range scenarios {
		if !slices.Contains(holdshort.EventNames, name) {
			t.Errorf("a scenario writes %s, which is not in the catalogue", name)
		}
	}
}
