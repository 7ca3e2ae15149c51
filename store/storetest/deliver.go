package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// take claims deliveries as the outbox loop does and gives their keys.
func (b *bed) take(limit int, channels ...string) []string {
	b.Helper()
	var keys []string
	n, err := b.system().ClaimDeliveries(context.Background(), store.DeliveryClaim{Channels: channels, Limit: limit},
		func(tx store.Tx, d holdshort.Delivery) error {
			d, err := d.Apply(holdshort.DeliveryClaim, tx.Now())
			if err != nil {
				return err
			}
			d.Lease.Owner, d.Lease.Until = "node", tx.Now().Add(leaseTime)
			keys = append(keys, d.Key)
			return tx.PutDelivery(d)
		})
	if err != nil || n != len(keys) {
		b.Fatalf("claim deliveries: %d of %d, %v", n, len(keys), err)
	}
	slices.Sort(keys)
	return keys
}

// settle applies an input to the delivery with that key.
func (b *bed) settle(ids map[string]holdshort.DeliveryID, key string, input holdshort.DeliveryInput, due time.Duration) {
	b.Helper()
	b.update(func(tx store.Tx) error {
		d, err := tx.Delivery(ids[key])
		if err != nil {
			return err
		}
		if d, err = d.Apply(input, tx.Now()); err != nil {
			return err
		}
		d.DueAt = tx.Now().Add(due)
		return tx.PutDelivery(d)
	})
}

// testClaimDeliveries: within a session in order, one head at a time; a parked head holds up nobody; what is unordered or of another session
// never waits.
func testClaimDeliveries(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	now := b.now()
	ids := map[string]holdshort.DeliveryID{}
	put := func(key string, session holdshort.SessionID, seq int64, ordered bool, due time.Duration, channel string) {
		d := newDelivery(key, now)
		d.SessionID, d.Seq, d.Ordered, d.DueAt, d.Channel = session, seq, ordered, now.Add(due), channel
		ids[key] = d.ID
		b.update(func(tx store.Tx) error { return tx.PutDelivery(d) })
	}
	one, two := newSession(now).ID, newSession(now).ID
	put("one 1", one, 1, true, 0, "chat")
	put("one 2", one, 2, true, 0, "chat")
	put("one 3", one, 3, true, 0, "chat")
	put("one 4", one, 4, true, 0, "chat")
	put("two 1", two, 1, true, time.Hour, "chat")
	put("two 2", two, 2, true, 0, "chat")
	put("two hook", two, 3, false, 0, "webhook")
	put("one hook", one, 5, false, 0, "webhook")
	put("later", "", 0, false, time.Hour, "webhook")

	expect := func(when string, got []string, want ...string) {
		b.Helper()
		if !slices.Equal(got, want) {
			b.Fatalf("%s: claimed %q, want %q", when, got, want)
		}
	}
	expect("no channel", b.take(10))
	expect("another channel", b.take(10, "mail"))
	expect("only heads, and what is unordered", b.take(10, "chat", "webhook"), "one 1", "one hook", "two hook")
	expect("while the head is on its way", b.take(10, "chat", "webhook"))
	b.settle(ids, "one 1", holdshort.DeliveryConfirm, 0)
	expect("the head was sent", b.take(10, "chat"), "one 2")
	b.settle(ids, "one 2", holdshort.DeliveryRetry, 30*time.Second)
	expect("the head waits for its next try", b.take(10, "chat"))
	b.settle(ids, "one 2", holdshort.DeliveryPark, time.Hour)
	expect("the head is parked", b.take(10, "chat"), "one 3")
	b.settle(ids, "one 3", holdshort.DeliveryGiveUp, 0)
	expect("the head died", b.take(10, "chat"), "one 4")
	pending := load(b, func(tx store.ReadTx) ([]holdshort.Delivery, error) { return tx.PendingDeliveries(one) })
	var keys []string
	for _, d := range pending {
		keys = append(keys, d.Key)
	}
	expect("pending, in order", keys, "one 2", "one 4", "one hook")
	b.settle(ids, "one 4", holdshort.DeliveryDrop, 0)
	b.db.Advance(t, leaseTime+time.Second)
	expect("leases are over", b.take(10, "chat", "webhook"), "one hook", "two hook")
	b.db.Advance(t, 2*time.Hour)
	expect("all is due", b.take(10, "chat", "webhook"), "later", "one 2", "one hook", "two 1", "two hook")
	d2 := load(b, func(tx store.ReadTx) (holdshort.Delivery, error) { return tx.Delivery(ids["one hook"]) })
	if d2.Attempt != 3 || d2.Lease.Epoch != 3 {
		b.Errorf("a delivery that was claimed three times has attempt %d and epoch %d", d2.Attempt, d2.Lease.Epoch)
	}
}

func testUnrouted(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	now := b.now()
	fresh, old, routed := newInbound("fresh", now), newInbound("old", now.Add(-time.Hour)), newInbound("routed", now.Add(-time.Hour))
	routed.Routed = true
	b.update(func(tx store.Tx) error {
		return firstError(tx.PutInbound(fresh), tx.PutInbound(old), tx.PutInbound(routed))
	})
	list := func(before time.Time) []store.InboundRef {
		b.Helper()
		refs, err := b.system().UnroutedInbound(context.Background(), before, 10)
		if err != nil {
			b.Fatalf("list what is not routed: %v", err)
		}
		return refs
	}
	want := store.InboundRef{Tenant: acme, Channel: old.Channel, Address: old.Address, Key: old.Key}
	if got := list(now.Add(-time.Minute)); len(got) != 1 || got[0] != want {
		b.Errorf("not routed a minute ago: %+v, want %+v", got, want)
	}
	if got := list(now.Add(time.Minute)); len(got) != 2 {
		b.Errorf("%d are not routed, want 2", len(got))
	}
	b.update(func(tx store.Tx) error {
		in, err := tx.Inbound(old.Channel, old.Address, old.Key)
		if err != nil {
			return err
		}
		in.Routed, in.RunID = true, newRun(now).ID
		return tx.PutInbound(in)
	})
	b.db.Crash(t)
	if got := list(now.Add(time.Minute)); len(got) != 1 || got[0].Key != "fresh" {
		b.Errorf("not routed after one was: %+v", got)
	}
}

func testTimers(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	due := func() (keys []string, next time.Time) {
		b.Helper()
		list, next, err := b.system().DueTimers(context.Background(), 100)
		if err != nil {
			b.Fatalf("due timers: %v", err)
		}
		for _, d := range list {
			if d.Tenant != acme || d.Timer.Kind != holdshort.TimerExpiry || d.Timer.Subject != "req" || d.Timer.DueAt.After(b.now()) {
				b.Errorf("due: %+v", d)
			}
			keys = append(keys, d.Timer.Key)
		}
		return keys, next
	}
	if keys, next := due(); len(keys) != 0 || !next.IsZero() {
		b.Errorf("an empty store has %v due and next %v", keys, next)
	}
	now := b.now()
	timer := func(key string, in time.Duration) holdshort.Timer {
		return holdshort.Timer{Kind: holdshort.TimerExpiry, Subject: "req", Key: key, DueAt: now.Add(in)}
	}
	b.update(func(tx store.Tx) error {
		return firstError(tx.SetTimer(timer("hour", time.Hour)), tx.SetTimer(timer("minute", time.Minute)), tx.SetTimer(timer("past", -time.Hour)),
			tx.SetTimer(timer("before", -2*time.Hour)))
	})
	if keys, next := due(); !slices.Equal(keys, []string{"before", "past"}) || !next.Equal(now.Add(-2*time.Hour)) {
		b.Errorf("due are %v and next is %v", keys, next)
	}
	b.update(func(tx store.Tx) error {
		return firstError(tx.DropTimer(holdshort.TimerExpiry, "req", "past"), tx.DropTimer(holdshort.TimerExpiry, "req", "no such timer"), tx.SetTimer(timer("before", 2*time.Hour)))
	})
	if keys, next := due(); len(keys) != 0 || !next.Equal(now.Add(time.Minute)) {
		b.Errorf("after one was dropped and one set anew, due are %v and next is %v", keys, next)
	}
	b.db.Crash(t)
	b.db.Advance(t, time.Hour+time.Second)
	if keys, _ := due(); !slices.Equal(keys, []string{"minute", "hour"}) {
		b.Errorf("an hour later due are %v", keys)
	}
}
