package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testCorruptRows: a row that cannot be read is that row's trouble, nobody else's.
func testCorruptRows(t *testing.T, d Driver) {
	t.Run("loading", func(t *testing.T) { testCorruptLoads(open(t, d, Options{})) })
	t.Run("lists", func(t *testing.T) { testCorruptLists(open(t, d, Options{})) })
	t.Run("claims", func(t *testing.T) { testCorruptClaims(open(t, d, Options{})) })
}

func testCorruptLoads(b *bed) {
	for _, garbage := range []string{"{", "[]", "garbage", "\x00", `{"attempt":"text"}`, "null "} {
		h, whole := newHistory(birth), newHistory(birth)
		b.update(func(tx store.Tx) error { return firstError(h.write(tx), whole.write(tx)) })
		for table, c := range map[string]struct{ column, where string }{
			"sessions": {"body", string(h.session.ID)}, "messages": {"body", string(h.message.ID)}, "runs": {"fixed", string(h.run.ID)}, "requests": {"fixed", string(h.request.ID)},
			"decisions": {"body", string(h.decision.ID)}, "outbox": {"body", string(h.delivery.ID)}, "inbound": {"body", string(h.inbound.ID)},
		} {
			b.db.Exec(b, "UPDATE "+table+" SET "+c.column+" = ? WHERE id = ?", []byte(garbage), c.where)
		}
		b.db.Exec(b, "UPDATE journal SET body = ? WHERE run_id = ?", []byte(garbage), string(h.run.ID))
		b.db.Exec(b, "UPDATE operations SET external_ids = ? WHERE run_id = ?", "{garbage", string(h.run.ID))
		reads := func(h *history) map[string]func(store.ReadTx) error {
			return map[string]func(store.ReadTx) error{
				"session":  func(tx store.ReadTx) error { _, err := tx.Session(h.session.ID); return err },
				"message":  func(tx store.ReadTx) error { _, err := tx.Message(h.message.ID); return err },
				"run":      func(tx store.ReadTx) error { _, err := tx.Run(h.run.ID); return err },
				"request":  func(tx store.ReadTx) error { _, err := tx.Request(h.request.ID); return err },
				"decision": func(tx store.ReadTx) error { _, err := tx.Decision(h.request.ID); return err },
				"delivery": func(tx store.ReadTx) error { _, err := tx.Delivery(h.delivery.ID); return err },
				"inbound": func(tx store.ReadTx) error {
					_, err := tx.Inbound(h.inbound.Channel, h.inbound.Address, h.inbound.Key)
					return err
				},
				"journal":   func(tx store.ReadTx) error { _, err := tx.Journal(h.run.ID); return err },
				"operation": func(tx store.ReadTx) error { _, err := tx.Operation(h.operation.ID); return err },
			}
		}
		b.view(func(tx store.ReadTx) error { // all in one transaction: none spoils it
			for name, read := range reads(h) {
				err := read(tx)
				if garbage == "null " || garbage == `{"attempt":"text"}` && name != "run" {
					if err != nil && !errors.Is(err, holdshort.Corrupt) { // valid JSON that says nothing may read as nothing
						b.Errorf("%s with payload %q: %v", name, garbage, err)
					}
					continue
				}
				if !errors.Is(err, holdshort.Corrupt) && !(garbage == `{"attempt":"text"}`) {
					b.Errorf("%s with payload %q: got %v, want corrupt", name, garbage, err)
				}
			}
			if entries, _ := tx.Journal(h.run.ID); len(entries) != 1 || entries[0].Key == "" {
				b.Errorf("a journal with payload %q has the entries %+v, want the one with its key", garbage, entries)
			}
			for name, read := range reads(whole) {
				if err := read(tx); err != nil {
					b.Errorf("a whole %s beside a corrupt one: %v", name, err)
				}
			}
			return nil
		})
	}
}

func testCorruptLists(b *bed) {
	session := newSession(birth)
	var runs []holdshort.Run
	var requests []holdshort.Request
	var messages []holdshort.Message
	for i := range 7 {
		at := birth.Add(time.Duration(i) * time.Second)
		run, request, message := newRun(at), newRequest(at), newMessage(session.ID, int64(i+1), at)
		request.ExpiresAt = at.Add(time.Hour)
		runs, requests, messages = append(runs, run), append(requests, request), append(messages, message)
		b.update(func(tx store.Tx) error {
			return firstError(tx.PutRun(run), tx.PutRequest(request), tx.PutMessage(message))
		})
	}
	for _, i := range []int{0, 3, 6} {
		b.db.Exec(b, "UPDATE runs SET body = ? WHERE id = ?", []byte("{"), string(runs[i].ID))
		b.db.Exec(b, "UPDATE requests SET fixed = ? WHERE id = ?", []byte("{"), string(requests[i].ID))
		b.db.Exec(b, "UPDATE messages SET body = ? WHERE id = ?", []byte("{"), string(messages[i].ID))
	}
	b.db.Exec(b, "UPDATE requests SET urgency = 99 WHERE id = ?", string(requests[6].ID))
	b.db.Exec(b, "UPDATE runs SET status = 'asleep' WHERE id = ?", string(runs[0].ID))
	type page struct {
		items, corrupt []string
		next           string
	}
	for name, list := range map[string]func(tx store.ReadTx, cursor string, limit int) (page, error){
		"runs": func(tx store.ReadTx, cursor string, limit int) (page, error) {
			p, err := tx.Runs(store.RunQuery{Cursor: cursor, Limit: limit})
			return page{idsOf(p.Items, func(r holdshort.Run) string { return string(r.ID) }), p.Corrupt, p.Next}, err
		},
		"requests by urgency": func(tx store.ReadTx, cursor string, limit int) (page, error) {
			p, err := tx.Requests(store.RequestQuery{Cursor: cursor, Limit: limit})
			return page{idsOf(p.Items, func(r holdshort.Request) string { return string(r.ID) }), p.Corrupt, p.Next}, err
		},
		"requests by expiry": func(tx store.ReadTx, cursor string, limit int) (page, error) {
			p, err := tx.Requests(store.RequestQuery{Order: store.ByExpiry, Cursor: cursor, Limit: limit})
			return page{idsOf(p.Items, func(r holdshort.Request) string { return string(r.ID) }), p.Corrupt, p.Next}, err
		},
		"requests by age": func(tx store.ReadTx, cursor string, limit int) (page, error) {
			p, err := tx.Requests(store.RequestQuery{Order: store.ByNewest, Cursor: cursor, Limit: limit})
			return page{idsOf(p.Items, func(r holdshort.Request) string { return string(r.ID) }), p.Corrupt, p.Next}, err
		},
		"messages": func(tx store.ReadTx, cursor string, limit int) (page, error) {
			p, err := tx.Messages(store.MessageQuery{Session: session.ID, Cursor: cursor, Limit: limit})
			return page{idsOf(p.Items, func(m holdshort.Message) string { return string(m.ID) }), p.Corrupt, p.Next}, err
		},
	} {
		for _, limit := range []int{1, 2, 3, 200} {
			var items, corrupt []string
			cursor := ""
			for turn := 0; ; turn++ {
				p := load(b, func(tx store.ReadTx) (page, error) { return list(tx, cursor, limit) })
				items, corrupt = append(items, p.items...), append(corrupt, p.corrupt...)
				if cursor = p.next; cursor == "" {
					break
				}
				if turn > 20 {
					b.Errorf("%s by %d: the list has no end", name, limit)
					break
				}
			}
			slices.Sort(items)
			slices.Sort(corrupt)
			if len(items) != 4 || len(slices.Compact(items)) != 4 || len(corrupt) != 3 || len(slices.Compact(corrupt)) != 3 {
				b.Errorf("%s by %d: %d rows and %d corrupt ones, want each of 4 and of 3 once: %v", name, limit, len(items), len(corrupt), corrupt)
			}
		}
	}
}

func idsOf[T any](items []T, id func(T) string) []string {
	var out []string
	for _, item := range items {
		out = append(out, id(item))
	}
	return out
}

// testCorruptClaims: a run that cannot be read is held, a delivery dies, both leave an event, and the others are claimed.
func testCorruptClaims(b *bed) {
	now := b.now()
	good, bad := newRun(now), newRun(now)
	bad.SessionID = newSession(now).ID
	sent, broken := newDelivery("good", now), newDelivery("bad", now)
	b.update(func(tx store.Tx) error {
		return firstError(tx.PutRun(bad), tx.PutRun(good), tx.PutDelivery(broken), tx.PutDelivery(sent))
	})
	b.db.Exec(b, "UPDATE runs SET fixed = ? WHERE id = ?", []byte("garbage"), string(bad.ID))
	b.db.Exec(b, "UPDATE outbox SET body = ? WHERE id = ?", []byte("garbage"), string(broken.ID))
	if got := b.claim("node", 10); len(got) != 1 || got[0].ID != good.ID {
		b.Errorf("claimed %v, want the good one", got)
	}
	rows := b.db.Rows(b, "SELECT held_code, status FROM runs WHERE id = ?", string(bad.ID))
	if rows[0][0] != string(holdshort.Corrupt) || rows[0][1] != string(holdshort.RunQueued) {
		b.Errorf("the run that cannot be read is %v, want it held where it is", rows[0])
	}
	if got := b.claim("node", 10); len(got) != 0 {
		b.Errorf("claimed %v again", got)
	}
	if keys := b.take(10, "chat"); !slices.Equal(keys, []string{"good"}) {
		b.Errorf("claimed deliveries %v, want the good one", keys)
	}
	if rows := b.db.Rows(b, "SELECT status FROM outbox WHERE id = ?", string(broken.ID)); rows[0][0] != string(holdshort.DeliveryDead) {
		b.Errorf("the delivery that cannot be read is %v, want it dead", rows[0])
	}
	var types []string
	for _, e := range b.events(acme) {
		if e.Code != string(holdshort.Corrupt) {
			b.Errorf("an event with code %q", e.Code)
		}
		if e.Type == "run.held" && e.Run != bad.ID {
			b.Errorf("the hold is in the stream of %s", e.Stream)
		}
		types = append(types, e.Type)
	}
	slices.Sort(types)
	if !slices.Equal(types, []string{"delivery.dead", "run.held"}) {
		b.Errorf("the events are %v", types)
	}
	held := load(b, func(tx store.ReadTx) (store.Page[holdshort.Run], error) { return tx.Runs(store.RunQuery{Held: true}) })
	if !slices.Equal(held.Corrupt, []string{string(bad.ID)}) {
		b.Errorf("the list of held runs is %+v", held)
	}
	b.verifies()
}
