package engine

import (
	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// shut stores a request that closed, and everything that hangs on its being open. The run, if there is one, is stored by the caller.
func (c *change) shut(run *holdshort.Run, was, now holdshort.Request, event, actor string, code holdshort.Code, data any) error {
	if err := c.PutRequest(now); err != nil {
		return err
	}
	if err := c.undue(was); err != nil {
		return err
	}
	if err := c.unask(now); err != nil {
		return err
	}
	if run != nil && run.Open > 0 {
		run.Open--
	}
	c.ring(requestTopic(now.ID))
	if err := c.callback(now, event); err != nil {
		return err
	}
	c.closed = append(c.closed, now)
	return c.event(event, run, &now, actor, code, data)
}

// cancelOpen closes what a run that ends still asks.
func (c *change) cancelOpen(run *holdshort.Run, reason, actor string) error {
	if run.Open == 0 {
		return nil
	}
	var open []holdshort.Request
	var unreadable []string
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := c.Requests(store.RequestQuery{Run: run.ID, Status: holdshort.RequestOpen, Cursor: cursor})
		if err != nil {
			return err
		}
		open, cursor = append(open, page.Items...), page.Next
		unreadable = append(unreadable, page.Corrupt...)
	}
	for _, id := range unreadable {
		req, err := c.Request(holdshort.RequestID(id))
		switch holdshort.CodeOf(err) {
		case "": // its row was restored meanwhile
			open = append(open, req)
		case holdshort.Corrupt:
			err = c.cancelUnreadable(req, run, actor)
		}
		if err != nil {
			return err
		}
	}
	for _, req := range open {
		if req.Kind == holdshort.Reconcile {
			continue // what became of a call is to be known even when its run is over
		}
		next, err := req.Cancel(reason, c.now)
		if holdshort.CodeOf(err) == holdshort.Expired {
			next, err = req.Expire(c.now)
		}
		if err != nil {
			return err
		}
		if err := c.shut(run, req, next, "hitl.request.canceled", actor, holdshort.Code(reason), nil); err != nil {
			return err
		}
	}
	return nil
}

// end finishes a run: nothing of it waits any longer.
func (c *change) end(run *holdshort.Run, input holdshort.RunInput, event, actor string, code holdshort.Code, data any) error {
	if err := c.cancelOpen(run, "run_ended", actor); err != nil {
		return err
	}
	next, err := run.Apply(input, c.now)
	if err != nil {
		return err
	}
	*run = next
	c.logFailed(next)
	if err := c.leave(*run); err != nil {
		return err
	}
	c.ring(runTopic(run.ID))
	tell := func() error { return c.event(event, run, nil, actor, code, data) }
	if c.batch {
		c.later = tell
		return nil
	}
	return tell()
}

// hold stops a run where it is, for a reason outside its code. Its requests stay open.
func (c *change) hold(run *holdshort.Run, code holdshort.Code) error {
	next, err := run.Hold(code, c.now)
	if err != nil {
		return err
	}
	*run = next
	c.ring(runTopic(run.ID))
	if code == holdshort.Corrupt {
		if err := c.freeSession(*run); err != nil {
			return err
		}
	}
	return c.event("run.held", run, nil, "system:worker", code, nil)
}
