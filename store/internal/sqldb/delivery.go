package sqldb

import (
	"encoding/json"
	"errors"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

type deliveryBody struct {
	Address   string              `json:"address,omitempty"`
	Run       holdshort.RunID     `json:"run,omitempty"`
	Request   holdshort.RequestID `json:"request,omitempty"`
	Body      json.RawMessage     `json:"body,omitempty"`
	Attempt   int                 `json:"attempt,omitempty"`
	SentAt    int64               `json:"sent_at,omitempty"`
	LastError string              `json:"last_error,omitempty"`
	Log       []deliveryAttempt   `json:"log,omitempty"`
}

type deliveryAttempt struct {
	At     int64  `json:"at"`
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

var insertDelivery, updateDelivery = puts("outbox",
	[]string{"status", "due_at", "epoch", "lease_owner", "lease_until", "closed_at", "body"},
	[]string{"key", "channel", "session_id", "seq", "ordered", "created_at"})

const deliveryColumns = `id, revision, key, status, channel, session_id, seq, ordered, due_at, epoch, lease_owner, lease_until, created_at, body`

var (
	selectDelivery = point(`SELECT ` + deliveryColumns + ` FROM outbox WHERE tenant = ? AND id = ?`)
	selectPending  = statement(`SELECT ` + deliveryColumns + ` FROM outbox
		WHERE tenant = ? AND session_id = ? AND status IN ('queued', 'sending', 'parked') ORDER BY seq, id`)
)

func (tx *Tx) Delivery(id holdshort.DeliveryID) (holdshort.Delivery, error) {
	return one(tx, selectDelivery, "delivery", string(id), tx.scanDelivery)
}

func (tx *Tx) PendingDeliveries(session holdshort.SessionID) ([]holdshort.Delivery, error) {
	var out []holdshort.Delivery
	err := tx.query(selectPending, []any{string(tx.tenant), string(session)}, func(scan func(...any) error) error {
		d, _, err := tx.scanDelivery(scan)
		if errors.Is(err, holdshort.Corrupt) {
			return nil
		}
		out = append(out, d)
		return err
	})
	return out, err
}

// Deliveries reads the keys that begin with a prefix by their index: from the prefix to where its last character is one higher.
func (tx *Tx) Deliveries(q store.DeliveryQuery) (store.Page[holdshort.Delivery], error) {
	if q.Prefix == "" || q.Prefix[len(q.Prefix)-1] >= 0x7e {
		return store.Page[holdshort.Delivery]{}, &holdshort.Error{Code: holdshort.Invalid, Field: "prefix", Message: "deliveries are listed by the beginning of their keys", Hint: "end it with a colon"}
	}
	last := len(q.Prefix) - 1
	l := list("outbox", deliveryColumns).where("tenant = ?", string(tx.tenant)).where("key >= ?", q.Prefix).where("key < ?", q.Prefix[:last]+string(q.Prefix[last]+1))
	l.keyset(q.Cursor, true, "key")
	return page(tx, l, q.Limit, tx.scanDelivery, func(d holdshort.Delivery) []any { return []any{d.Key} })
}

func (tx *Tx) scanDelivery(scan func(...any) error) (d holdshort.Delivery, id string, err error) {
	var ordered, due, until, created int64
	var body []byte
	err = scan(&id, &d.Revision, &d.Key, &d.Status, &d.Channel, &d.SessionID, &d.Seq, &ordered, &due, &d.Lease.Epoch, &d.Lease.Owner, &until, &created, &body)
	if err != nil {
		return d, id, err
	}
	d.ID, d.Ordered, d.DueAt, d.Lease.Until, d.CreatedAt = holdshort.DeliveryID(id), ordered == 1, fromMicros(due), fromMicros(until), fromMicros(created)
	if len(body) == 0 {
		return d, id, nil // erased
	}
	var b deliveryBody
	if err := tx.decode("delivery", id, body, &b); err != nil {
		return d, id, err
	}
	d.Address, d.RunID, d.RequestID, d.Body, d.Attempt, d.SentAt, d.LastError = b.Address, b.Run, b.Request, b.Body, b.Attempt, fromMicros(b.SentAt), b.LastError
	for _, a := range b.Log {
		d.Log = append(d.Log, holdshort.Attempt{At: fromMicros(a.At), Status: a.Status, Error: a.Error})
	}
	return d, id, nil
}

func (tx *Tx) PutDelivery(d holdshort.Delivery) error {
	id := string(d.ID)
	if err := tx.required("delivery", id, d.Key, string(d.Status), d.Channel); err != nil {
		return err
	}
	if err := tx.texts("delivery", string(d.SessionID), d.Lease.Owner); err != nil {
		return err
	}
	b := deliveryBody{Address: d.Address, Run: d.RunID, Request: d.RequestID, Body: d.Body, Attempt: d.Attempt, SentAt: micros(d.SentAt), LastError: d.LastError}
	for _, a := range d.Log {
		b.Log = append(b.Log, deliveryAttempt{At: micros(a.At), Status: a.Status, Error: a.Error})
	}
	body, err := tx.encode("delivery", id, b)
	if err != nil {
		return err
	}
	closed := int64(0)
	switch d.Status {
	case holdshort.DeliverySent, holdshort.DeliveryDead, holdshort.DeliveryDropped:
		closed = micros(tx.now)
	}
	return tx.put("delivery", id, d.Revision, insertDelivery, updateDelivery,
		[]any{string(d.Status), micros(d.DueAt), d.Lease.Epoch, d.Lease.Owner, micros(d.Lease.Until), closed, body},
		[]any{d.Key, d.Channel, string(d.SessionID), d.Seq, flag(d.Ordered), micros(d.CreatedAt)})
}
