package engine

import (
	"encoding/json"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/reply"
)

// fresh is for a message that answers nothing: a late answer, something for the session's run, or the start of a new one.
func (r *router) fresh() error {
	languages := languagesOf(nil, r.t.session, r.text)
	if last := r.lastClosed(); last != nil && reply.LooksLikeAnswer(r.text, languagesOf(last, r.t.session, r.text)) {
		r.hear("text", last)
		if last.Status == holdshort.RequestExpired {
			return r.stale(last, RoutedExpired, reply.Expired, "HITL_EXPIRED", languages)
		}
		return r.stale(last, RoutedStale, reply.Stale, "HITL_STALE_REPLY", languages)
	}
	r.hear("text", nil)
	if !r.mayPost() {
		return r.refused(&holdshort.Request{SessionID: r.in.SessionID}, holdshort.Forbidden)
	}
	text, parts := r.given()
	body, err := json.Marshal(messageBody{Text: text, Parts: parts, Message: r.got.Message, Session: r.in.SessionID})
	if err != nil {
		return err
	}
	run, err := r.activeRun()
	if err != nil {
		return err
	}
	if run != nil {
		raw, err := json.Marshal(post{Name: messagePost, Body: body})
		if err != nil {
			return err
		}
		r.got.Outcome, r.got.Run, r.own().RunID = RoutedPost, run.ID, run.ID
		return r.c.post(run, postKey(string(r.in.ID)), raw, r.room(), r.actor.ID)
	}
	if r.t.session.Flow == "" {
		return nil
	}
	begun, err := r.c.begin(r.t, body, string(r.in.ID), r.actor, r.room())
	r.got.Outcome, r.got.Run, r.own().RunID = RoutedStart, begun.ID, begun.ID
	return err
}

func (r *router) mayPost() bool {
	ok, _ := policy.Can(policy.Post, r.actor, policy.Resource{Owner: r.t.session.User})
	return ok
}

// messagePost is the name under which a run's Wait takes messages of its session.
const messagePost = "message"

// messageBody is what a run gets of a message: as a post, or as its input.
type messageBody struct {
	Text    string              `json:"text"`
	Parts   []holdshort.Part    `json:"parts,omitempty"`
	Message holdshort.MessageID `json:"message_id"`
	Session holdshort.SessionID `json:"session_id"`
}

// lastClosed gives the prompt that closed last, if that is so short ago that a late answer may be on its way.
func (r *router) lastClosed() (last *holdshort.Request) {
	for i := range r.known {
		req := &r.known[i]
		if !req.Prompt || req.AskedAt.IsZero() || req.Status == holdshort.RequestOpen || r.c.now.Sub(req.ClosedAt) > staleTime {
			continue
		}
		if last == nil || req.ClosedAt.After(last.ClosedAt) {
			last = req
		}
	}
	return last
}

// activeRun gives the run that takes the session's messages, nil if it is over.
func (r *router) activeRun() (*holdshort.Run, error) {
	id := r.t.session.ActiveRun
	if id == "" {
		return nil, nil
	}
	run, err := r.c.Run(id)
	gone := holdshort.CodeOf(err) == holdshort.NotFound || err == nil && (run.Status.Ended() || run.Held != nil && run.Held.Code == holdshort.Corrupt)
	if gone || isDamaged(run, err) { // a damaged run can keep no message: the session goes on without it
		return nil, nil
	}
	return &run, err
}

// begin starts a run of the session's flow within the transaction, with posts in its journal.
func (c *change) begin(t *chat, input json.RawMessage, trace string, by holdshort.Actor, s *slot, posts ...holdshort.JournalEntry) (holdshort.Run, error) {
	ses := t.session
	if by.Who() == ses.User {
		by = holdshort.Actor{ID: ses.User}
	}
	run, err := c.e.newRun(c.Tenant(), StartInput{Flow: ses.Flow, Session: ses.ID, Agent: ses.Agent, User: ses.User, Actor: by, Trace: trace, Input: input})
	if err != nil {
		return run, err
	}
	run.CreatedAt, run.UpdatedAt = c.now, c.now
	ours, err := c.claim(&run, c.room(s))
	if err != nil {
		return run, err
	}
	for _, e := range posts {
		e.RunID, e.Attempt, e.Started, e.Ended = run.ID, run.Attempt, c.now, c.now
		if err := c.AddJournal(e); err != nil {
			return run, err
		}
	}
	if err := c.PutRun(&run); err != nil {
		return run, err
	}
	run.Revision++
	t.session.ActiveRun, t.dirty = run.ID, true
	if err := c.event("run.created", &run, nil, starter(run), "", nil); err != nil {
		return run, err
	}
	if !ours {
		c.ring(topicRuns)
		return run, nil
	}
	c.taken = append(c.taken, claimed{run: run, slot: s})
	return run, c.event("run.started", &run, nil, "system:worker", "", nil)
}
