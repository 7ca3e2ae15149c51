package torture

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

// asks is a policy with one verdict.
func asks(v policy.Verdict) policy.Policy {
	v.Decision, v.Rule = policy.Ask, "torture"
	return policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) { return v, nil })
}

// MixedBatch: one request about five calls; one is approved, one rejected, one edited, one answered by a person, and one needs nobody.
var MixedBatch = Scenario{
	Name: "batch with mixed verdicts",
	Flows: func(w *World) []flow.Flow {
		return []flow.Flow{flow.New("pay", 1, func(c *flow.Context, run string) (string, error) {
			if _, err := flow.Model(c, "think", func(context.Context) (int, error) { w.Step(run, "think"); return 1, nil }); err != nil {
				return "", err
			}
			results, err := flow.Calls(c, "pay", []flow.Request{{Tool: "pay", Args: map[string]int{"n": 1}}, {Tool: "pay", Args: map[string]int{"n": 2}},
				{Tool: "pay", Args: map[string]int{"n": 3}}, {Tool: "pay", Args: map[string]int{"n": 4}}, {Tool: "look", Args: map[string]int{"n": 5}}})
			if err != nil {
				return "", err
			}
			text := ""
			for _, r := range results {
				switch {
				case r.Err != nil:
					text += " " + string(holdshort.CodeOf(r.Err))
				case r.By != "":
					text += " " + r.By
				default:
					text += " ok"
				}
			}
			return text, nil
		})}
	},
	Tools: func(w *World) []tool.Tool { return []tool.Tool{w.Tool("pay", Works), w.Reader("look")} },
	Policy: policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		if c.Effect == "read" {
			return policy.Verdict{Decision: policy.Allow}, nil
		}
		return policy.Verdict{Decision: policy.Ask, Rule: "torture", Editable: []string{"n"}}, nil
	}),
	Drive: func(h *Hand) {
		h.Start("run_1", "pay", 1)
		if req, ok := h.Asked("run_1", "pay"); ok {
			h.Decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: Ana, Fingerprint: req.Fingerprint, Calls: []holdshort.CallDecision{
				{CallID: "call_1", Action: holdshort.Approve}, {CallID: "call_2", Action: holdshort.Reject},
				{CallID: "call_3", Action: holdshort.Edit, Args: json.RawMessage(`{"n":33}`)}, {CallID: "call_4", Action: holdshort.Respond, Message: "done by hand"}}})
		}
		h.Reconciled("run_1", "pay", false)
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, " ok denied ok ana ok", " ana denied ok ana ok", " ok denied ana ana ok", " ana denied ana ana ok")
		did(w, f, "run_1", "pay/1", 1)
		did(w, f, "run_1", "pay/2", 0)
		did(w, f, "run_1", "pay/3", 1)
		did(w, f, "run_1", "pay/4", 0)
		ranWith(w, f, "run_1", "pay/3", `{"n":33}`)
	},
}

// ranWith wants every effect of an operation to have had these arguments.
func ranWith(w *World, f *Facts, run holdshort.RunID, step, args string) {
	op := f.Operation(run, step)
	calls, _ := w.outside.seen()
	for _, c := range calls {
		if c.operation == op.ID && string(c.args) != args {
			w.Violate(SameCall, "%s ran with %s, and %s was approved", op.ID, c.args, args)
		}
	}
}

// Edit: the reviewer changes the arguments; those run, and no others.
var Edit = Scenario{
	Name: "edit", Flows: refundFlows, Tools: refundTools(Works), Policy: asks(policy.Verdict{Editable: []string{"amount"}}),
	Drive: func(h *Hand) {
		h.Start("run_1", "refund", 1)
		if req, ok := h.Asked("run_1", "refund"); ok {
			h.Decide(engine.DecideInput{Request: req.ID, Action: holdshort.Edit, Actor: Ana, Args: json.RawMessage(`{"amount":99,"order":"77"}`), Fingerprint: req.Fingerprint})
		}
		h.Reconciled("run_1", "refund", false)
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "refunded")
		did(w, f, "run_1", "refund", 1)
		ranWith(w, f, "run_1", "refund", `{"amount":99,"order":"77"}`)
	},
}

// rejecting is one run whose call is rejected.
func rejecting(name string, way holdshort.OnReject, status holdshort.RunStatus, results ...string) Scenario {
	return Scenario{Name: name, Flows: refundFlows, Tools: refundTools(Works), Policy: asks(policy.Verdict{OnReject: way}),
		Drive: func(h *Hand) {
			h.Start("run_1", "refund", 1)
			h.Reject("run_1", "refund", Ana)
			h.Approve("run_1", "refund", Ben) // too late
			h.Ends("run_1")
		},
		Check: func(w *World, f *Facts) {
			ended(w, f, "run_1", status, results...)
			if calls, _ := w.outside.seen(); len(calls) > 0 {
				w.Violate(NeverUnasked, "a rejected call was made: %+v", calls)
			}
		}}
}

// A rejection lets the flow go on, cancels the run, or gives the answer back.
var (
	RejectContinues = rejecting("reject, continue", holdshort.RejectContinue, holdshort.RunCompleted, "denied")
	RejectCancels   = rejecting("reject, cancel", holdshort.RejectCancel, holdshort.RunCanceled)
	RejectReturns   = rejecting("reject, return", holdshort.RejectReturn, holdshort.RunCompleted, "denied")
)

// Quorum: it takes two; the requester does not count, nobody counts twice, and one veto is enough.
var Quorum = Scenario{
	Name: "quorum with veto", Flows: refundFlows, Tools: refundTools(Works), Policy: asks(policy.Verdict{Audience: holdshort.Audience{Roles: []string{"reviewer"}, Owner: true, Quorum: 2}}),
	Drive: func(h *Hand) {
		h.Start("run_1", "refund", 1)
		h.Start("run_2", "refund", 1)
		if req, ok := h.Asked("run_1", "refund"); ok {
			h.Intrude(req.ID, holdshort.Approve, User)
			h.Approve("run_1", "refund", Ben)
			h.Approve("run_1", "refund", Ben)
			h.Approve("run_1", "refund", Cem)
		}
		h.Approve("run_2", "refund", Ben)
		h.Reject("run_2", "refund", Cem)
		h.Approve("run_2", "refund", Ana)
		h.Until("both end", func() bool {
			for _, id := range []holdshort.RunID{"run_1", "run_2"} {
				for _, r := range h.Requests(id) {
					if r.Status == holdshort.RequestOpen && r.Kind == holdshort.Reconcile {
						h.Decide(engine.DecideInput{Request: r.ID, Action: holdshort.Select, OptionIDs: []string{h.truth(r, false)}, Actor: Ana})
					} else if r.Status == holdshort.RequestOpen {
						h.Decide(engine.DecideInput{Request: r.ID, Action: holdshort.Approve, Actor: Ben})
						h.Decide(engine.DecideInput{Request: r.ID, Action: holdshort.Approve, Actor: Cem})
					}
				}
			}
			return h.Run("run_1").Status.Ended() && h.Run("run_2").Status.Ended()
		})
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "refunded")
		ended(w, f, "run_2", holdshort.RunCompleted, "denied")
		did(w, f, "run_1", "refund", 1)
		did(w, f, "run_2", "refund", 0)
	},
}

// crowd is how many decide at once.
const crowd = 100

// Crowd: a hundred people decide one request at the same moment, half of them this way, half of them that.
var Crowd = Scenario{
	Name: "100 deciders", Flows: refundFlows, Tools: refundTools(Works), Crowded: true,
	Drive: func(h *Hand) {
		h.Start("run_1", "refund", 1)
		if req, ok := h.Asked("run_1", "refund"); ok && req.Status == holdshort.RequestOpen {
			h.atOnce(crowd, func(i int) func() {
				in := engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: Person("person-"+string(rune('a'+i%26))+string(rune('a'+i/26)), "reviewer")}
				if i%2 == 1 {
					in.Action = holdshort.Reject
				}
				out, err := h.Engine.Decide(h.ctx, h.Tenant, in)
				return func() { h.told(in, out, err) }
			})
		}
		h.Reconciled("run_1", "refund", false)
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "refunded", "denied")
	},
}

// atOnce does something several times at the same moment, then hears how each went.
func (h *Hand) atOnce(n int, do func(i int) (hear func())) {
	hears := make([]func(), n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { hears[i] = do(i) })
	}
	wg.Wait()
	for _, hear := range hears {
		hear()
	}
	h.settle()
}

// ExpiryRace: one is decided just in time, one just too late, one at the very moment at which the sweeper comes.
var ExpiryRace = Scenario{
	Name: "expiry race", Flows: refundFlows, Tools: refundTools(Works), Policy: asks(policy.Verdict{ExpiresIn: 10 * time.Minute}),
	Drive: func(h *Hand) {
		for _, id := range []holdshort.RunID{"run_1", "run_2", "run_3"} {
			h.Start(id, "refund", 1)
		}
		h.Approve("run_1", "refund", Ana)
		h.Reconciled("run_1", "refund", false)
		in2, _ := h.Asked("run_2", "refund")
		in3, ok := h.Asked("run_3", "refund")
		if last := later(in2.ExpiresAt, in3.ExpiresAt); h.bed.Now().Before(last) {
			h.bed.Advance(last.Sub(h.bed.Now()))
		}
		if req, ok := h.Asked("run_2", "refund"); ok {
			out, err := h.Engine.Decide(h.ctx, h.Tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: Ana})
			if err == nil {
				h.Violate(NeverUnasked, "somebody approved %s after it had expired: %+v", req.ID, out)
			}
			h.told(engine.DecideInput{Request: req.ID, Actor: Ana}, out, err)
		}
		if ok {
			in := engine.DecideInput{Request: in3.ID, Action: holdshort.Approve, Actor: Ana}
			h.atOnce(2, func(i int) func() {
				if i == 0 {
					_, err := h.Engine.Expire(h.ctx, h.Tenant, in3.ID)
					return func() {
						if code := holdshort.CodeOf(err); code != holdshort.Closed && code != holdshort.WrongState {
							h.must(err, "expire")
						}
					}
				}
				out, err := h.Engine.Decide(h.ctx, h.Tenant, in)
				return func() { h.told(in, out, err) }
			})
		}
		for _, id := range []holdshort.RunID{"run_2", "run_3"} {
			h.Ends(id)
		}
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_1", holdshort.RunCompleted, "refunded")
		ended(w, f, "run_2", holdshort.RunFailed)
		did(w, f, "run_2", "refund", 0)
	},
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// CancelRace: a run is canceled at the moment at which its call is approved.
var CancelRace = Scenario{
	Name: "cancel race", Flows: refundFlows, Tools: refundTools(Works),
	Drive: func(h *Hand) {
		h.Start("run_1", "refund", 1)
		h.Start("run_2", "refund", 1)
		h.cancel("run_2")
		if req, ok := h.Asked("run_1", "refund"); ok {
			in := engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: Ana}
			h.atOnce(2, func(i int) func() {
				if i == 0 {
					_, err := h.Engine.Cancel(h.ctx, h.Tenant, "run_1", Ana, "enough")
					return func() {
						if holdshort.CodeOf(err) != holdshort.WrongState {
							h.must(err, "cancel")
						}
					}
				}
				out, err := h.Engine.Decide(h.ctx, h.Tenant, in)
				return func() { h.told(in, out, err) }
			})
		}
		h.Approve("run_2", "refund", Ana)
		h.Reconciled("run_1", "refund", false)
		h.Ends("run_2")
	},
	Check: func(w *World, f *Facts) {
		ended(w, f, "run_2", holdshort.RunCanceled)
		did(w, f, "run_2", "refund", 0)
	},
}

func (h *Hand) cancel(id holdshort.RunID) {
	if h.Run(id).Status.Ended() {
		return
	}
	if _, err := h.Engine.Cancel(h.ctx, h.Tenant, id, Ana, "enough"); holdshort.CodeOf(err) != holdshort.WrongState {
		h.must(err, "cancel "+string(id))
	}
	h.settle()
}
