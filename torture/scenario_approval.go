package torture

import (
	"context"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/tool"
)

// refund thinks, calls a tool that needs an approval, and notes what became of it.
func refund(w *World) flow.Flow {
	return flow.New("refund", 1, func(c *flow.Context, run string) (string, error) {
		order, err := flow.Model(c, "think", func(context.Context) (string, error) { w.Step(run, "think"); return "77", nil })
		if err != nil {
			return "", err
		}
		if _, err := flow.Step(c, "look", func(context.Context) (string, error) { w.Step(run, "look"); return "ok", nil }); err != nil {
			return "", err
		}
		_, called := flow.Call[map[string]bool](c, "refund", "refund", map[string]any{"order": order, "amount": 120})
		if _, err := flow.Step(c, "note", func(context.Context) (string, error) { w.Step(run, "note"); return "ok", nil }); err != nil {
			return "", err
		}
		if called != nil {
			return string(holdshort.CodeOf(called)), nil
		}
		return "refunded", nil
	})
}

func refundFlows(w *World) []flow.Flow { return []flow.Flow{refund(w)} }

func refundTools(conduct Conduct) func(w *World) []tool.Tool {
	return func(w *World) []tool.Tool { return []tool.Tool{w.Tool("refund", conduct)} }
}

// ended wants a run to have come to an end and a result. A call that was too late to be made has a result of its own.
func ended(w *World, f *Facts, run holdshort.RunID, status holdshort.RunStatus, results ...string) {
	r := f.Runs[run]
	if w.frozen && r.Error != nil && (r.Error.Code == holdshort.ToolFailed || r.Error.Code == holdshort.NotHappened) ||
		w.frozen && (strings.Contains(string(r.Result), string(holdshort.ToolFailed)) || strings.Contains(string(r.Result), string(holdshort.NotHappened))) {
		return
	}
	if r.Status != status {
		w.Violate(Progress, "%s is %s (%+v, held %+v), should be %s", run, r.Status, r.Error, r.Held, status)
		return
	}
	for _, want := range results {
		if string(r.Result) == `"`+want+`"` {
			return
		}
	}
	if len(results) > 0 {
		w.Violate(Progress, "%s came to %s, should come to one of %v", run, r.Result, results)
	}
}

// did wants an exact number of effects of an operation.
func did(w *World, f *Facts, run holdshort.RunID, step string, times int) {
	op := f.Operation(run, step)
	_, effects := w.outside.seen()
	if n := effects[op.ID]; n > times || n < times && !(w.frozen && op.Status == holdshort.OperationFailed) {
		w.Violate(AtMostOnce, "%s of %s took effect %d times, should %d", step, run, n, times)
	}
}

// SingleApproval: a run pauses before a tool, a stranger tries, a reviewer approves, it runs once.
var SingleApproval = Scenario{
	Name: "single approval", Flows: refundFlows, Tools: refundTools(Works),
	Drive: func(h *Hand) {
		h.Start("run_1", "refund", 1)
		if req, ok := h.Asked("run_1", "refund"); ok {
			h.Intrude(req.ID, holdshort.Approve, Stranger)
			h.Decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: Ana, Fingerprint: req.Fingerprint})
			h.Decide(engine.DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: Ben})
		}
		h.Reconciled("run_1", "refund", false)
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "refunded")
		did(w, f, "run_1", "refund", 1)
		if d := f.Decisions[f.Request("run_1", "refund").ID]; d.Action != holdshort.Approve {
			w.Violate(OneDecision, "the decision is %+v", d)
		}
	},
}
