package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// Names of what is denied, in the log.
const (
	actTakeover = "hitl.takeover.start"
	actHandback = "hitl.takeover.end"
	actSay      = "hitl.takeover.say"
	actResolve  = "hitl.escalation.resolve"
	actAppend   = "hitl.session.append"
	actPin      = "hitl.session.pin"
)

// TakeoverInput says who answers the user of a session from now on.
type TakeoverInput struct {
	Session holdshort.SessionID
	Actor   holdshort.Actor
}

// Takeover gives a session to a person. From its commit on the AI is silent there: what runs say is kept and not sent, what they ask waits for
// the handback, and what the user writes is stored for the person and neither answers a question nor starts a run. Whoever has the session
// already gets it as it is; one that somebody else has is WrongState.
func (e *Engine) Takeover(ctx context.Context, tenant holdshort.TenantID, in TakeoverInput) (s holdshort.Session, err error) {
	err = e.inSession(ctx, tenant, in.Session, in.Actor, policy.TakeOver, actTakeover, func(c *change, t *chat) error {
		if s = t.session; s.Mode == holdshort.ModeTakeover {
			if s.TakenBy == in.Actor.ID {
				return nil
			}
			return takenBy(actTakeover, s)
		}
		if !s.EndedAt.IsZero() {
			return &holdshort.Error{Code: holdshort.Closed, Op: "take over " + string(s.ID), Message: "the session ended", Hint: "take the current one over"}
		}
		next, err := s.Apply(holdshort.TakeoverStart, c.now)
		if err != nil {
			return err
		}
		next.TakenBy, next.TakenAt = in.Actor.ID, c.now
		s, t.session, t.dirty = next, next, true
		return c.eventOver(s.Channel, "hitl.live_takeover.started", nil, &holdshort.Request{SessionID: s.ID}, in.Actor.ID, "", nil)
	})
	if err != nil {
		return holdshort.Session{}, err
	}
	e.deltas.mute(tenant, s.ID)
	return s, nil
}

func takenBy(op string, s holdshort.Session) error {
	return &holdshort.Error{Code: holdshort.WrongState, Op: op + " " + string(s.ID), Message: clip(s.TakenBy) + " has the session since " + s.TakenAt.UTC().Format(time.RFC3339),
		Hint: "let it be handed back first"}
}

// inSession is one use case within a session: it must be there, and the actor must be allowed. A refusal leaves its event.
func (e *Engine) inSession(ctx context.Context, tenant holdshort.TenantID, id holdshort.SessionID, actor holdshort.Actor, a policy.Action, name string,
	do func(*change, *chat) error) error {
	hidden := false
	err := e.update(ctx, tenant, func(c *change) error {
		hidden = false
		t, err := c.chat(id)
		if err != nil {
			return err
		}
		if t == nil {
			return noSession(id)
		}
		if err := mayIn(a, actor, t.session); err != nil {
			hidden = holdshort.CodeOf(err) == holdshort.NotFound
			return err
		}
		return do(c, t)
	}, store.SessionRow(id))
	if hidden || holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, actor, name, holdshort.Request{SessionID: id})
	}
	return err
}

// mayIn refuses who may not, and agents where a person is to speak.
func mayIn(a policy.Action, actor holdshort.Actor, s holdshort.Session) error {
	if actor.Kind == holdshort.Agent && (a == policy.TakeOver || a == policy.Say) {
		return &holdshort.Error{Code: holdshort.Forbidden, Op: string(a) + " " + string(s.ID), Message: "an agent is not a person", Hint: "let a person take the session over"}
	}
	return allowed(a, actor, policy.Resource{Owner: s.User}, "session", string(s.ID))
}

// mayHold lets whoever took the session over go on, and those who look after the system.
func mayHold(op string, actor holdshort.Actor, s holdshort.Session) error {
	if s.TakenBy == actor.ID || actor.HasRole(policy.Admin) || actor.HasRole(policy.Operator) || actor.Kind == holdshort.System {
		return nil
	}
	return &holdshort.Error{Code: holdshort.Forbidden, Op: op + " " + string(s.ID), Message: clip(s.TakenBy) + " has the session", Hint: "ask them, or an operator"}
}

func noSession(id holdshort.SessionID) error {
	return &holdshort.Error{Code: holdshort.NotFound, Op: "load session " + clip(string(id)), Message: "no such session", Hint: "check the id and the tenant"}
}
