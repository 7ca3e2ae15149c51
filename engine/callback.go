package engine

import (
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
)

const (
	callbackPrefix = "callback:"
	// mostCallback is how large a callback may be; what is larger names the request and leaves the rest to be read.
	mostCallback = 256 << 10
)

// closedRequest is what a raiser is told.
type closedRequest struct {
	holdshort.Request
	Decision *holdshort.Decision `json:"decision"`
}

// briefRequest is what stays when that is too much, or not to be kept.
type briefRequest struct {
	ID           holdshort.RequestID     `json:"id"`
	Kind         holdshort.Kind          `json:"kind"`
	Status       holdshort.RequestStatus `json:"status"`
	Outcome      holdshort.Outcome       `json:"outcome,omitempty"`
	CancelReason string                  `json:"cancel_reason,omitempty"`
	Fingerprint  string                  `json:"fingerprint"`
	CreatedAt    time.Time               `json:"created_at"`
	ClosedAt     time.Time               `json:"closed_at"`
	Brief        bool                    `json:"brief"`
}

// AddDecision also remembers it, for whoever is told of it.
func (c *change) AddDecision(d holdshort.Decision) error {
	c.decided = &d
	return c.Tx.AddDecision(d)
}

// callback tells the raiser of a request that it closed, if they want to be told. It names no request as its own: what asks about one that
// closed is dropped, and this is no such thing.
func (c *change) callback(req holdshort.Request, event string) error {
	if req.CallbackURL == "" {
		return nil
	}
	told := closedRequest{Request: req}
	if c.decided != nil && c.decided.RequestID == req.ID {
		told.Decision = c.decided
	}
	var data any = told
	session := req.SessionID // erased with it
	if req.CancelReason == sessionDeleted {
		session = ""
	}
	size, err := json.Marshal(told)
	if err != nil {
		return err
	}
	if session != req.SessionID || len(size) > mostCallback {
		data = briefRequest{ID: req.ID, Kind: req.Kind, Status: req.Status, Outcome: req.Outcome, CancelReason: req.CancelReason, Fingerprint: req.Fingerprint,
			CreatedAt: req.CreatedAt, ClosedAt: req.ClosedAt, Brief: true}
	}
	_, err = c.notify(callbackPrefix+string(req.ID), req.CallbackURL, session, Notice{Type: event, Timestamp: c.now, Data: map[string]any{"request": data}})
	return err
}
