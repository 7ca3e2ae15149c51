package holdshort_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

func aDelivery(status holdshort.DeliveryStatus) holdshort.Delivery {
	d := holdshort.Delivery{ID: "dlv_1", Key: "key", Status: status, Attempt: 2, DueAt: noon, LastError: "busy", Lease: holdshort.Lease{Epoch: 4}}
	switch status {
	case holdshort.DeliverySending:
		d.Lease.Owner, d.Lease.Until = "node-1", later
	case holdshort.DeliverySent:
		d.SentAt = noon
	}
	return d
}

func TestDeliveryApply(t *testing.T) {
	type delivery = holdshort.Delivery
	free := func(d *delivery) { d.Lease = holdshort.Lease{Epoch: 4} }
	fresh := func(d *delivery) { d.Attempt, d.DueAt, d.SentAt, d.LastError = 0, later, time.Time{}, "" }
	for _, test := range []struct {
		from   holdshort.DeliveryStatus
		input  holdshort.DeliveryInput
		to     holdshort.DeliveryStatus
		change func(*delivery)
	}{
		{holdshort.DeliveryQueued, holdshort.DeliveryClaim, holdshort.DeliverySending, func(d *delivery) { d.Attempt, d.Lease.Epoch = 3, 5 }},
		{holdshort.DeliveryQueued, holdshort.DeliveryPark, holdshort.DeliveryParked, func(*delivery) {}},
		{holdshort.DeliveryQueued, holdshort.DeliveryDrop, holdshort.DeliveryDropped, func(*delivery) {}},
		{holdshort.DeliverySending, holdshort.DeliveryClaim, holdshort.DeliverySending, func(d *delivery) { d.Attempt, d.Lease.Epoch = 3, 5 }},
		{holdshort.DeliverySending, holdshort.DeliveryConfirm, holdshort.DeliverySent, func(d *delivery) { free(d); d.SentAt = later }},
		{holdshort.DeliverySending, holdshort.DeliveryRetry, holdshort.DeliveryQueued, free},
		{holdshort.DeliverySending, holdshort.DeliveryPark, holdshort.DeliveryParked, free},
		{holdshort.DeliverySending, holdshort.DeliveryGiveUp, holdshort.DeliveryDead, free},
		{holdshort.DeliverySending, holdshort.DeliveryDrop, holdshort.DeliveryDropped, free},
		{holdshort.DeliverySent, holdshort.DeliveryRedeliver, holdshort.DeliveryQueued, fresh},
		{holdshort.DeliveryParked, holdshort.DeliveryClaim, holdshort.DeliverySending, func(d *delivery) { d.Attempt, d.Lease.Epoch = 3, 5 }},
		{holdshort.DeliveryParked, holdshort.DeliveryGiveUp, holdshort.DeliveryDead, func(*delivery) {}},
		{holdshort.DeliveryParked, holdshort.DeliveryDrop, holdshort.DeliveryDropped, func(*delivery) {}},
		{holdshort.DeliveryParked, holdshort.DeliveryRedeliver, holdshort.DeliveryQueued, fresh},
		{holdshort.DeliveryDead, holdshort.DeliveryRedeliver, holdshort.DeliveryQueued, fresh},
	} {
		want := aDelivery(test.from)
		want.Status = test.to
		test.change(&want)
		got, err := aDelivery(test.from).Apply(test.input, later)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %s: %v\ngot  %+v\nwant %+v", test.from, test.input, err, got, want)
		}
		if got.Key != "key" {
			t.Errorf("%s, %s: the key became %q; it is the same for every attempt", test.from, test.input, got.Key)
		}
	}
	if got, err := aDelivery(holdshort.DeliverySent).Apply(holdshort.DeliveryClaim, later); !errors.Is(err, holdshort.WrongState) || !reflect.DeepEqual(got, aDelivery(holdshort.DeliverySent)) {
		t.Errorf("claim of what is sent: %+v, %v", got, err)
	}
}

func TestSessionApply(t *testing.T) {
	s := holdshort.Session{ID: "ses_1", Mode: holdshort.ModeAI, UpdatedAt: noon}
	want := s
	want.Mode, want.UpdatedAt = holdshort.ModeTakeover, later
	if got, err := s.Apply(holdshort.TakeoverStart, later); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if got, err := s.Apply(holdshort.Handback, later); !errors.Is(err, holdshort.WrongState) || !reflect.DeepEqual(got, s) {
		t.Errorf("handback of what nobody took: %+v, %v", got, err)
	}
	if got, err := s.Apply(holdshort.ProxyStop, later); err != nil || got.Mode != holdshort.ModeAI {
		t.Errorf("stop of a bridge that is not there: %+v, %v", got, err)
	}
	var none holdshort.Session
	if _, err := none.Apply(holdshort.TakeoverStart, later); !errors.Is(err, holdshort.WrongState) {
		t.Errorf("a session without a mode: %v", err)
	}
}
