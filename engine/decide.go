package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// DecideInput is what a person says about a request.
type DecideInput struct {
	Request     holdshort.RequestID
	Action      holdshort.Verb
	Actor       holdshort.Actor
	Message     string
	OptionIDs   []string
	Value       json.RawMessage
	Args        json.RawMessage          // of an edit of the only call
	Calls       []holdshort.CallDecision // per call; their hashes are the kernel's business
	Fingerprint string                   // of what the person saw; checked when it is there
	Raw         string                   // the text that was read, if there was one
	Channel     string
	ResolvedBy  string // a label for people
	// CancelOnReject cancels the run if this rejects the calls of an agent and their rule asked for nothing else: the habit of some callers.
	CancelOnReject bool
}

// Decided is what became of it. A refusal because the request is closed comes with the standing decision too.
type Decided struct {
	Request  holdshort.Request   `json:"request"`
	Decision *holdshort.Decision `json:"decision,omitempty"` // the one that stands; nil while votes are gathered
	Votes    []holdshort.Vote    `json:"votes,omitempty"`
	Next     *holdshort.Request  `json:"next,omitempty"` // what is asked instead, after an edit that needs more people
	Run      *holdshort.Run      `json:"run,omitempty"`
}

// Decide resolves a request, or adds a vote to those that its quorum needs, in one transaction: the decision, what it answers in the run's
// journal, the events, and the run that may go on. One wins; every other gets Closed with the standing decision.
func (e *Engine) Decide(ctx context.Context, tenant holdshort.TenantID, in DecideInput) (out Decided, err error) {
	if in, err = in.checked(e.config.Limits); err != nil {
		return out, err
	}
	at, err := e.place(ctx, tenant, in.Request)
	if err != nil {
		return out, err
	}
	slot := e.slot()
	defer slot.spare()
	first := e.remembered(tenant, at)
	var refusal error
	err = e.update(ctx, tenant, func(c *change) error {
		out = Decided{}
		c.known, first = first, nil
		refusal = c.decide(in, slot, &out)
		if refusal != nil && c.known != nil { // nobody is refused on what is only remembered
			refusal = errLookAgain
		}
		return refusal
	}, at.rows(in.Request)...)
	if err != nil && refusal == nil { // the store refused it: nothing of what it was about to say is so
		return Decided{}, err
	}
	switch holdshort.CodeOf(err) {
	case holdshort.Forbidden:
		e.denied(ctx, tenant, in.Actor, "hitl.request.decide", out.Request)
		return Decided{}, err
	case holdshort.NotFound: // whoever may not look sees nothing of it; the log does
		if errors.Is(err, errHidden) {
			e.denied(ctx, tenant, in.Actor, "hitl.request.view", out.Request)
			err = noSuchRequest(in.Request, nil)
		}
		return Decided{}, err
	}
	if out.Run != nil { // who decides need not be one who may see the run
		if ok, _ := policy.Can(policy.View, in.Actor, policy.Resource{Owner: out.Run.User, Requester: holdshort.Requester{User: out.Run.User}}); !ok {
			out.Run = &holdshort.Run{ID: out.Run.ID, Status: out.Run.Status, SessionID: out.Run.SessionID, TraceID: out.Run.TraceID, Flow: out.Run.Flow, FlowVersion: out.Run.FlowVersion, Attempt: out.Run.Attempt,
				CreatedAt: out.Run.CreatedAt, UpdatedAt: out.Run.UpdatedAt, Revision: out.Run.Revision}
		}
	}
	return out, err
}

// known is how this node stored a request and its run last: a first look that needs no reading. What was written since loses the
// compare-and-set, and the second look reads.
type known struct {
	request holdshort.Request
	run     holdshort.Run
}

var errLookAgain = &holdshort.Error{Code: holdshort.Conflict, Message: "what was remembered is not what stands"}

// remembered gives a first look at a request that one approval resolves. Votes are counted on what is read.
func (e *Engine) remembered(tenant holdshort.TenantID, at place) *known {
	if at.request == nil || at.tenant != tenant || at.request.Audience.Needed() > 1 {
		return nil
	}
	run, ok := e.memory.run(tenant, at.run)
	if !ok {
		return nil
	}
	return &known{*at.request, run}
}

// checked refuses what has the wrong shape, before anything is looked up.
func (in DecideInput) checked(limits Limits) (DecideInput, error) {
	if _, err := holdshort.ParseVerb(string(in.Action)); err != nil {
		return in, err
	}
	if in.Actor.ID == "" {
		return in, &holdshort.Error{Code: holdshort.Forbidden, Op: "decide " + string(in.Request), Message: "nobody knows who decides", Hint: "authenticate first"}
	}
	if in.Actor.Kind == holdshort.System { // the kernel's own decisions do not come through here
		return in, &holdshort.Error{Code: holdshort.Forbidden, Op: "decide " + string(in.Request), Message: "only people and services decide", Hint: "authenticate as one of them"}
	}
	words, args := max(len(in.Message), len(in.Raw)), max(len(in.Value), len(in.Args))
	for _, c := range in.Calls {
		words, args = max(words, len(c.Message)), max(args, len(c.Args))
	}
	if words > limits.Text || args > limits.Args {
		return in, &holdshort.Error{Code: holdshort.TooLarge, Op: "decide " + string(in.Request), Message: "the answer is too long", Hint: "shorten it"}
	}
	if len(in.Value) > 0 {
		value, err := holdshort.Canonical(in.Value)
		if err != nil {
			return in, err
		}
		in.Value = value
	}
	return in, nil
}

// place finds the rows that deciding a request writes.
func (e *Engine) place(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) (place, error) {
	if at, ok := e.places.get(id); ok {
		return at, nil
	}
	req, err := e.RequestByID(ctx, tenant, id)
	if err != nil {
		return place{}, err
	}
	e.places.put(tenant, req, nil)
	return place{tenant: tenant, run: req.RunID, session: req.SessionID}, nil
}

// decide checks in the order in which people must hear it: not found, forbidden, expired, closed, other fingerprint, does not fit.
func (c *change) decide(in DecideInput, slot *slot, out *Decided) error {
	req, run, err := c.look(in.Request)
	if err != nil && (run == nil || !isDamaged(*run, err)) {
		return err
	}
	out.Request, out.Run = req, run
	if err := c.mayDecide(in.Actor, req, run); err != nil {
		return err
	}
	if err != nil { // nothing may be decided for a damaged run: the request stays open
		return err
	}
	c.channel = in.Channel
	d := holdshort.Decision{RequestID: req.ID, Action: in.Action, Actor: in.Actor, Message: in.Message, OptionIDs: in.OptionIDs, Value: in.Value, Calls: in.Calls,
		Raw: in.Raw, Channel: in.Channel, ResolvedBy: in.ResolvedBy, SelfApproved: ownRequest(in.Actor, req), Fingerprint: in.Fingerprint, At: c.now}
	d = withArgs(d, req, in.Args)
	closed, err := req.Decide(d, c.now)
	if err != nil {
		return c.standing(req, err, out)
	}
	if req.Kind == holdshort.Reconcile && d.Action == holdshort.Cancel {
		return &holdshort.Error{Code: holdshort.DoesNotFit, Field: "action", Message: "what became of a call cannot be canceled", Hint: "say that it happened, that it did not, or give up"}
	}
	if run != nil && run.Status.Ended() && req.Kind != holdshort.Reconcile {
		return &holdshort.Error{Code: holdshort.Closed, Op: "decide " + string(req.ID), Message: "its run is " + string(run.Status), Hint: "nothing is left to decide"}
	}
	if d, err = c.normal(req, d); err != nil {
		return err
	}
	next, err := c.edited(req, run, d)
	if err != nil {
		return err
	}
	d.Fingerprint = req.Fingerprint
	if next == nil {
		if more, err := c.gather(req, run, d, out); err != nil {
			return err
		} else if more {
			return c.noteVote(req, d)
		}
	}
	if in.CancelOnReject && closed.OnReject == holdshort.RejectContinue {
		closed.OnReject = holdshort.RejectCancel
	}
	return c.resolve(req, closed, d, run, next, slot, out)
}

// look gives a request and its run.
func (c *change) look(id holdshort.RequestID) (holdshort.Request, *holdshort.Run, error) {
	if c.known != nil {
		run := c.known.run
		return c.known.request, &run, nil
	}
	req, err := c.Request(id)
	if err != nil {
		return req, nil, err
	}
	run, err := c.runOf(req)
	return req, run, err
}

// runOf gives the run of a request, nil if it has none.
func (c *change) runOf(req holdshort.Request) (*holdshort.Run, error) {
	if req.RunID == "" {
		return nil, nil
	}
	run, err := c.Run(req.RunID)
	return &run, err
}

// errHidden tells a request that is hidden from one that is not there, to us alone.
var errHidden = errors.New("hidden")

func noSuchRequest(id holdshort.RequestID, err error) error {
	return &holdshort.Error{Code: holdshort.NotFound, Op: "load request " + clip(string(id)), Message: "no such request", Err: err, Hint: "check the id and the tenant"}
}

// mayDecide hides from those who may not look, and refuses those who may look and not decide.
func (c *change) mayDecide(actor holdshort.Actor, req holdshort.Request, run *holdshort.Run) error {
	r := resource(req, run)
	if ok, _ := policy.Can(policy.Decide, actor, r); ok {
		return mayDecideOwn(actor, req)
	}
	if ok, _ := policy.Can(policy.View, actor, r); !ok {
		return noSuchRequest(req.ID, errHidden)
	}
	return &holdshort.Error{Code: holdshort.Forbidden, Op: "decide " + string(req.ID), Message: clip(actor.ID) + " is not among those who may decide this",
		Hint: "hand it to somebody of its audience"}
}

func resource(req holdshort.Request, run *holdshort.Run) policy.Resource {
	r := policy.Resource{Audience: req.Audience, Requester: req.Requester, Owner: req.Requester.User}
	if run != nil {
		r.Owner = run.User
	}
	return r
}

// standing adds what stands to a refusal, so that whoever came too late sees it.
func (c *change) standing(req holdshort.Request, refusal error, out *Decided) error {
	if code := holdshort.CodeOf(refusal); code == holdshort.Closed {
		d, err := c.Decision(req.ID)
		if err == nil {
			out.Decision = &d
		} else if holdshort.CodeOf(err) != holdshort.NotFound {
			return err
		}
	}
	return refusal
}

// resolve stores the decision that wins and lets the run go on.
func (c *change) resolve(req, closed holdshort.Request, d holdshort.Decision, run *holdshort.Run, next *holdshort.Request, slot *slot, out *Decided) error {
	d, err := c.sign(d, c.e.keyring.SignDecision)
	if err != nil {
		return err
	}
	if err := c.AddDecision(d); err != nil {
		return err
	}
	event := "hitl.request.decided"
	if closed.Status == holdshort.RequestCanceled {
		event = "hitl.request.canceled"
	}
	if err := c.shut(run, req, closed, event, d.Actor.ID, holdshort.Code(d.Action), map[string]string{"decision": string(d.ID)}); err != nil {
		return err
	}
	if err := c.alsoDecided(run, closed, d); err != nil {
		return err
	}
	if err := c.noteDecision(closed, d, c.replied == req.ID); err != nil {
		return err
	}
	out.Request, out.Decision = closed, &d
	resumed := append([]any{"action", d.Action, "outcome", closed.Outcome, "actor", d.Actor.ID}, returnField(req)...)
	c.logRequest("HITL_RESUME_VALID", req, resumed...)
	if next != nil {
		return c.reopen(run, *next, d, out)
	}
	if run == nil {
		return c.settleGateByHand(closed, d)
	}
	err = c.answer(run, closed, d, slot)
	out.Run = run
	return err
}

func (c *change) sign(d holdshort.Decision, sign func(holdshort.TenantID, holdshort.Decision) (holdshort.Decision, error)) (holdshort.Decision, error) {
	d.ID = holdshort.NewDecisionID(c.now)
	return sign(c.Tenant(), d)
}

// resolvedEvents are further names under which a resolution of some kinds is published.
var resolvedEvents = map[holdshort.Kind]string{holdshort.Confirmation: "hitl.confirm.resolved", holdshort.Escalation: "hitl.escalation.resolved"}

func (c *change) alsoDecided(run *holdshort.Run, req holdshort.Request, d holdshort.Decision) error {
	if name, ok := resolvedEvents[req.Kind]; ok {
		return c.event(name, run, &req, d.Actor.ID, "", nil)
	}
	return nil
}

// answer puts the decision where the run's flow waits for it, and wakes the run.
func (c *change) answer(run *holdshort.Run, req holdshort.Request, d holdshort.Decision, slot *slot) error {
	switch {
	case req.Kind == holdshort.Reconcile:
		return c.settleByHand(run, req, d, slot)
	case d.Action == holdshort.Cancel && !req.TakeCancel, req.Outcome == holdshort.Rejected && req.OnReject == holdshort.RejectCancel:
		return c.cancelRun(run, holdshort.Code(d.Action), d.Actor.ID)
	}
	entry, err := c.answerEntry(run, req, d)
	if err != nil {
		return err
	}
	if err := c.AddJournal(entry); err != nil {
		return err
	}
	if err := c.event("hitl.interrupt.resumed", run, &req, d.Actor.ID, holdshort.Code(req.Outcome), nil); err != nil {
		return err
	}
	return c.wake(run, slot, d.Actor.ID)
}
