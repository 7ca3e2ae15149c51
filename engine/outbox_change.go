package engine

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/holdshort/holdshort"
)

// Codes of what becomes of a delivery.
const (
	codeRequestClosed holdshort.Code = "request_closed" // nobody waits for the answer any more
	codeTakeover      holdshort.Code = "takeover"       // a person speaks in this session, the AI is silent
)

const (
	parkAfter  = 2 * time.Minute // a delivery at the head for longer no longer holds up those behind it
	giveUpTime = 24 * time.Hour
	giveUpAt   = 20 // attempts
	leastPause = time.Second
	mostPause  = 5 * time.Minute
)

// backoff is the pause before the next attempt: it doubles, and no two are quite alike.
func backoff(attempt int) time.Duration {
	pause := mostPause
	if attempt < 10 {
		pause = min(leastPause<<max(attempt-1, 0), mostPause)
	}
	return time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
}

// deliver makes a transition of a delivery. Only one that waits for another attempt at the head keeps its timer.
func (c *change) deliver(d holdshort.Delivery, input holdshort.DeliveryInput) (holdshort.Delivery, error) {
	next, err := d.Apply(input, c.now)
	if err != nil {
		return d, err
	}
	if input != holdshort.DeliveryClaim && input != holdshort.DeliveryRetry && next.Ordered {
		if err := c.DropTimer(holdshort.TimerPark, string(d.ID), ""); err != nil {
			return d, err
		}
	}
	return next, nil
}

// dropDelivery closes a delivery that nobody needs any more.
func (c *change) dropDelivery(d holdshort.Delivery, code holdshort.Code) error {
	next, err := c.deliver(d, holdshort.DeliveryDrop)
	if err != nil {
		return err
	}
	if err := c.PutDelivery(next); err != nil {
		return err
	}
	return c.deliveryEvent("response:failed", next, code)
}

// deliveryEvent adds an audit fact about a delivery.
func (c *change) deliveryEvent(name string, d holdshort.Delivery, code holdshort.Code) error {
	data, err := json.Marshal(struct {
		Delivery holdshort.DeliveryID `json:"delivery"`
		Attempt  int                  `json:"attempt"`
	}{d.ID, d.Attempt})
	if err != nil {
		return err
	}
	e := holdshort.Event{Type: name, Session: d.SessionID, Run: d.RunID, Request: d.RequestID, Channel: d.Channel, Actor: "system:outbox",
		Code: string(code), Data: data}
	if run := c.originOf(d.RunID); run != nil {
		e.Trace, e.Flow = run.TraceID, run.Flow
	}
	return c.AddEvent(e)
}
