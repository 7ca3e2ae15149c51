package engine

import (
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/reply"
)

// freeSession lets a session go on without a run that is held as corrupt: its next message starts a new run, and the place of the prompt
// is free. The run's requests stay open for whoever restores its rows.
func (c *change) freeSession(run holdshort.Run) error {
	if run.SessionID == "" {
		return nil
	}
	t, err := c.chat(run.SessionID)
	if err != nil || t == nil {
		return ignoreCorrupt(err)
	}
	if t.session.ActiveRun == run.ID {
		t.session.ActiveRun, t.dirty = "", true
	}
	if t.session.Prompt == "" {
		return nil
	}
	req, err := c.Request(t.session.Prompt)
	if ignoreCorrupt(err) != nil || req.RunID != run.ID {
		return ignoreCorrupt(err)
	}
	return c.freePrompt(req)
}

// ignoreCorrupt drops the error of a row that cannot be read.
func ignoreCorrupt(err error) error {
	if holdshort.CodeOf(err) == holdshort.Corrupt {
		return nil
	}
	return err
}

// cancelUnreadable closes a request whose row is damaged. It has the ids that can still be read.
func (c *change) cancelUnreadable(req holdshort.Request, run *holdshort.Run, actor string) error {
	if err := c.CancelUnreadable(req.ID); err != nil {
		return err
	}
	if run != nil && run.Open > 0 {
		run.Open--
	}
	c.ring(requestTopic(req.ID))
	req.Status, req.ClosedAt = holdshort.RequestCanceled, c.now
	c.logs = append(c.logs, func() {
		c.e.log.Error("a request is canceled: its row is damaged", "request_id", req.ID, "run_id", req.RunID, "code", holdshort.Corrupt)
	})
	if err := c.event("hitl.request.canceled", run, &req, actor, holdshort.Corrupt, nil); err != nil {
		return err
	}
	return c.freePrompt(req)
}

// freePrompt frees the place of a prompt that cannot be answered. Its question is not sent if that was to happen in this transaction.
func (c *change) freePrompt(req holdshort.Request) error {
	if req.SessionID == "" {
		return nil
	}
	t, err := c.chat(req.SessionID)
	if err != nil || t == nil || t.session.Prompt != req.ID {
		return ignoreCorrupt(err)
	}
	t.session.Prompt, t.freed, t.dirty = "", true, true
	t.deliveries = slices.DeleteFunc(t.deliveries, func(d holdshort.Delivery) bool { return d.RequestID == req.ID })
	return nil
}

// setAside cancels the session's prompt, whose row is damaged, and holds the run that waits for it: the message that found it is the next
// one of the conversation.
func (r *router) setAside(req holdshort.Request) error {
	var run *holdshort.Run
	if req.RunID != "" {
		got, err := r.c.Tx.Run(req.RunID)
		switch {
		case err == nil && !got.Status.Ended():
			run = &got
		case err != nil && !isDamaged(got, err) && holdshort.CodeOf(err) != holdshort.NotFound:
			return err
		}
	}
	if err := r.c.cancelUnreadable(req, run, "system:chat"); err != nil || run == nil || run.Held != nil {
		return err
	}
	return r.c.holdCorrupt(run)
}

// bindSound finds what the message answers among requests whose runs can go on. One whose run is damaged cannot be answered: the message
// must not be asked about for ever.
func (r *router) bindSound() (reply.Binding, error) {
	for {
		b, err := r.bind()
		req := r.request(holdshort.RequestID(b.ID))
		if err != nil || req == nil || req.RunID == "" || req.Status != holdshort.RequestOpen {
			return b, err
		}
		run, err := r.c.Tx.Run(req.RunID)
		switch {
		case isDamaged(run, err):
			if run.Held != nil && run.Held.Since.IsZero() {
				err = r.c.holdUnreadable(&run)
			} else {
				err = nil
			}
		case err != nil || run.Held == nil || run.Held.Code != holdshort.Corrupt:
			return b, ignoreNotFound(err)
		}
		if err != nil {
			return b, err
		}
		if err := r.c.freePrompt(*req); err != nil {
			return b, err
		}
		r.known = slices.DeleteFunc(r.known, func(k holdshort.Request) bool { return k.ID == holdshort.RequestID(b.ID) })
	}
}

func ignoreNotFound(err error) error {
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return nil
	}
	return err
}
