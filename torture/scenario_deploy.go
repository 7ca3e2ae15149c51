package torture

import (
	"fmt"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// versioned calls with an amount that tells its version; changed is somebody's mistake: other code under the same version.
func versioned(version int, changed bool) flow.Flow {
	amount := 100 * version
	if changed {
		amount = 666
	}
	return flow.New("refund", version, func(c *flow.Context, run string) (string, error) {
		if _, err := flow.Call[map[string]bool](c, "refund", "refund", map[string]int{"amount": amount}); err != nil {
			return "", err
		}
		return fmt.Sprint("v", version), nil
	})
}

// Deploy: runs wait while versions come and go. The old version goes on beside the new one; nobody claims what no node has; changed code
// under the same version holds its run until the right code is back.
var Deploy = Scenario{
	Name: "deploy", Tools: refundTools(Works),
	Flows: func(w *World) []flow.Flow {
		switch w.Stage() {
		case 0:
			return []flow.Flow{versioned(1, false)}
		case 2:
			return []flow.Flow{versioned(2, true)}
		}
		return []flow.Flow{versioned(1, false), versioned(2, false)}
	},
	Drive: func(h *Hand) {
		if h.Stage() == 0 {
			h.Start("run_1", "refund", 1)
			h.Start("run_2", "refund", 1)
			h.Asked("run_1", "refund")
			h.Asked("run_2", "refund")
		}
		h.Deploy(1)
		if h.Stage() == 1 {
			h.Start("run_3", "refund", 0)
			h.Asked("run_3", "refund")
			h.Approve("run_1", "refund", Ana)
			h.Reconciled("run_1", "refund", false)
		}
		h.Deploy(2)
		if h.Stage() == 2 {
			h.Approve("run_2", "refund", Ana)
			h.Approve("run_3", "refund", Ana)
			h.Until("run_3 is held", func() bool { r := h.Run("run_3"); return r.Held != nil || r.Status.Ended() || h.Stage() > 2 })
			if r := h.Run("run_2"); r.Status != holdshort.RunQueued && h.Stage() == 2 && !h.frozen {
				h.Violate(SameCall, "run_2 is %s on a node that does not have its version", r.Status)
			}
		}
		h.Deploy(3)
		if h.Run("run_3").Held != nil {
			if _, err := h.Engine.Retry(h.ctx, h.Tenant, "run_3", Ana); holdshort.CodeOf(err) != holdshort.WrongState {
				h.must(err, "retry")
			}
			h.settle()
		}
		h.Reconciled("run_2", "refund", false)
		h.Reconciled("run_3", "refund", false)
	},
	Check: func(w *World, f *Facts) {
		for id, v := range map[holdshort.RunID]int{"run_1": 1, "run_2": 1, "run_3": 2} {
			ended(w, f, id, holdshort.RunCompleted, fmt.Sprint("v", v))
			did(w, f, id, "refund", 1)
			ranWith(w, f, id, "refund", fmt.Sprintf(`{"amount":%d}`, 100*v))
		}
	},
}
