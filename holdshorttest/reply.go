package holdshorttest

import (
	"context"
	"fmt"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// reply is what somebody does with a request, apart from who it is and which request.
type reply = engine.DecideInput

func answering(k *Kit, value any) *reply {
	return &reply{Action: holdshort.Answer, Value: k.json("answer", value)}
}

func editing(k *Kit, args any) *reply {
	return &reply{Action: holdshort.Edit, Args: k.json("arguments", args)}
}

func responding(k *Kit, text string) *reply {
	return &reply{Action: holdshort.Respond, Value: k.json("response", text)}
}

// perCall decides a batch call by call. Rejecting every call is rejecting the whole.
func perCall(calls []holdshort.CallDecision) *reply {
	r := &reply{Action: holdshort.Reject, Calls: calls}
	for _, c := range calls {
		if c.Action != holdshort.Reject {
			r.Action = holdshort.Approve
		}
	}
	return r
}

// Approve says yes.
func (p *Person) Approve(req holdshort.Request) {
	p.k.t.Helper()
	p.does(req, &reply{Action: holdshort.Approve})
}

// Reject says no.
func (p *Person) Reject(req holdshort.Request, message string) {
	p.k.t.Helper()
	p.does(req, &reply{Action: holdshort.Reject, Message: message})
}

// Edit approves the only call of a request with other arguments.
func (p *Person) Edit(req holdshort.Request, args any) {
	p.k.t.Helper()
	p.does(req, editing(p.k, args))
}

// Answer gives the text of an Ask, or the fields of a Form.
func (p *Person) Answer(req holdshort.Request, value any) {
	p.k.t.Helper()
	p.does(req, answering(p.k, value))
}

// Choose picks options by their ids.
func (p *Person) Choose(req holdshort.Request, ids ...string) {
	p.k.t.Helper()
	p.does(req, &reply{Action: holdshort.Select, OptionIDs: ids})
}

// Respond answers in the tool's place.
func (p *Person) Respond(req holdshort.Request, text string) {
	p.k.t.Helper()
	p.does(req, responding(p.k, text))
}

// Calls decides a batch call by call.
func (p *Person) Calls(req holdshort.Request, calls ...holdshort.CallDecision) {
	p.k.t.Helper()
	p.does(req, perCall(calls))
}

// Cancel takes the question back.
func (p *Person) Cancel(req holdshort.Request, reason string) {
	p.k.t.Helper()
	p.does(req, &reply{Action: holdshort.Cancel, Message: reason})
}

func (p *Person) does(req holdshort.Request, r *reply) {
	k := p.k
	k.t.Helper()
	in := *r
	in.Request, in.Actor = req.ID, p.actor
	if _, err := k.Decide(in); err != nil {
		k.refused(req, in, err)
	}
}

// Decision begins the input of Kit.Decide: who decides what. Add the action.
func Decision(req holdshort.Request, id string, roles ...string) engine.DecideInput {
	return engine.DecideInput{Request: req.ID, Actor: person(id, roles...)}
}

// Decide is the use case itself: for decisions that must be refused, and for what the verbs do not say. The run goes on before it returns.
func (k *Kit) Decide(in engine.DecideInput) (engine.Decided, error) {
	k.t.Helper()
	k.clock.nudge()
	out, err := k.engine.Decide(context.Background(), k.Tenant(), in)
	k.settle()
	return out, err
}

// refused explains why a decision that the test counts on was not taken.
func (k *Kit) refused(req holdshort.Request, in engine.DecideInput, err error) {
	k.t.Helper()
	who := in.Actor.ID
	if len(in.Actor.Roles) > 0 {
		who += fmt.Sprintf(" (roles %v)", in.Actor.Roles)
	}
	switch holdshort.CodeOf(err) {
	case holdshort.NotFound, holdshort.Forbidden:
		k.t.Fatalf("holdshorttest: %s may not decide %s: it asks %s: give somebody of those the floor", who, k.about(req), audience(req, k.ownerOf(req)))
	}
	k.t.Fatalf("holdshorttest: %s cannot %s %s: %v%s", who, in.Action, k.about(req), err, hint(err))
}
