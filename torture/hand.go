package torture

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// Person is somebody with roles.
func Person(id string, roles ...string) holdshort.Actor {
	return holdshort.Actor{ID: id, Kind: holdshort.Person, Roles: roles, Assurance: holdshort.AssuranceLogin}
}

// The people of the scenarios.
var (
	Ana      = Person("ana", "reviewer", "operator")
	Ben      = Person("ben", "reviewer")
	Cem      = Person("cem", "reviewer")
	User     = Person("uma")
	Stranger = Person("sam", "visitor")
)

// Start makes sure that a run has been started. Its input is its own id.
func (h *Hand) Start(id holdshort.RunID, flow string, version int) holdshort.Run {
	input, _ := json.Marshal(id)
	run, err := h.Engine.Start(h.ctx, h.Tenant, engine.StartInput{ID: id, Flow: h.flowName(flow), Version: version, User: User.ID, Input: input})
	h.must(err, "start "+string(id))
	h.mu.Lock()
	h.started[id] = true
	h.mu.Unlock()
	h.settle()
	return run
}

// settle waits until the engine executes nothing.
func (h *Hand) settle() { h.must(h.Engine.Settle(h.ctx), "settle") }

// mostTicks is far more than any scenario needs: past it something goes round in circles.
const mostTicks = 100

// Settle lets the engine do what there is to do now, until nothing is left.
func (h *Hand) Settle() {
	for range mostTicks {
		n, err := h.Engine.Tick(h.ctx)
		lost := holdshort.CodeOf(err) == holdshort.LeaseLost // to another node, while it was not looking
		if !lost {
			h.must(err, "tick")
		}
		h.settle()
		if n == 0 {
			return
		}
	}
	h.Violate(Progress, "the engine has found something to do %d times over: it goes round in circles", mostTicks)
	panic(wrong{})
}

// Until lets time pass until something is so.
func (h *Hand) Until(what string, so func() bool) {
	for range 12 {
		if so() {
			return
		}
		h.Settle()
		if so() {
			return
		}
		h.bed.Advance(stride)
	}
	h.Violate(Progress, "it never came about that %s", what)
	panic(wrong{})
}

// Pass moves the clock and lets the engine do what is due.
func (h *Hand) Pass(d time.Duration) {
	h.bed.Advance(d)
	h.Settle()
}

// Run gives a run as it stands.
func (h *Hand) Run(id holdshort.RunID) holdshort.Run {
	run, err := h.Engine.RunByID(h.ctx, h.Tenant, id)
	h.must(err, "look at run "+string(id))
	return run
}

// Ends waits until a run is over.
func (h *Hand) Ends(id holdshort.RunID) {
	h.Until(string(id)+" ends", func() bool { return h.Run(id).Status.Ended() })
}

// Requests gives what a run has asked, oldest first.
func (h *Hand) Requests(id holdshort.RunID) []holdshort.Request {
	page, err := h.Engine.Requests(h.ctx, h.Tenant, engine.RequestQuery{Run: id, Order: "newest"})
	h.must(err, "list the requests of "+string(id))
	slices.Reverse(page.Items)
	return page.Items
}

// Asked waits until a run has asked at a step, and gives the first request of that step. It gives none if the run is over without it.
func (h *Hand) Asked(id holdshort.RunID, step string) (found holdshort.Request, ok bool) {
	h.Until(string(id)+" asks "+step, func() bool {
		for _, r := range h.Requests(id) {
			if r.OriginStepID == step && !ok {
				found, ok = r, true
			}
		}
		return ok || h.Run(id).Status.Ended()
	})
	return found, ok
}

// Decide makes sure that a request is decided, by this or by an earlier decision, and gives what stands.
func (h *Hand) Decide(in engine.DecideInput) engine.Decided {
	out, err := h.Engine.Decide(h.ctx, h.Tenant, in)
	h.told(in, out, err)
	h.settle()
	return out
}

// told notes what a decider was answered.
func (h *Hand) told(in engine.DecideInput, out engine.Decided, err error) {
	switch holdshort.CodeOf(err) {
	case "":
		if out.Decision != nil {
			h.note(h.acked, in.Request, out.Decision.ID, "was told that it decided")
			if out.Decision.Actor.ID != in.Actor.ID {
				h.Violate(OneDecision, "%s was told that a decision of %s is theirs", in.Actor.ID, out.Decision.Actor.ID)
			}
		}
	case holdshort.Closed:
		if out.Decision != nil {
			h.note(h.shown, in.Request, out.Decision.ID, "came too late and was shown")
		} else if out.Request.Status == holdshort.RequestResolved && !h.node.isDead() {
			h.Violate(OneDecision, "%s came too late for %s and was not shown what stands", in.Actor.ID, in.Request)
		}
	case holdshort.Expired, holdshort.AlreadyVoted:
	default:
		h.must(err, "decide "+string(in.Request))
	}
	if h.node.isDead() {
		panic(died{})
	}
}

func (w *World) note(in map[holdshort.RequestID]holdshort.DecisionID, req holdshort.RequestID, dec holdshort.DecisionID, what string) {
	w.mu.Lock()
	before, ok := in[req]
	in[req] = dec
	w.mu.Unlock()
	if ok && before != dec {
		w.Violate(OneDecision, "one %s %s, another %s, on %s", what, before, dec, req)
	}
}

// Approve and Reject are the usual decisions.
func (h *Hand) Approve(id holdshort.RunID, step string, by holdshort.Actor) {
	if req, ok := h.Asked(id, step); ok {
		h.Decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: by, Fingerprint: req.Fingerprint})
	}
}

func (h *Hand) Reject(id holdshort.RunID, step string, by holdshort.Actor) {
	if req, ok := h.Asked(id, step); ok {
		h.Decide(engine.DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: by, Message: "no"})
	}
}

// Intrude has somebody decide who may not, wants that refused, and wants it to change nothing.
func (h *Hand) Intrude(req holdshort.RequestID, action holdshort.Verb, by holdshort.Actor) {
	_, err := h.Engine.Decide(h.ctx, h.Tenant, engine.DecideInput{Request: req, Action: action, Actor: by})
	switch holdshort.CodeOf(err) {
	case holdshort.Forbidden, holdshort.NotFound, holdshort.Closed, holdshort.Expired:
	case "":
		h.Violate(OnlyEntitled, "%s decided %s", by.ID, req)
	default:
		h.must(err, "refuse "+by.ID)
	}
}

// Reconciled answers what nobody knows, honestly, until the run is over and nothing is left to ask: it happened, or it did not and is tried
// again, or (giveUp) nobody looks. Approvals that a second try needs are given.
func (h *Hand) Reconciled(id holdshort.RunID, step string, giveUp bool) {
	h.Until(string(id)+" is reconciled and ends", func() bool {
		open := 0
		for _, r := range h.Requests(id) {
			switch {
			case r.Status != holdshort.RequestOpen:
				continue
			case r.Kind == holdshort.Reconcile:
				h.Decide(engine.DecideInput{Request: r.ID, Action: holdshort.Select, OptionIDs: []string{h.truth(r, giveUp)}, Actor: Ana})
			case r.OriginStepID == step:
				h.Decide(engine.DecideInput{Request: r.ID, Action: holdshort.Approve, Actor: Ana})
			}
			open++
		}
		return open == 0 && h.Run(id).Status.Ended() && !h.underWay(id)
	})
}

// underWay reports whether an operation of a run is started and not closed. It looks past the engine: a client would have no need to.
func (h *Hand) underWay(id holdshort.RunID) bool {
	for _, versions := range h.witness.operations() {
		if last := versions[len(versions)-1].row; last.RunID == id && last.Status == holdshort.OperationStarted {
			return true
		}
	}
	return false
}

func (h *Hand) truth(r holdshort.Request, giveUp bool) string {
	var about struct {
		Operation string `json:"operation_id"`
	}
	_ = json.Unmarshal(r.Context, &about) // an empty id never happened: the check of effects would show it
	switch {
	case giveUp:
		return "give_up"
	case h.Happened(about.Operation):
		return "happened"
	}
	return "retry"
}

// startIn makes sure that a run of a session has been started.
func (h *Hand) startIn(id holdshort.RunID, flow string, session holdshort.SessionID) {
	input, _ := json.Marshal(id)
	_, err := h.Engine.Start(h.ctx, h.Tenant, engine.StartInput{ID: id, Flow: h.flowName(flow), Session: session, User: User.ID, Input: input})
	h.must(err, "start "+string(id))
	h.mu.Lock()
	h.started[id] = true
	h.mu.Unlock()
	h.settle()
}

// cutOperation gives the request that an operation of the gate belongs to.
func cutOperation(operation string) (id holdshort.RequestID, call string, ok bool) {
	before, after, ok := strings.Cut(operation, "/")
	return holdshort.RequestID(before), after, ok
}
