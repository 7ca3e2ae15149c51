package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// AskInput raises a request that no run waits for: the gate, for agents that live outside. Kind, Actor and either Question or Actions are
// needed.
type AskInput struct {
	// ID is the caller's own: the same id of the same key again gives the request that it raised. Default: every call raises a new one.
	ID            string
	Kind          holdshort.Kind          // clarification, approval, disambiguation, confirmation or escalation
	Question      string                  // default, where there are actions: the policy's, or one that names them
	ExpectedInput holdshort.ExpectedInput // default: what the kind usually takes
	Options       []holdshort.Option
	Schema        json.RawMessage // of a form
	Actions       []AskAction
	Audience      holdshort.Audience  // default: the policy's; it can only be narrowed
	Priority      holdshort.Priority  // default: the policy's
	ExpiresIn     time.Duration       // default: the policy's; it can only be shortened. policy.Never: never
	OnTimeout     holdshort.OnTimeout // default: the policy's; never approve
	Context       json.RawMessage     // an object, shown to whoever decides
	Language      string
	Session       holdshort.SessionID
	Actor         holdshort.Actor // the key that raises it, and the only one that claims it
	ForUser       string          // default: whom the key speaks for, or the session's user
	CallbackURL   string          `json:",omitempty"` // is told when the request closes
}

// AskAction is one call that the raiser wants to make once it is approved.
type AskAction struct {
	CallID string          `json:"call_id,omitempty"` // default: call_1, call_2 …
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args,omitempty"` // default: {}
}

// Asked is what became of it: open, or resolved at once by the policy.
type Asked struct {
	Request  holdshort.Request   `json:"request"`
	Decision *holdshort.Decision `json:"decision,omitempty"`
	Replayed bool                `json:"-"` // an earlier call under the same id raised it
}

// Ask raises a request from outside. The policy judges every action: what it allows or denies is stored resolved already, by an actor that
// names the rule; what it has no opinion on waits for a person.
func (e *Engine) Ask(ctx context.Context, tenant holdshort.TenantID, in AskInput) (out Asked, err error) {
	draft, err := in.draft(e)
	if err == nil {
		err = e.raise(ctx, tenant, in, draft, &out)
	}
	if holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, in.Actor, "hitl.request.raise", holdshort.Request{})
	}
	return out, err
}

func (e *Engine) raise(ctx context.Context, tenant holdshort.TenantID, in AskInput, draft holdshort.Request, out *Asked) error {
	scope, rows := "ask "+in.Actor.ID, []store.Row{store.Row("ask:" + holdshort.NewSalt())} // it writes what nobody else knows of yet
	var content []byte
	if in.ID != "" {
		var err error
		if content, err = in.content(); err != nil {
			return err
		}
		rows = []store.Row{store.Row("replay:" + scope + "\x00" + in.ID)}
	}
	if in.Session != "" {
		rows = append(rows, store.SessionRow(in.Session))
	}
	return e.update(ctx, tenant, func(c *change) error {
		*out = Asked{}
		if in.ID != "" {
			if before, err := c.askedBefore(scope, in.ID, content, out); err != nil || before {
				return err
			}
		}
		if err := c.raiseGate(in, draft, out); err != nil || in.ID == "" {
			return err
		}
		return c.AddReplay(store.Replay{Scope: scope, Key: in.ID, BodyHash: e.keyring.TenantHash(tenant, "ask", content), Status: 201,
			Answer: []byte(out.Request.ID), At: c.now})
	}, rows...)
}

// content names what is asked for, so that one id cannot mean two things.
func (in AskInput) content() ([]byte, error) {
	in.ID, in.Actor = "", holdshort.Actor{ForUser: in.Actor.ForUser}
	return holdshort.CanonicalValue(in)
}

// askedBefore gives the request that was raised under the same id.
func (c *change) askedBefore(scope, id string, content []byte, out *Asked) (bool, error) {
	before, err := c.Replay(scope, id)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	same, err := c.e.keyring.SameTenantHash(c.Tenant(), "ask", before.BodyHash, content)
	if err != nil {
		return false, err
	}
	if !same {
		return false, &holdshort.Error{Code: holdshort.Duplicate, Op: "raise request", Field: "id", Message: "the id was used for another request", Hint: "take a new id, or send the same request"}
	}
	if out.Request, err = c.Request(holdshort.RequestID(before.Answer)); err != nil {
		return false, err
	}
	out.Replayed = true
	if out.Request.Status != holdshort.RequestResolved {
		return true, nil
	}
	d, err := c.Decision(out.Request.ID)
	out.Decision = &d
	return true, err
}

// raiseGate judges, narrows, stores.
func (c *change) raiseGate(in AskInput, draft holdshort.Request, out *Asked) error {
	if err := c.onBehalf(in, &draft); err != nil {
		return err
	}
	v, err := c.weigh(in, &draft)
	if err != nil {
		return err
	}
	req, err := c.complete(nil, draft)
	if err != nil {
		return err
	}
	req.TraceID = string(req.ID)
	if v.Decision != policy.Ask {
		return c.resolveAtOnce(req, v, out)
	}
	out.Request, err = c.openGate(req, in.Actor.ID)
	return err
}

// onBehalf says whom the request is made for. A key speaks for a user only if whoever authenticated it says so.
func (c *change) onBehalf(in AskInput, draft *holdshort.Request) error {
	user := in.ForUser
	if user == "" {
		user = in.Actor.ForUser
	} else if user != in.Actor.ForUser && user != in.Actor.ID {
		return &holdshort.Error{Code: holdshort.Forbidden, Op: "raise request", Field: "for_user", Message: clip(in.Actor.ID) + " does not speak for " + clip(user), Hint: "use a key with scope act_as_user"}
	}
	if in.Session != "" {
		session, err := c.Session(in.Session)
		if err != nil {
			return err
		}
		if user != "" && user != session.User {
			return &holdshort.Error{Code: holdshort.Forbidden, Op: "raise request", Field: "session_id", Message: "the session belongs to somebody else", Hint: "name a session of the user whom the key speaks for"}
		}
		user = session.User
		page, err := c.Requests(store.RequestQuery{Session: in.Session, Status: holdshort.RequestOpen, Limit: min(c.e.config.Limits.OpenRequests, store.MaxPage)})
		if err != nil {
			return err
		}
		if len(page.Items)+len(page.Corrupt) >= c.e.config.Limits.OpenRequests {
			return &holdshort.Error{Code: holdshort.LimitReached, Op: "raise request", Message: "the session has as many open requests as it may", Hint: "have some of them decided or canceled first"}
		}
	}
	draft.Requester = holdshort.Requester{User: user, RaisedBy: in.Actor.ID, RaisedName: in.Actor.Name}
	return nil
}

// openGate stores a request that no run waits for and asks it, in the name of whoever raised it.
func (c *change) openGate(req holdshort.Request, actor string) (holdshort.Request, error) {
	if err := c.ask(nil, &req); err != nil {
		return req, err
	}
	if err := c.PutRequest(req); err != nil {
		return req, err
	}
	c.e.places.put(c.Tenant(), req, nil)
	c.ring(requestTopic(req.ID))
	if err := c.pausedEvents(nil, req, actor); err != nil {
		return req, err
	}
	c.logRequest("HITL_CREATED", req, "kind", req.Kind, "reason", req.Reason, "source", req.Source, "raised_by", req.Requester.RaisedBy)
	return req, nil
}

// resolveAtOnce stores a request that the policy allows or denies: decided already, signed like any decision.
func (c *change) resolveAtOnce(req holdshort.Request, v policy.Verdict, out *Asked) error {
	verb, said := holdshort.Reject, "denied by the policy"
	if v.Decision == policy.Allow {
		verb, said = holdshort.Approve, "allowed by the policy"
	}
	d := holdshort.Decision{RequestID: req.ID, Action: verb, Actor: policyActor(v.Rule), Message: said, Fingerprint: req.Fingerprint, At: c.now}
	closed, err := req.Decide(d, c.now)
	if err != nil {
		return err
	}
	if d, err = c.normal(req, d); err != nil {
		return err
	}
	if d, err = c.sign(d, c.e.keyring.SignDecision); err != nil {
		return err
	}
	if err := c.PutRequest(closed); err != nil {
		return err
	}
	if err := c.AddDecision(d); err != nil {
		return err
	}
	c.e.places.put(c.Tenant(), closed, nil)
	c.ring(requestTopic(closed.ID))
	out.Request, out.Decision = closed, &d
	if err := c.event("hitl.request.created", nil, &req, clip(req.Requester.RaisedBy), holdshort.Code(req.Reason), nil); err != nil {
		return err
	}
	if err := c.callback(closed, "hitl.request.decided"); err != nil {
		return err
	}
	return c.event("hitl.request.decided", nil, &closed, d.Actor.ID, holdshort.Code(d.Action), map[string]string{"decision": string(d.ID), "raised_by": clip(req.Requester.RaisedBy)})
}

// policyActor is who decides what needs no person.
func policyActor(rule string) holdshort.Actor {
	if rule == "" {
		rule = "unnamed"
	}
	return holdshort.SystemActor("policy:" + clip(rule))
}
