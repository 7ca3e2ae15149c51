package holdshort

import (
	"encoding/json"
	"time"
)

// DeliveryStatus is where an outgoing message or webhook stands.
type DeliveryStatus string

const (
	DeliveryQueued  DeliveryStatus = "queued"
	DeliverySending DeliveryStatus = "sending"
	DeliverySent    DeliveryStatus = "sent"
	DeliveryParked  DeliveryStatus = "parked" // no longer holds up those behind it
	DeliveryDead    DeliveryStatus = "dead"
	DeliveryDropped DeliveryStatus = "dropped" // nobody needs it any more
)

// DeliveryInput is what can happen to a delivery.
type DeliveryInput string

const (
	DeliveryClaim     DeliveryInput = "claim"
	DeliveryConfirm   DeliveryInput = "confirm"   // the channel took it
	DeliveryRetry     DeliveryInput = "retry"     // not now; again later
	DeliveryPark      DeliveryInput = "park"      // it has been at the head too long
	DeliveryGiveUp    DeliveryInput = "give_up"   // out of attempts, or refused for good
	DeliveryDrop      DeliveryInput = "drop"      // its request closed before it was sent
	DeliveryRedeliver DeliveryInput = "redeliver" // a person wants it sent again
)

var deliveryMachine = machine[DeliveryStatus, DeliveryInput]{
	noun:   "delivery",
	states: []DeliveryStatus{DeliveryQueued, DeliverySending, DeliverySent, DeliveryParked, DeliveryDead, DeliveryDropped},
	inputs: []DeliveryInput{DeliveryClaim, DeliveryConfirm, DeliveryRetry, DeliveryPark, DeliveryGiveUp, DeliveryDrop, DeliveryRedeliver},
	table: map[DeliveryStatus]map[DeliveryInput]DeliveryStatus{
		DeliveryQueued:  {DeliveryClaim: DeliverySending, DeliveryPark: DeliveryParked, DeliveryDrop: DeliveryDropped},
		DeliverySending: {DeliveryClaim: DeliverySending, DeliveryConfirm: DeliverySent, DeliveryRetry: DeliveryQueued, DeliveryPark: DeliveryParked, DeliveryGiveUp: DeliveryDead, DeliveryDrop: DeliveryDropped},
		DeliverySent:    {DeliveryRedeliver: DeliveryQueued},
		DeliveryParked:  {DeliveryClaim: DeliverySending, DeliveryGiveUp: DeliveryDead, DeliveryDrop: DeliveryDropped, DeliveryRedeliver: DeliveryQueued},
		DeliveryDead:    {DeliveryRedeliver: DeliveryQueued},
	},
}

// Delivery is one entry of the outbox.
type Delivery struct {
	ID        DeliveryID      `json:"id"`
	Revision  int64           `json:"-"`
	Key       string          `json:"key"` // the same for every attempt: it makes a delivery once for a receiver that looks
	Status    DeliveryStatus  `json:"status"`
	Channel   string          `json:"channel"`
	Address   string          `json:"address"`
	SessionID SessionID       `json:"session_id,omitempty"`
	RunID     RunID           `json:"run_id,omitempty"`
	RequestID RequestID       `json:"request_id,omitempty"`
	Seq       int64           `json:"seq"` // order within the session
	Ordered   bool            `json:"ordered"`
	Body      json.RawMessage `json:"body"`
	Attempt   int             `json:"attempt"`
	Lease     Lease           `json:"-"`
	DueAt     time.Time       `json:"due_at"`
	CreatedAt time.Time       `json:"created_at"`
	SentAt    time.Time       `json:"sent_at,omitzero"`
	LastError string          `json:"last_error,omitempty"`
	Log       []Attempt       `json:"log,omitempty"` // of the attempts that came to nothing, the last ones
}

// Attempt is one that came to nothing.
type Attempt struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"` // what the receiver answered, where it did
	Error  string    `json:"error"`
}

// attemptsKept is how many of them a delivery remembers.
const attemptsKept = 20

// Note remembers an attempt that came to nothing.
func (d Delivery) Note(a Attempt) Delivery {
	d.LastError = a.Error
	from := max(len(d.Log)-attemptsKept+1, 0)
	d.Log = append(d.Log[from:len(d.Log):len(d.Log)], a)
	return d
}

// Apply gives the delivery after input.
func (d Delivery) Apply(input DeliveryInput, now time.Time) (Delivery, error) {
	to, err := deliveryMachine.next(d.Status, input)
	if err != nil {
		return d, err
	}
	switch input {
	case DeliveryClaim:
		d.Attempt++
		d.Lease.Epoch++
	case DeliveryConfirm:
		d.SentAt = now
	case DeliveryRedeliver:
		d.Attempt, d.DueAt, d.SentAt, d.LastError = 0, now, time.Time{}, ""
	}
	if to != DeliverySending {
		d.Lease.Owner, d.Lease.Until = "", time.Time{}
	}
	d.Status = to
	return d, nil
}
