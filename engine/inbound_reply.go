package engine

import (
	"errors"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/reply"
)

// answer reads the message as the answer to a request and decides it on the same path as everybody else.
func (r *router) answer(req *holdshort.Request, usedCode bool) error {
	text := r.text
	if usedCode {
		_, text, _ = reply.SplitCode(text)
	}
	if r.body.Mute {
		r.hear("text", req)
		return r.refused(req, holdshort.Forbidden)
	}
	r.hear(holdshort.TypeReply, req)
	q := questionOf(*req, languagesOf(req, r.t.session, text))
	reading := reply.Read(text, &q)
	in, ok := decisionOf(reading, *req, &q)
	if !ok {
		return r.reask(req, &q, reading)
	}
	in.Actor, in.Raw, in.Channel = r.actor, r.kept(), r.in.Channel
	in, err := in.checked(r.c.e.config.Limits)
	if err != nil {
		return r.reask(req, &q, misread(err, &q))
	}
	if req.Kind == holdshort.Reconcile {
		return r.refused(req, "reconcile") // what became of a call is not settled in passing
	}
	var out Decided
	r.c.replied = req.ID
	err = r.c.decide(in, r.room(), &out)
	switch code := holdshort.CodeOf(err); {
	case err == nil:
		return r.decided(in, out, q.Languages)
	case code == holdshort.Expired, code == holdshort.Closed:
		return r.late(req)
	case out.Decision != nil:
		return err // it was refused after it was written: nothing of it may stand
	case code == holdshort.Forbidden, code == holdshort.NotFound, code == holdshort.AlreadyVoted:
		return r.refused(req, code)
	case code == holdshort.DoesNotFit, code == holdshort.Invalid, code == holdshort.NotCanonical, code == holdshort.TooLarge:
		return r.reask(req, &q, misread(err, &q))
	}
	return err
}

func (r *router) decided(in DecideInput, out Decided, languages []string) error {
	r.got.Outcome = RoutedVote
	if out.Decision != nil {
		r.got.Outcome, r.got.Decision = RoutedDecision, out.Decision.ID
	}
	if out.Run != nil {
		r.got.Run = out.Run.ID
	}
	if in.Action == holdshort.Cancel {
		r.notice(reply.Canceled, languages)
	}
	return nil
}

// misread turns a refusal of the kernel into what the person is told.
func misread(err error, q *reply.Question) reply.Reading {
	if holdshort.CodeOf(err) == holdshort.TooLarge {
		return reply.Reading{Reason: reply.TooLong}
	}
	var e *holdshort.Error
	if errors.As(err, &e) {
		for i := range q.Fields {
			if q.Fields[i].Name == e.Field {
				return reply.Reading{Reason: reply.WrongType, Field: e.Field}
			}
		}
	}
	return reply.Reading{Reason: reply.NotForm}
}

// reask asks the same request again: why, in the user's language, in front of the original question. Nothing else changes.
func (r *router) reask(req *holdshort.Request, q *reply.Question, why reply.Reading) error {
	run := r.c.originOf(req.RunID)
	if req.Reasks < r.c.e.config.Limits.Reasks {
		next, err := req.Reask(r.c.now)
		if err != nil {
			return err
		}
		if err := r.c.PutRequest(next); err != nil {
			return err
		}
	}
	r.got.Outcome = RoutedReask
	r.repeat(req, reply.AskAgainText(why, q, req.Question))
	r.c.logRequest("HITL_RE_ASK", *req, "why", why.String())
	return r.c.event("hitl.request.reasked", run, req, r.actor.ID, holdshort.Code(why.Reason), nil)
}

// repeat sends the question of an open request once more. It is in the session's memory already, so the model does not see it again.
func (r *router) repeat(req *holdshort.Request, text string) {
	m := r.t.tell(utterance{kind: "notice", shape: "reask", text: text, run: req.RunID, request: req, key: "reask/" + string(req.ID) + "/" + string(r.in.ID)})
	r.got.Replies = append(r.got.Replies, m.ID)
}

// askAgain is for a bare reply that may have been meant for something else: nothing is decided and nothing is counted. A question that is
// still on its way will arrive; one that was given up is tried again; one that arrived is repeated.
func (r *router) askAgain(req *holdshort.Request) error {
	run := r.c.originOf(req.RunID)
	r.hear("text", req)
	r.got.Outcome = RoutedAgain
	languages := languagesOf(req, r.t.session, r.text)
	again, err := r.hurry(req)
	if err != nil {
		return err
	}
	if again {
		r.repeat(req, reply.Say(reply.SayAgain, languages)+"\n\n"+req.Question)
	}
	return r.c.event("hitl.request.reasked", run, req, r.actor.ID, "HITL_ASKED_AGAIN", nil)
}

// hurry brings a question that was not delivered yet on its way. again: it was.
func (r *router) hurry(req *holdshort.Request) (again bool, err error) {
	if r.t.session.Address == "" {
		return true, nil
	}
	d, err := r.c.Delivery(questionDelivery(req.ID))
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	switch d.Status {
	case holdshort.DeliverySending:
		return false, nil
	case holdshort.DeliveryQueued, holdshort.DeliveryParked:
		d.DueAt = r.c.now // somebody is there
	case holdshort.DeliveryDead:
		if d, err = r.c.deliver(d, holdshort.DeliveryRedeliver); err != nil {
			return false, err
		}
	default:
		return true, nil
	}
	r.c.ring(topicOutbox)
	return false, r.c.PutDelivery(d)
}

// listCodes tells the codes of what is open and decides nothing.
func (r *router) listCodes() error {
	r.hear("text", nil)
	r.got.Outcome = RoutedCodes
	var codes []string
	for i := len(r.known) - 1; i >= 0; i-- { // oldest first
		if req := r.known[i]; req.Code != "" && req.StatusAt(r.c.now) == holdshort.RequestOpen {
			codes = append(codes, req.Code)
		}
	}
	r.notice(reply.SeveralOpen, languagesOf(nil, r.t.session, r.text), "{codes}", strings.Join(codes, ", "))
	return nil
}

// late is for an answer to a request that is closed, or that nobody knows: it changes nothing.
func (r *router) late(req *holdshort.Request) error {
	if r.heard == 0 {
		r.hear("text", req)
	}
	languages := languagesOf(req, r.t.session, r.text)
	if req != nil && req.StatusAt(r.c.now) == holdshort.RequestExpired {
		return r.stale(req, RoutedExpired, reply.Expired, "HITL_EXPIRED", languages)
	}
	return r.stale(req, RoutedStale, reply.AlreadyClosed, "HITL_STALE_REPLY", languages)
}

func (r *router) stale(req *holdshort.Request, outcome Routing, message reply.Message, code holdshort.Code, languages []string) error {
	r.got.Outcome = outcome
	r.notice(message, languages)
	about := holdshort.Request{SessionID: r.in.SessionID}
	if req != nil {
		about = *req
	}
	r.c.logRequest(string(code), about, "origin_step_id", about.OriginStepID, "inbound_id", r.in.ID)
	return r.c.event("message.stale", r.c.originOf(about.RunID), &about, r.actor.ID, code, map[string]string{"inbound": string(r.in.ID)})
}

// refused: whoever wrote it may not. It is kept, the model does not see it, and nothing comes of it.
func (r *router) refused(req *holdshort.Request, code holdshort.Code) error {
	r.own().ModelVisible = false
	r.got.Outcome = RoutedRefused
	return r.c.event("access.denied", r.c.originOf(req.RunID), req, clip(r.actor.ID), code, map[string]string{"inbound": string(r.in.ID)})
}
