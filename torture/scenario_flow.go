package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/tool"
)

// Branches: three branches wait at the same time: for a person, for the approval of a call, and for the clock.
var Branches = Scenario{
	Name: "parallel branches", Tools: refundTools(Works),
	Flows: func(w *World) []flow.Flow {
		return []flow.Flow{flow.New("three", 1, func(c *flow.Context, run string) (string, error) {
			step := func(c *flow.Context, name string) error {
				_, err := flow.Step(c, name, func(context.Context) (int, error) { w.Step(run, name); return 1, nil })
				return err
			}
			parts, err := flow.All(c, "all",
				flow.Branch[string]{Key: "ask", Run: func(c *flow.Context) (string, error) {
					if err := step(c, "before asking"); err != nil {
						return "", err
					}
					a, err := flow.Approve(c, "ok", flow.Question{Text: "go on?"})
					return fmt.Sprint(a.Approved()), err
				}},
				flow.Branch[string]{Key: "call", Run: func(c *flow.Context) (string, error) {
					if err := step(c, "before calling"); err != nil {
						return "", err
					}
					_, err := flow.Call[map[string]bool](c, "refund", "refund", map[string]int{"amount": 5})
					if err == nil {
						err = step(c, "after calling")
					}
					return "called", err
				}},
				flow.Branch[string]{Key: "nap", Run: func(c *flow.Context) (string, error) {
					flow.Sleep(c, "nap", time.Hour)
					return "slept", step(c, "after sleeping")
				}})
			return fmt.Sprint(parts), err
		})}
	},
	Drive: func(h *Hand) {
		h.Start("run_1", "three", 1)
		h.Approve("run_1", "all/ask/ok", Ben)
		h.Approve("run_1", "all/call/refund", Ana)
		h.Until("the call is settled", func() bool { return h.honest("run_1", "all/call/refund") && !h.underWay("run_1") })
		if !h.Run("run_1").Status.Ended() {
			h.Pass(time.Hour)
		}
		h.Reconciled("run_1", "all/call/refund", false)
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "[true called slept]")
		did(w, f, "run_1", "all/call/refund", 1)
	},
}

// honest answers what a run asks now about a call whose outcome is not known, or about trying it again; true: it asks nothing of that kind.
func (h *Hand) honest(id holdshort.RunID, step string) (quiet bool) {
	quiet = true
	for _, r := range h.Requests(id) {
		switch {
		case r.Status != holdshort.RequestOpen:
		case r.Kind == holdshort.Reconcile:
			quiet = false
			h.Decide(engine.DecideInput{Request: r.ID, Action: holdshort.Select, OptionIDs: []string{h.truth(r, false)}, Actor: Ana})
		case r.OriginStepID == step:
			quiet = false
			h.Decide(engine.DecideInput{Request: r.ID, Action: holdshort.Approve, Actor: Ana})
		}
	}
	return quiet
}

// SubFlow: a flow within a flow pauses and calls.
var SubFlow = Scenario{
	Name: "sub-flow", Tools: refundTools(Works),
	Flows: func(w *World) []flow.Flow {
		inner := refund(w)
		return []flow.Flow{flow.New("outer", 1, func(c *flow.Context, run string) (string, error) {
			first, err := flow.Sub[string](c, "first", inner, run)
			if err != nil {
				return "", err
			}
			second, err := flow.Approve(c, "second", flow.Question{Text: "and then?"})
			return fmt.Sprint(first, " ", second.Approved()), err
		})}
	},
	Drive: func(h *Hand) {
		h.Start("run_1", "outer", 1)
		h.Approve("run_1", "first/refund", Ana)
		h.Until("the call is settled", func() bool {
			h.honest("run_1", "first/refund")
			for _, r := range h.Requests("run_1") {
				if r.OriginStepID == "second" {
					return true
				}
			}
			return false
		})
		h.Approve("run_1", "second", Ben)
		h.Ends("run_1")
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "refunded true")
		did(w, f, "run_1", "first/refund", 1)
	},
}

// Sleep: a run sleeps, twice, and wakes by itself.
var Sleep = Scenario{
	Name: "sleep",
	Flows: func(w *World) []flow.Flow {
		return []flow.Flow{flow.New("sleeper", 1, func(c *flow.Context, run string) (string, error) {
			for i := range 2 {
				name := fmt.Sprint("step ", i)
				if _, err := flow.Step(c, name, func(context.Context) (int, error) { w.Step(run, name); return 1, nil }); err != nil {
					return "", err
				}
				flow.Sleep(c, fmt.Sprint("nap ", i), time.Hour)
			}
			return "awake", nil
		})}
	},
	Drive: func(h *Hand) {
		h.Start("run_1", "sleeper", 1)
		for range 3 {
			if !h.Run("run_1").Status.Ended() {
				h.Pass(time.Hour)
			}
		}
		h.Ends("run_1")
	},
	Check: func(w *World, f *Facts) { ended(w, f, "run_1", holdshort.RunCompleted, "awake") },
}

// Retry: a call provably does nothing, the run fails, and a person has it tried again.
var Retry = Scenario{
	Name: "retry",
	Flows: func(w *World) []flow.Flow {
		return []flow.Flow{flow.New("strict", 1, func(c *flow.Context, run string) (string, error) {
			if _, err := flow.Model(c, "think", func(context.Context) (int, error) { w.Step(run, "think"); return 1, nil }); err != nil {
				return "", err
			}
			if _, err := flow.Call[map[string]bool](c, "refund", "refund", map[string]int{"amount": 5}); err != nil {
				return "", err
			}
			return "refunded", nil
		})}
	},
	Tools: func(w *World) []tool.Tool { return []tool.Tool{w.Tool("refund", Refuses(1))} },
	Drive: func(h *Hand) {
		h.Start("run_1", "strict", 1)
		h.Approve("run_1", "refund", Ana)
		h.Reconciled("run_1", "refund", false)
		if run := h.Run("run_1"); run.Status == holdshort.RunFailed && run.Attempt == 1 {
			if _, err := h.Engine.Retry(h.ctx, h.Tenant, "run_1", Ana); holdshort.CodeOf(err) != holdshort.WrongState {
				h.must(err, "retry")
			}
			h.settle()
		}
		h.Reconciled("run_1", "refund", false)
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "refunded")
		did(w, f, "run_1", "refund", 1)
	},
}

// Posts: a run takes three posts in the order in which they came; each is sent twice.
var Posts = Scenario{
	Name: "posts",
	Flows: func(w *World) []flow.Flow {
		return []flow.Flow{flow.New("listener", 1, func(c *flow.Context, run string) (string, error) {
			text := ""
			for range 3 {
				n, err := flow.Wait[int](c, "news", 0)
				if err != nil {
					return "", err
				}
				text += fmt.Sprint(n)
			}
			return text, nil
		})}
	},
	Drive: func(h *Hand) {
		h.Start("run_1", "listener", 1)
		for i := 1; i <= 3; i++ {
			for range 2 {
				_, err := h.Engine.Post(h.ctx, h.Tenant, engine.PostInput{Run: "run_1", ID: fmt.Sprint("post ", i), Name: "news", Body: json.RawMessage(fmt.Sprint(i)), Actor: User})
				h.must(err, "post")
				if i != 2 { // the third comes while the run is at the second
					h.settle()
				}
			}
		}
		h.Ends("run_1")
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "123")
	},
}

// NodeLoss: several processes share the database; whoever takes over must wait for the lease to end.
var NodeLoss = Scenario{Name: "node loss", Nodes: true, Flows: SingleApproval.Flows, Tools: SingleApproval.Tools, Drive: SingleApproval.Drive, Check: SingleApproval.Check}
