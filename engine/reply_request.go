package engine

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/reply"
	"github.com/holdshort/holdshort/store"
)

// ReplyInput is what somebody wrote in answer to a request that they name.
type ReplyInput struct {
	Request  holdshort.RequestID
	Actor    holdshort.Actor
	Text     string
	Language string // default: the request's, else the session's
	Channel  string
}

// Reply reads a text as the answer to a request and decides it. What cannot be read decides nothing: InvalidReply, whose message is the
// question asked again. What became of a call is not settled in passing: a reconcile request takes a decision only.
func (e *Engine) Reply(ctx context.Context, tenant holdshort.TenantID, in ReplyInput) (Decided, error) {
	op := "reply to " + string(in.Request)
	if err := checkText(op, "text", in.Text, e.config.Limits.Text); err != nil {
		return Decided{}, err
	}
	seen, err := e.RequestFor(ctx, tenant, in.Request, in.Actor)
	if err != nil {
		return Decided{}, err
	}
	req := seen.Request
	if req.Kind == holdshort.Reconcile {
		return Decided{}, &holdshort.Error{Code: holdshort.DoesNotFit, Op: op, Message: "what became of a call is not settled by a text", Hint: "send a decision with one of its options"}
	}
	languages, err := e.languages(ctx, tenant, req, in)
	if err != nil {
		return Decided{}, err
	}
	q := questionOf(req, languages)
	reading := reply.Read(in.Text, &q)
	decision, ok := decisionOf(reading, req, &q)
	if !ok {
		return Decided{}, &holdshort.Error{Code: holdshort.InvalidReply, Op: op, Field: "text", Message: reply.AskAgainText(reading, &q, req.Question), Hint: "answer the question as it is asked, or send a decision"}
	}
	decision.Actor, decision.Raw, decision.Channel, decision.Fingerprint = in.Actor, in.Text, in.Channel, req.Fingerprint
	return e.Decide(ctx, tenant, decision)
}

// languages in which a reply to a request is read.
func (e *Engine) languages(ctx context.Context, tenant holdshort.TenantID, req holdshort.Request, in ReplyInput) ([]string, error) {
	if in.Language != "" {
		return []string{in.Language}, nil
	}
	var session holdshort.Session
	if req.SessionID != "" {
		err := e.store.View(ctx, tenant, func(tx store.ReadTx) (err error) {
			session, err = tx.Session(req.SessionID)
			return err
		})
		if err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
			return nil, err
		}
	}
	return languagesOf(&req, session, in.Text), nil
}

// JournalFor gives what a run recorded to somebody who may see the run. What calls were given and gave is for those who may see everything:
// the run's own user, administrators and auditors.
func (e *Engine) JournalFor(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID, actor holdshort.Actor) ([]holdshort.JournalEntry, error) {
	run, err := e.RunFor(ctx, tenant, id, actor)
	if err != nil {
		return nil, err
	}
	entries, err := e.Journal(ctx, tenant, id)
	entries, _ = recordedFor(entries, run, actor)
	return entries, err
}

// OpenRequests are the requests that a run waits for.
func (e *Engine) OpenRequests(ctx context.Context, tenant holdshort.TenantID, run holdshort.Run) (ids []holdshort.RequestID, err error) {
	page, err := e.Requests(ctx, tenant, RequestQuery{Run: run.ID, Status: holdshort.RequestOpen, Limit: store.MaxPage})
	for _, req := range page.Items {
		ids = append(ids, req.ID)
	}
	return ids, err
}
