package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const day = 24 * time.Hour

// all keeps nothing longer than its days.
func keepFor(journals, records, rest time.Duration) store.Retention {
	return store.Retention{Journals: journals, Records: records, Replays: rest, Deliveries: rest}
}

// history is a run with everything that hangs on it.
type history struct {
	session   holdshort.Session
	run       holdshort.Run
	message   holdshort.Message
	request   holdshort.Request
	decision  holdshort.Decision
	operation holdshort.Operation
	inbound   holdshort.Inbound
	delivery  holdshort.Delivery
	replay    store.Replay
}

// newHistory began at a moment and was over an hour later: a run that was approved, did its work and said so.
func newHistory(at time.Time) *history {
	over := at.Add(time.Hour)
	h := &history{session: newSession(at), run: newRun(at), request: newRequest(at)}
	h.run.SessionID, h.run.Status, h.run.EndedAt = h.session.ID, holdshort.RunCompleted, over
	h.message = newMessage(h.session.ID, 1, at)
	h.request.RunID, h.request.SessionID, h.request.OriginStepID, h.request.Status, h.request.ClosedAt = h.run.ID, h.session.ID, "ask", holdshort.RequestResolved, over
	h.decision = newDecision(h.request.ID, "ann", at)
	h.operation = newOperation(h.run.ID, "call", at)
	h.operation.Status, h.operation.ClosedAt = holdshort.OperationDone, over
	h.inbound = newInbound(string(h.run.ID), at)
	h.inbound.SessionID, h.inbound.RunID, h.inbound.Routed = h.session.ID, h.run.ID, true
	h.delivery = newDelivery(string(h.run.ID), at)
	h.delivery.SessionID, h.delivery.Status, h.delivery.SentAt = h.session.ID, holdshort.DeliverySent, over
	h.replay = store.Replay{Scope: "scope", Key: string(h.run.ID), BodyHash: "hash", Status: 200, At: at}
	return h
}

func (h *history) write(tx store.Tx) error {
	return firstError(tx.PutSession(h.session), tx.PutRun(h.run), tx.PutMessage(h.message), tx.PutRequest(h.request), tx.AddDecision(h.decision),
		tx.AddVote(newDecision(h.request.ID, "bob", h.run.CreatedAt)), tx.UseDecision(h.decision.ID, "call", h.operation.ID),
		tx.AddJournal(newEntry(h.run.ID, "step", h.run.CreatedAt)), tx.PutOperation(h.operation), tx.PutInbound(h.inbound), tx.PutDelivery(h.delivery), tx.AddReplay(h.replay))
}

// left names the kinds of rows that are there of it.
func (h *history) left(b *bed) map[string]int64 {
	b.Helper()
	out := map[string]int64{}
	for kind, c := range map[string]struct {
		text string
		arg  any
	}{
		"run":       {"SELECT COUNT(*) FROM runs WHERE id = ?", string(h.run.ID)},
		"journal":   {"SELECT COUNT(*) FROM journal WHERE run_id = ?", string(h.run.ID)},
		"message":   {"SELECT COUNT(*) FROM messages WHERE id = ?", string(h.message.ID)},
		"request":   {"SELECT COUNT(*) FROM requests WHERE id = ?", string(h.request.ID)},
		"decision":  {"SELECT COUNT(*) FROM decisions WHERE request_id = ?", string(h.request.ID)},
		"use":       {"SELECT COUNT(*) FROM decision_uses WHERE decision_id = ?", string(h.decision.ID)},
		"operation": {"SELECT COUNT(*) FROM operations WHERE run_id = ?", string(h.run.ID)},
		"inbound":   {"SELECT COUNT(*) FROM inbound WHERE id = ?", string(h.inbound.ID)},
		"delivery":  {"SELECT COUNT(*) FROM outbox WHERE id = ?", string(h.delivery.ID)},
		"replay":    {"SELECT COUNT(*) FROM replays WHERE key = ?", string(h.run.ID)},
	} {
		out[kind] = b.number(c.text, c.arg)
	}
	return out
}

func (b *bed) expectLeft(h *history, name string, gone ...string) {
	b.Helper()
	left := h.left(b)
	for kind, n := range left {
		lost := false
		for _, g := range gone {
			lost = lost || g == kind
		}
		if lost != (n == 0) {
			b.Errorf("%s: %d %s left, should be gone: %v", name, n, kind, lost)
		}
	}
}

func testRetention(t *testing.T, d Driver) {
	t.Run("ages", func(t *testing.T) { testAges(open(t, d, Options{})) })
	t.Run("pending work never goes", func(t *testing.T) { testPending(open(t, d, Options{})) })
	t.Run("in bites", func(t *testing.T) { testBites(open(t, d, Options{})) })
}

// testAges: each kind goes when its time has come, counted from the end of its run, and not a day earlier.
func testAges(b *bed) {
	now := b.now()
	old, recent := newHistory(now.Add(-10*day)), newHistory(now.Add(-2*day))
	long := newHistory(now.Add(-10 * day)) // it began long ago and ended yesterday
	long.run.EndedAt = now.Add(-day)
	pinned := newMessage(old.session.ID, 2, now.Add(-10*day))
	pinned.Pinned = true
	b.update(func(tx store.Tx) error {
		return firstError(old.write(tx), recent.write(tx), long.write(tx), tx.PutMessage(pinned))
	})

	if got := b.prune(store.Retention{}); got != (store.Pruned{}) {
		b.Errorf("keeping for ever pruned %+v", got)
	}
	got := b.prune(keepFor(5*day, 0, 0))
	b.expectLeft(old, "ten days old, journals kept five", "journal", "message")
	b.expectLeft(recent, "two days old, journals kept five")
	b.expectLeft(long, "ended yesterday, journals kept five")
	if got.Journals != 1 || got.Messages != 1 || got.Operations+got.Inbound+got.Decisions+got.Replays+got.Deliveries+got.Events != 0 {
		b.Errorf("pruned %+v, want one journal entry and one message", got)
	}
	b.db.Exec(b, "UPDATE outbox SET closed_at = created_at")
	got = b.prune(keepFor(5*day, 5*day, 5*day))
	b.expectLeft(old, "ten days old, everything kept five", "journal", "message", "run", "request", "decision", "use", "operation", "inbound", "delivery", "replay")
	b.expectLeft(recent, "two days old, everything kept five")
	b.expectLeft(long, "ended yesterday, everything kept five", "delivery", "replay")
	if got.Operations != 1 || got.Decisions != 2 || got.Inbound != 1 || got.Replays != 2 || got.Deliveries != 2 {
		b.Errorf("pruned %+v", got)
	}
	if n := b.number("SELECT COUNT(*) FROM messages WHERE id = ?", string(pinned.ID)); n != 1 {
		b.Error("a pinned message is gone")
	}
	if again := b.prune(keepFor(5*day, 5*day, 5*day)); again != (store.Pruned{}) {
		b.Errorf("pruning once more found %+v", again)
	}
	b.verifies()
}

// testPending: whatever still waits for somebody stays, with all that it needs, however old it is.
func testPending(b *bed) {
	now := b.now()
	for name, pend := range map[string]func(h *history){
		"a waiting run": func(h *history) { h.run.Status, h.run.EndedAt = holdshort.RunWaiting, time.Time{} },
		"a queued run":  func(h *history) { h.run.Status, h.run.EndedAt = holdshort.RunQueued, time.Time{} },
		"a held run": func(h *history) {
			h.run.Status, h.run.EndedAt, h.run.Held = holdshort.RunWaiting, time.Time{}, &holdshort.Hold{Code: holdshort.Corrupt, Since: now}
		},
		"a started operation":       func(h *history) { h.operation.Status, h.operation.ClosedAt = holdshort.OperationStarted, time.Time{} },
		"an operation nobody knows": func(h *history) { h.operation.Status = holdshort.OperationUnknown },
		"an open request":           func(h *history) { h.request.Status, h.request.ClosedAt = holdshort.RequestOpen, time.Time{} },
	} {
		b.Run(name, func(t *testing.T) {
			b := &bed{t, b.db}
			h := newHistory(now.Add(-1000 * day))
			pend(h)
			b.update(h.write)
			b.prune(keepFor(day, day, 0))
			gone := []string{}
			if h.run.EndedAt.IsZero() {
				b.expectLeft(h, name, gone...)
				return
			}
			left := h.left(b)
			for _, kind := range []string{"run", "request", "decision", "use", "operation"} {
				if left[kind] == 0 {
					b.Errorf("%s: its %s is gone", name, kind)
				}
			}
			if left["decision"] != 2 {
				b.Errorf("%s: %d of its decision and vote are left", name, left["decision"])
			}
		})
	}
	b.Run("an operation that somebody gave up", func(t *testing.T) {
		b := &bed{t, b.db}
		h := newHistory(now.Add(-1000 * day))
		h.operation.Status, h.operation.Settled = holdshort.OperationUnknown, true
		b.update(h.write)
		b.prune(keepFor(day, day, 0))
		if n := h.left(b)["operation"]; n != 0 {
			b.Error("it is kept for ever")
		}
	})
	for _, status := range []holdshort.DeliveryStatus{holdshort.DeliveryQueued, holdshort.DeliverySending, holdshort.DeliveryParked} {
		b.Run("a delivery that is "+string(status), func(t *testing.T) {
			b := &bed{t, b.db}
			d := newDelivery(string(status), now.Add(-1000*day))
			d.Status = status
			b.update(func(tx store.Tx) error { return tx.PutDelivery(d) })
			b.prune(store.Retention{Deliveries: day})
			load(b, func(tx store.ReadTx) (holdshort.Delivery, error) { return tx.Delivery(d.ID) })
		})
	}
	b.Run("a message that nobody routed", func(t *testing.T) {
		b := &bed{t, b.db}
		in := newInbound("unrouted", now.Add(-1000*day))
		b.update(func(tx store.Tx) error { return tx.PutInbound(in) })
		b.prune(store.Retention{Records: day})
		load(b, func(tx store.ReadTx) (holdshort.Inbound, error) { return tx.Inbound(in.Channel, in.Address, in.Key) })
	})
	b.Run("a timer", func(t *testing.T) {
		b := &bed{t, b.db}
		b.update(func(tx store.Tx) error {
			return tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerExpiry, Subject: "old", DueAt: now.Add(-1000 * day)})
		})
		b.prune(keepFor(day, day, day))
		if b.number("SELECT COUNT(*) FROM timers WHERE subject = 'old'") != 1 {
			b.Error("it is gone")
		}
	})
	b.Run("an event that is not sealed", func(t *testing.T) {
		b := &bed{t, b.db}
		b.log(3)
		b.stamp()
		b.db.Advance(t, 100*day)
		if got := b.prune(store.Retention{Events: day}); got.Events != 0 {
			b.Errorf("%d events were pruned before they were sealed", got.Events)
		}
	})
}

// testBites: a call prunes no more than its limit of each kind, and many calls all of it.
func testBites(b *bed) {
	now := b.now()
	b.update(func(tx store.Tx) error {
		for range 7 {
			if err := newHistory(now.Add(-100 * day)).write(tx); err != nil {
				return err
			}
		}
		return nil
	})
	keep := keepFor(day, 0, day)
	keep.Limit = 3
	var sizes []string
	for range 4 {
		got := b.prune(keep)
		if got.Journals > 3 || got.Messages > 3 || got.Replays > 3 {
			b.Errorf("a bite of 3 took %+v", got)
		}
		sizes = append(sizes, fmt.Sprint(got.Journals))
	}
	if n := b.number("SELECT COUNT(*) FROM journal"); n != 0 {
		b.Errorf("%d journal entries are left after bites of %v", n, sizes)
	}
}
