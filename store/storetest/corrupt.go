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
	t.Run("request", func(t *testing.T) { testCorruptRequest(open(t, d, Options{})) })
	t.Run("run", func(t *testing.T) { testCorruptRun(open(t, d, Options{})) })
	t.Run("examination", func(t *testing.T) { testExamineRuns(open(t, d, Options{})) })
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

// testCorruptRun: of a run whose row is damaged the readable columns are returned, and it can be canceled.
func testCorruptRun(b *bed) {
	for name, damage := range map[string]string{"fixed": "UPDATE runs SET fixed = ? WHERE id = ?", "body": "UPDATE runs SET body = ? WHERE id = ?"} {
		run := newRun(birth)
		run.SessionID, run.User, run.Status, run.Open = newSession(birth).ID, "carl", holdshort.RunWaiting, 3
		b.update(func(tx store.Tx) error { return tx.PutRun(run) })
		b.db.Exec(b, damage, []byte("{"), string(run.ID))
		b.update(func(tx store.Tx) error {
			got, err := tx.Run(run.ID)
			if !errors.Is(err, holdshort.Corrupt) {
				b.Errorf("%s: %v, want corrupt", name, err)
			}
			if got.ID != run.ID || got.SessionID != run.SessionID || got.Flow != run.Flow || got.Status != holdshort.RunWaiting || got.Revision != 1 {
				b.Errorf("%s: the run reads as %+v", name, got)
			}
			if got.Held == nil || got.Held.Code != holdshort.Corrupt || !got.Held.Since.IsZero() || got.Open == 0 {
				b.Errorf("%s: held %+v with %d open requests", name, got.Held, got.Open)
			}
			if name == "body" && got.User != "carl" || name == "fixed" && got.Open != 3 {
				b.Errorf("%s: the other half is lost: user %q, %d open", name, got.User, got.Open)
			}
			got, err = got.Apply(holdshort.RunCancel, tx.Now())
			return firstError(err, tx.PutRun(got))
		})
		b.view(func(tx store.ReadTx) error {
			got, err := tx.Run(run.ID)
			if got.Status != holdshort.RunCanceled || got.Held != nil || (err != nil) != (name == "fixed") {
				b.Errorf("%s: after the cancellation %s, held %+v, %v", name, got.Status, got.Held, err)
			}
			return nil
		})
	}
}

// testCorruptRequest: of a request whose row is damaged the readable columns are returned, and it can be canceled without being read.
func testCorruptRequest(b *bed) {
	req := newRequest(birth)
	req.RunID, req.SessionID = newRun(birth).ID, newSession(birth).ID
	b.update(func(tx store.Tx) error { return tx.PutRequest(req) })
	b.db.Exec(b, "UPDATE requests SET fixed = ? WHERE id = ?", []byte("{"), string(req.ID))
	b.update(func(tx store.Tx) error {
		got, err := tx.Request(req.ID)
		if !errors.Is(err, holdshort.Corrupt) || got.ID != req.ID || got.RunID != req.RunID || got.SessionID != req.SessionID || got.Status != holdshort.RequestOpen {
			b.Errorf("%+v, %v; want corrupt, with ids and status", got, err)
		}
		return tx.CancelUnreadable(req.ID)
	})
	b.view(func(tx store.ReadTx) error {
		if got, _ := tx.Request(req.ID); got.Status != holdshort.RequestCanceled || got.ClosedAt.IsZero() || got.Revision != 2 {
			b.Errorf("after the cancellation %+v", got)
		}
		page, err := tx.Requests(store.RequestQuery{Status: holdshort.RequestOpen})
		if err != nil || len(page.Items)+len(page.Corrupt) != 0 {
			b.Errorf("%d open requests, %v", len(page.Items)+len(page.Corrupt), err)
		}
		return nil
	})
	b.refused(b.try(func(tx store.Tx) error { return tx.CancelUnreadable(req.ID) }), holdshort.NotFound)
}

// testExamineRuns: the damaged ones among the runs that have not ended are reported, each with its tenant.
func testExamineRuns(b *bed) {
	h, whole, ended := newHistory(birth), newHistory(birth), newRun(birth)
	row := newRun(birth)
	row.Status, ended.Status, ended.EndedAt = holdshort.RunWaiting, holdshort.RunCompleted, birth
	h.run.Status, whole.run.Status = holdshort.RunWaiting, holdshort.RunWaiting
	h.run.EndedAt, whole.run.EndedAt = time.Time{}, time.Time{}
	lost := newRun(birth)
	lost.Status = holdshort.RunWaiting
	sign := func(run *holdshort.Run, entries ...holdshort.JournalEntry) {
		digest, err := b.db.Keyring().ExtendJournal(acme, run.ID, "", entries...)
		if err != nil {
			b.Fatal(err)
		}
		run.Recorded = digest
	}
	sign(&h.run, newEntry(h.run.ID, "step", h.run.CreatedAt))
	sign(&whole.run, newEntry(whole.run.ID, "step", whole.run.CreatedAt))
	sign(&row)
	sign(&lost, newEntry(lost.ID, "step", birth))
	b.update(func(tx store.Tx) error {
		return firstError(tx.PutRun(lost), tx.AddJournal(newEntry(lost.ID, "step", birth)))
	})
	b.update(func(tx store.Tx) error {
		return firstError(h.write(tx), whole.write(tx), tx.PutRun(row), tx.PutRun(ended))
	})
	examine := func(limit int) store.RunsExamined {
		got, err := b.system().ExamineRuns(b.Context(), limit)
		if err != nil {
			b.Fatal(err)
		}
		return got
	}
	if got := examine(1000); got.Runs != 4 || len(got.Faults) != 0 || got.More {
		b.Errorf("a whole store: %+v", got)
	}
	b.db.Exec(b, "UPDATE journal SET body = ? WHERE run_id = ?", []byte("{"), string(h.run.ID))
	b.db.Exec(b, "UPDATE runs SET body = ? WHERE id IN (?, ?)", []byte("{"), string(row.ID), string(ended.ID))
	b.db.Exec(b, "DELETE FROM journal WHERE run_id = ?", string(lost.ID))
	got := examine(1000)
	damaged := map[holdshort.RunID]string{}
	for _, f := range got.Faults {
		damaged[f.Run] = f.Problem
		if f.Tenant != acme {
			b.Errorf("%+v", f)
		}
	}
	if len(damaged) != 3 || damaged[lost.ID] != "its journal is not what it recorded" || damaged[h.run.ID] != "its journal cannot be read" || damaged[row.ID] != "its row cannot be read" {
		b.Errorf("a damaged store: %+v", got)
	}
	if got := examine(0); !got.More || got.Runs != 0 {
		b.Errorf("with a limit: %+v", got)
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
			want := 4
			if name == "runs" {
				want = 7 // a damaged run is listed with what is left of it, so that it can be canceled
			}
			if len(items) != want || len(slices.Compact(items)) != want || len(corrupt) != 3 || len(slices.Compact(corrupt)) != 3 {
				b.Errorf("%s by %d: %d rows and %d corrupt ones, want each of %d and of 3 once: %v", name, limit, len(items), len(corrupt), want, corrupt)
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
