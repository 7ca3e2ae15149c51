package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	// queueTime is how long a prompt may wait for its turn.
	queueTime = 24 * time.Hour
	// codeLife is how long the short code of a closed request is not given to another of its session.
	codeLife = 24 * time.Hour
)

// ask gives a new request its place. A prompt of a session is asked at once if nothing else is asked there, else it is queued and its clock
// stands; everything else waits in the inbox alone.
func (c *change) ask(run *holdshort.Run, req *holdshort.Request) error {
	if req.SessionID == "" || req.Kind == holdshort.Reconcile { // what became of a call must be known, whatever the limits
		return c.askAtOnce(req)
	}
	known, err := c.requestsOf(req.SessionID)
	if err != nil {
		return err
	}
	if err := c.roomFor(*req, known); err != nil {
		return err
	}
	if !req.Prompt {
		return c.askAtOnce(req)
	}
	t, err := c.chat(req.SessionID)
	if err != nil {
		return err
	}
	if t == nil {
		return c.askAtOnce(req)
	}
	req.Code = freshCode(*req, known, c.now)
	if t.free(known) {
		return c.prompt(t, run, req)
	}
	req.QueueUntil = c.now.Add(queueTime)
	if err := c.due(*req); err != nil {
		return err
	}
	return c.eventOver(t.session.Channel, "hitl.request.queued", run, req, "system:chat", "", nil)
}

func (c *change) askAtOnce(req *holdshort.Request) error {
	next, err := req.Ask(c.now)
	if err != nil {
		return err
	}
	*req = next
	return c.due(*req)
}

// roomFor refuses a request over what a session may have open.
func (c *change) roomFor(req holdshort.Request, known []holdshort.Request) error {
	open := 0
	for _, r := range known {
		if r.Status == holdshort.RequestOpen {
			open++
		}
	}
	if open < c.e.config.Limits.OpenRequests {
		return nil
	}
	return &holdshort.Error{Code: holdshort.LimitReached, Op: "ask " + req.OriginStepID, Message: "the session has as many open requests as it may",
		Hint: "let some of them be decided first, or raise the limit"}
}

// prompt asks a request in its session's chat: its clock starts, its question is stored once and put into the outbox.
func (c *change) prompt(t *chat, run *holdshort.Run, req *holdshort.Request) error {
	if err := c.askAtOnce(req); err != nil {
		return err
	}
	t.session.Prompt = req.ID
	t.tell(utterance{kind: "hitl_question", shape: "question", text: req.Question, visible: true, run: req.RunID, request: req, key: "ask/" + string(req.ID), delivery: questionDelivery(req.ID)})
	return c.eventOver(t.session.Channel, "hitl.request.asked", run, req, "system:chat", "", nil)
}

// unask frees the place of a request that closed. What was not sent of it yet is dropped; the next one of its session is asked at the end of
// the transaction, when it is known what else closes in it.
func (c *change) unask(req holdshort.Request) error {
	if !req.Prompt || req.SessionID == "" {
		return nil
	}
	t, err := c.chat(req.SessionID)
	if holdshort.CodeOf(err) == holdshort.Corrupt { // nobody can be asked there any more
		return nil
	}
	if err != nil || t == nil || t.session.Prompt != req.ID {
		return err
	}
	t.session.Prompt, t.freed, t.dirty = "", true, true
	t.deliveries = slices.DeleteFunc(t.deliveries, func(d holdshort.Delivery) bool { return d.RequestID == req.ID })
	waiting, err := c.PendingDeliveries(req.SessionID)
	if err != nil {
		return err
	}
	for _, d := range waiting {
		// One that is under way is left to whoever sends it.
		if d.RequestID != req.ID || d.Status == holdshort.DeliverySending && c.now.Before(d.Lease.Until) {
			continue
		}
		if err := c.dropDelivery(d, codeRequestClosed); err != nil {
			return err
		}
	}
	return nil
}

// askNext asks the oldest prompt that waits for its turn.
func (c *change) askNext(t *chat) error {
	var next *holdshort.Request
	err := eachRequest(c, store.RequestQuery{Session: t.session.ID, Status: holdshort.RequestOpen, Order: store.ByNewest}, func(r holdshort.Request) bool {
		if r.Prompt && r.AskedAt.IsZero() && r.StatusAt(c.now) == holdshort.RequestOpen && (next == nil || older(r, *next) < 0) {
			next = &r
		}
		return true
	})
	if err != nil || next == nil {
		return err
	}
	if err := c.undue(*next); err != nil {
		return err
	}
	if err := c.prompt(t, nil, next); err != nil {
		return err
	}
	c.ring(requestTopic(next.ID))
	return c.PutRequest(*next)
}

func older(a, b holdshort.Request) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// promptDelivered reports whether the channel took the question of a prompt.
func (c *change) promptDelivered(req holdshort.Request) (bool, error) {
	d, err := c.Delivery(questionDelivery(req.ID))
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return false, nil
	}
	return d.Status == holdshort.DeliverySent, err
}

// questionDelivery names the delivery of a request's question: each has one, so that it can be found without a list.
func questionDelivery(id holdshort.RequestID) holdshort.DeliveryID {
	return holdshort.DeliveryID("dlv_" + string(id[len("req_"):]))
}

// requestsOf gives the requests of a session that a reply could be about, newest first: the open ones and those of the last day, at least as
// many as fit a page.
func (c *change) requestsOf(session holdshort.SessionID) ([]holdshort.Request, error) {
	var list []holdshort.Request
	more := false
	err := eachRequest(c, store.RequestQuery{Session: session, Order: store.ByNewest}, func(r holdshort.Request) bool {
		more = len(list) >= store.MaxPage && c.now.Sub(r.CreatedAt) > codeLife
		if !more {
			list = append(list, r)
		}
		return !more
	})
	if err != nil || !more {
		return list, err
	}
	seen := map[holdshort.RequestID]bool{}
	for _, r := range list {
		seen[r.ID] = true
	}
	err = eachRequest(c, store.RequestQuery{Session: session, Status: holdshort.RequestOpen, Order: store.ByNewest}, func(r holdshort.Request) bool {
		if !seen[r.ID] {
			list = append(list, r)
		}
		return true
	})
	return list, err
}

// eachRequest reads page after page until fn has enough.
func eachRequest(c store.ReadTx, q store.RequestQuery, fn func(holdshort.Request) bool) error {
	for {
		page, err := c.Requests(q)
		if err != nil {
			return err
		}
		for _, r := range page.Items {
			if !fn(r) {
				return nil
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}
