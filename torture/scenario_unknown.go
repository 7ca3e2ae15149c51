package torture

import (
	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

// unknown is one run whose tool behaves badly, and people who are asked.
func unknown(name string, tools func(w *World) []tool.Tool, giveUp bool, effects int, results ...string) Scenario {
	return Scenario{Name: name, Flows: refundFlows, Tools: tools,
		Drive: func(h *Hand) {
			h.Start("run_1", "refund", 1)
			h.Approve("run_1", "refund", Ana)
			h.Reconciled("run_1", "refund", giveUp)
		},
		Check: func(w *World, f *Facts) {
			ended(w, f, "run_1", holdshort.RunCompleted, results...)
			if effects >= 0 {
				did(w, f, "run_1", "refund", effects)
			}
		}}
}

// reconciling is a tool that can look what became of a call.
func reconciling(conduct Conduct) func(w *World) []tool.Tool {
	return func(w *World) []tool.Tool {
		t := w.Tool("refund", conduct)
		t.Reconcile = w.Looks
		return []tool.Tool{t}
	}
}

// The answer of a call is lost, and what became of it is settled in each way there is.
var (
	PersonSaysHappened = unknown("unknown, happened", refundTools(LosesAnswer), false, 1, "refunded")
	PersonSaysRetry    = unknown("unknown, retry", refundTools(LosesCall), false, 1, "refunded")
	PersonGivesUp      = unknown("unknown, give up", refundTools(LosesAnswer), true, -1, "refunded", "outcome_unknown")
	ToolSaysHappened   = unknown("reconcile, happened", reconciling(LosesAnswer), false, -1, "refunded", "not_happened")
	ToolSaysNot        = unknown("reconcile, not happened", reconciling(LosesCall), false, -1, "refunded", "not_happened")
	ToolCannotTell     = unknown("reconcile, unclear", func(w *World) []tool.Tool {
		t := w.Tool("refund", LosesAnswer)
		t.Reconcile = cannotTell
		return []tool.Tool{t}
	}, false, 1, "refunded")
	IdempotentRepeats = unknown("idempotent", func(w *World) []tool.Tool { return []tool.Tool{w.Idempotent("refund", LosesAnswer)} }, false, 1, "refunded")
	DefiniteRetries   = unknown("definite errors", func(w *World) []tool.Tool {
		t := w.Tool("refund", Refuses(2))
		t.Retries = 2
		return []tool.Tool{t}
	}, false, -1, "refunded", "tool_failed") // a crash can use up an attempt
)
