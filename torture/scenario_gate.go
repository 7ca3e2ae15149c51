package torture

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/tool"
)

// Bot is an agent that lives outside.
var Bot = holdshort.Actor{ID: "bot", Kind: holdshort.Service, Roles: []string{"agent"}, Assurance: holdshort.AssuranceToken}

// gateLease is how long a claimer has.
const gateLease = time.Minute

// Gate: an agent outside raises requests and claims what was approved. One claimer reports; one dies before it acts, one after; one reports
// when it was given up already; and of several that claim at once one gets it.
var Gate = Scenario{
	Name: "gate claim", Claimers: true,
	Flows: func(*World) []flow.Flow { return nil },
	Tools: func(w *World) []tool.Tool { return []tool.Tool{w.Tool("pay", Works)} },
	Drive: func(h *Hand) {
		h.claimed("reports", func(c engine.Claimed) { h.Act(c); h.report(c) })
		h.claimed("dies before it acts", func(engine.Claimed) {})
		h.claimed("dies after it acted", func(c engine.Claimed) { h.Act(c) })
		late := engine.Claimed{}
		h.claimed("reports late", func(c engine.Claimed) { h.Act(c); late = c })
		h.claimedAtOnce("comes with others")
		h.Pass(gateLease + time.Second)
		if late.Token != "" {
			h.report(late)
		}
		h.Until("all is settled", func() bool {
			page, err := h.Engine.Requests(h.ctx, h.Tenant, engine.RequestQuery{Status: holdshort.RequestOpen})
			h.must(err, "list what is open")
			for _, r := range page.Items {
				h.Decide(engine.DecideInput{Request: r.ID, Action: holdshort.Select, OptionIDs: []string{h.truth(r, false)}, Actor: Ana})
			}
			return len(page.Items) == 0 && !h.underWay("")
		})
	},
	Check: func(w *World, f *Facts) {
		if len(f.Operations) != 5 {
			w.Violate(SameCall, "%d operations of five approvals", len(f.Operations))
		}
		if n := f.Count("hitl.request.claimed"); n != 5 {
			w.Violate(SameCall, "%d claims of five approvals", n)
		}
	},
}

// raised makes sure that a request was raised and approved.
func (h *Hand) raised(name string) holdshort.Request {
	in := engine.AskInput{ID: name, Kind: holdshort.Approval, Question: "pay for " + name + "?", Actor: Bot,
		Actions: []engine.AskAction{{Tool: "pay", Args: json.RawMessage(fmt.Sprintf(`{"for":%q}`, name))}}}
	out, err := h.Engine.Ask(h.ctx, h.Tenant, in)
	h.must(err, "raise "+name)
	h.Intrude(out.Request.ID, holdshort.Approve, Bot)
	h.Decide(engine.DecideInput{Request: out.Request.ID, Action: holdshort.Approve, Actor: Ana, Fingerprint: out.Request.Fingerprint})
	return out.Request
}

// claimed lets the claimer act if it gets the call, now or again under its key.
func (h *Hand) claimed(name string, act func(engine.Claimed)) {
	req := h.raised(name)
	c, err := h.Engine.Claim(h.ctx, h.Tenant, engine.ClaimInput{Request: req.ID, Actor: Bot, Key: name, Lease: gateLease})
	switch holdshort.CodeOf(err) {
	case "":
		act(c)
	case holdshort.DecisionUsed, holdshort.Closed: // its lease ended before somebody came back to it
	default:
		h.must(err, "claim "+name)
	}
	h.must(nil, "claim "+name)
}

// claimedAtOnce has five claim the same, each for itself.
func (h *Hand) claimedAtOnce(name string) {
	req := h.raised(name)
	got := make(chan engine.Claimed, 5)
	h.atOnce(cap(got), func(i int) func() {
		c, err := h.Engine.Claim(h.ctx, h.Tenant, engine.ClaimInput{Request: req.ID, Actor: Bot, Key: fmt.Sprint(name, i), Lease: gateLease})
		if err == nil && !c.Replayed {
			got <- c
		}
		return func() {
			if code := holdshort.CodeOf(err); code != holdshort.DecisionUsed && code != holdshort.Closed {
				h.must(err, "claim "+name)
			}
		}
	})
	close(got)
	if len(got) > 1 {
		h.Violate(SameCall, "%d claimers got one call", len(got))
	}
	for c := range got {
		h.Act(c)
		h.report(c)
	}
}

// report tells the outcome of a call that was made, twice: the second changes nothing.
func (h *Hand) report(c engine.Claimed) {
	if !h.Happened(c.OperationIDs[0]) {
		return
	}
	id, _, _ := cutOperation(c.OperationIDs[0])
	for range 2 {
		_, err := h.Engine.Outcome(h.ctx, h.Tenant, engine.OutcomeInput{Request: id, Token: c.Token, Status: holdshort.OperationDone, Actor: Bot})
		h.must(err, "report on "+string(id))
	}
}
