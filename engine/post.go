package engine

import (
	"context"
	"encoding/json"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// PostInput is something sent to a run, for one of its Waits.
type PostInput struct {
	Run   holdshort.RunID
	ID    string // of the sender: the same id again is the same post
	Name  string // of the Wait
	Body  json.RawMessage
	Actor holdshort.Actor
}

// Post hands something to a run. If none of its Waits is there yet it is kept for the one that comes; the same id with another body is
// Duplicate.
func (e *Engine) Post(ctx context.Context, tenant holdshort.TenantID, in PostInput) (run holdshort.Run, err error) {
	if in.ID == "" || in.Name == "" || len(in.ID) > 200 || len(in.Body) > 0 && !json.Valid(in.Body) {
		return run, &holdshort.Error{Code: holdshort.Invalid, Op: "post to " + string(in.Run), Message: "a post has an id of at most 200 bytes, a name, and a body that is JSON", Hint: "send all three"}
	}
	raw, err := json.Marshal(post{Name: in.Name, Body: in.Body})
	if err != nil {
		return run, err
	}
	slot := e.slot()
	defer slot.spare()
	err = e.update(ctx, tenant, func(c *change) error {
		if run, err = c.runFor(policy.Post, in.Actor, in.Run); err != nil {
			return err
		}
		return c.post(&run, postKey(in.ID), raw, slot, in.Actor.ID)
	}, store.RunRow(in.Run))
	if holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, in.Actor, "hitl.run.post", holdshort.Request{RunID: in.Run, SessionID: run.SessionID, TraceID: run.TraceID})
	}
	return run, err
}

func (c *change) post(run *holdshort.Run, key string, raw json.RawMessage, slot *slot, actor string) error {
	entries, err := c.Journal(run.ID)
	if err != nil && holdshort.CodeOf(err) != holdshort.Corrupt { // the run keeps the post until it is retried or canceled
		return err
	}
	for _, e := range entries {
		if e.Key == key {
			unreadable := err != nil && len(e.Outcome) == 0
			if !unreadable && string(e.Outcome) != string(raw) {
				return &holdshort.Error{Code: holdshort.Duplicate, Op: "post to " + string(run.ID), Message: "the id was used for something else", Hint: "take a new id"}
			}
			return nil
		}
	}
	if run.Status.Ended() {
		return &holdshort.Error{Code: holdshort.Closed, Op: "post to " + string(run.ID), Message: "the run is " + string(run.Status), Hint: "start a new one"}
	}
	if err := c.AddJournal(holdshort.JournalEntry{RunID: run.ID, Key: key, Attempt: run.Attempt, Kind: kindPost, Outcome: raw, Started: c.now, Ended: c.now}); err != nil {
		return err
	}
	fact := map[string]string{"post": c.e.keyring.TenantHash(c.Tenant(), "post", []byte(key))}
	if err := c.event("run.posted", run, nil, actor, "", fact); err != nil {
		return err
	}
	return c.wake(run, slot, actor)
}
