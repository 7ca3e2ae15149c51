package storetest

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

func testSearch(t *testing.T, d Driver) {
	for name, o := range map[string]Options{"plain": {}, "encrypted": {Encrypt: true}} {
		t.Run(name+": found before and after it is indexed", func(t *testing.T) { testFound(open(t, d, o)) })
		t.Run(name+": forgotten", func(t *testing.T) { testForgotten(open(t, d, o)) })
		t.Run(name+": pruned", func(t *testing.T) { testPrunedWords(open(t, d, o)) })
		t.Run(name+": alike", func(t *testing.T) { testAlike(open(t, d, o)) })
	}
	t.Run("many", func(t *testing.T) { testFoundMany(open(t, d, Options{})) })
	t.Run("no word stands in an encrypted store", func(t *testing.T) { testSecretWords(open(t, d, Options{Encrypt: true})) })
	t.Run("a new key", func(t *testing.T) { testRotatedWords(open(t, d, Options{Encrypt: true})) })
	t.Run("nodes that know no seats", func(t *testing.T) { testOlderNodes(open(t, d, Options{})) })
	t.Run("one indexer", func(t *testing.T) { testIndexerLease(open(t, d, Options{})) })
}

// indexAll lets the indexer come to the end.
func indexAll(t testing.TB, s store.Store, owner string) {
	t.Helper()
	ctx := context.Background()
	var lease holdshort.Lease
	if !s.Exclusive() {
		stamping, err := s.System().Acquire(ctx, store.SequencerLease, owner, time.Hour)
		for n := 1; err == nil && n > 0; {
			n, err = s.System().Stamp(ctx, stamping, 1000)
		}
		if err == nil {
			lease, err = s.System().Acquire(ctx, store.IndexerLease, owner, time.Hour)
		}
		if err != nil {
			t.Fatalf("take the leases: %v", err)
		}
	}
	for {
		n, err := s.System().Index(ctx, lease, 100)
		if err != nil {
			t.Fatalf("index: %v", err)
		}
		if n == 0 {
			return
		}
	}
}

func (b *bed) index() { b.Helper(); indexAll(b, b.store(), "sequencer") }

// search reads all pages of a query.
func (b *bed) search(q store.SearchQuery) []holdshort.RequestID {
	b.Helper()
	var ids []holdshort.RequestID
	for {
		page := load(b, func(tx store.ReadTx) (store.Page[holdshort.Request], error) { return tx.Search(q) })
		for _, r := range page.Items {
			ids = append(ids, r.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return ids
		}
	}
}

// raised stores a request as somebody who raises one does.
func raised(tx store.Tx, r holdshort.Request) error {
	return firstError(tx.PutRequest(r), tx.AddEvent(holdshort.Event{Type: "hitl.interrupt.paused", Run: r.RunID, Session: r.SessionID, Request: r.ID}))
}

func testFound(b *bed) {
	run := newRun(birth)
	run.Agent, run.Flow = "front desk", "agent.front"
	first, second, third := newRequest(birth), newRequest(birth.Add(time.Second)), newRequest(birth.Add(2*time.Second))
	first.RunID, first.OriginStepID, first.SessionID = run.ID, "ask", newSession(birth).ID
	first.Audience, first.Requester = holdshort.Audience{Roles: []string{"finance"}}, holdshort.Requester{User: "José", RaisedBy: "key_1"}
	first.Actions, first.Rule, first.Code = []holdshort.Action{{CallID: "1", Tool: "sendRefund"}}, "big refunds", "K7"
	second.Question, second.Audience = "把钱退给用户？ Überweisung an Müller", holdshort.Audience{Users: []string{"eva"}}
	third.Question, third.Status, third.ClosedAt = "Close the account of Müller?", holdshort.RequestResolved, birth.Add(time.Hour)
	write := func(tx store.Tx) error {
		return firstError(tx.PutRun(run), raised(tx, first), raised(tx, second), raised(tx, third))
	}
	b.update(write)
	b.updateOf(rival, func(tx store.Tx) error { return raised(tx, newRequest(birth)) })
	both := []holdshort.RequestID{second.ID, third.ID}
	check := func(when string) {
		b.Helper()
		for _, c := range []struct {
			words string
			want  []holdshort.RequestID
			q     store.SearchQuery
		}{
			{"refund", []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"REFUND order 77", []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"refu", []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"refx", nil, store.SearchQuery{}},
			{"fund", nil, store.SearchQuery{}},
			{"send", []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"sendref", []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"jose", []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"k7", []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"big ref", []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"front desk", []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"müller", []holdshort.RequestID{third.ID, second.ID}, store.SearchQuery{RequestQuery: store.RequestQuery{Order: store.ByNewest}}},
			{"MULLER", []holdshort.RequestID{second.ID, third.ID}, store.SearchQuery{}},
			{"muller", []holdshort.RequestID{second.ID}, store.SearchQuery{RequestQuery: store.RequestQuery{Status: holdshort.RequestOpen}}},
			{"muller", []holdshort.RequestID{third.ID}, store.SearchQuery{RequestQuery: store.RequestQuery{Status: holdshort.RequestResolved, Limit: 1}}},
			{"uberweisung mul", []holdshort.RequestID{second.ID}, store.SearchQuery{}},
			{"ueberweisungsformular", nil, store.SearchQuery{}},
			{"退给", []holdshort.RequestID{second.ID}, store.SearchQuery{}},
			{"用户", []holdshort.RequestID{second.ID}, store.SearchQuery{}},
			{"钱", []holdshort.RequestID{second.ID}, store.SearchQuery{}},
			{"户用", nil, store.SearchQuery{}},
			{"  ?!", nil, store.SearchQuery{}},
			{`"refund" OR *`, nil, store.SearchQuery{}},
			{`'refund' & "`, []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{string(first.ID), []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{strings.ToUpper(string(first.RunID)), []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{string(first.SessionID)[:20], []holdshort.RequestID{first.ID}, store.SearchQuery{}},
			{"req_", []holdshort.RequestID{first.ID, second.ID, third.ID}, store.SearchQuery{RequestQuery: store.RequestQuery{Limit: 1}}},
			{"run_unknown", nil, store.SearchQuery{}},
			{"refund", []holdshort.RequestID{first.ID}, store.SearchQuery{Sights: []string{store.RoleSeat("finance")}}},
			{"refund", []holdshort.RequestID{first.ID}, store.SearchQuery{Sights: []string{store.UserSeat("x"), store.OwnerSeat("José")}}},
			{"refund", []holdshort.RequestID{first.ID}, store.SearchQuery{Sights: []string{store.RaiserSeat("key_1")}}},
			{"muller", []holdshort.RequestID{second.ID}, store.SearchQuery{Sights: []string{store.NamedSeat}}},
			{"muller", []holdshort.RequestID{third.ID}, store.SearchQuery{Among: []holdshort.RequestID{third.ID, first.ID, "req_unknown", "req_\x00"}}},
			{"muller", []holdshort.RequestID{third.ID, second.ID}, store.SearchQuery{Among: []holdshort.RequestID{third.ID, second.ID}}},
			{"muller", []holdshort.RequestID{second.ID}, store.SearchQuery{Among: both, Sights: []string{store.NamedSeat}}},
			{"muller", []holdshort.RequestID{third.ID}, store.SearchQuery{Among: both, RequestQuery: store.RequestQuery{Status: holdshort.RequestResolved}}},
			{string(first.ID), nil, store.SearchQuery{Among: both}},
			{string(first.SessionID)[:20], []holdshort.RequestID{first.ID}, store.SearchQuery{Among: []holdshort.RequestID{second.ID, first.ID}}},
			{"?!", nil, store.SearchQuery{Among: both}},
		} {
			c.q.Words = c.words
			if got := b.search(c.q); !slices.Equal(got, c.want) {
				b.Errorf("%s, %q (%+v) finds %v, want %v", when, c.words, c.q, got, c.want)
			}
		}
	}
	check("at once")
	b.index()
	check("indexed")
	if got := b.search(store.SearchQuery{Words: "refund", Sights: []string{store.RoleSeat("other")}}); len(got) != 0 {
		b.Errorf("who has no part in it finds %v", got)
	}
	b.index()
	b.db.Reopen(b)
	b.index()
	check("indexed and opened again")
}

// testFoundMany: more than can be put in order come newest first, each once.
func testFoundMany(b *bed) {
	n := store.MostMatched + 300
	var all []holdshort.RequestID
	for len(all) < n {
		b.update(func(tx store.Tx) error {
			for range 100 {
				r := newRequest(birth.Add(time.Duration(len(all)) * time.Second))
				r.Question = fmt.Sprintf("Pay invoice %d?", len(all))
				r.Priority = []holdshort.Priority{holdshort.PriorityHigh, holdshort.PriorityLow}[len(all)%2]
				all = append(all, r.ID)
				if err := raised(tx, r); err != nil {
					return err
				}
			}
			return nil
		})
		if len(all)%500 == 0 {
			b.index()
		}
	}
	b.index()
	slices.Reverse(all)
	if got := b.search(store.SearchQuery{Words: "invoice", RequestQuery: store.RequestQuery{Limit: 70}}); !slices.Equal(got, all) {
		b.Errorf("%d were found, want %d, the newest first", len(got), len(all))
	}
	var high []holdshort.RequestID
	for i, id := range all {
		if i%2 == 1 {
			high = append(high, id)
		}
	}
	if got := b.search(store.SearchQuery{Words: "inv pay invoice", RequestQuery: store.RequestQuery{}}); len(got) != 0 {
		b.Errorf("a word that only begins one is found: %d", len(got))
	}
	if got := b.search(store.SearchQuery{Words: "pay inv", RequestQuery: store.RequestQuery{Priority: holdshort.PriorityHigh}}); !slices.Equal(got, high) {
		b.Errorf("%d of high priority were found, want %d", len(got), len(high))
	}
	if got := b.search(store.SearchQuery{Words: "invoice 77"}); len(got) != 1 {
		b.Errorf("one invoice is found %d times", len(got))
	}
}

// searchTables are where words are kept.
func (b *bed) indexHas(word string) bool {
	b.Helper()
	for table, columns := range b.db.Columns(b) {
		if !strings.HasPrefix(table, "search") && table != "documents" {
			continue
		}
		for _, row := range b.db.Rows(b, "SELECT "+strings.Join(columns, ", ")+" FROM "+table) {
			if text := fmt.Sprintf("%s", row); strings.Contains(text, word) {
				return true
			}
			for _, v := range row {
				if raw, ok := v.([]byte); ok && bytes.Contains(raw, []byte(word)) {
					return true
				}
			}
		}
	}
	return false
}

// testForgotten: what was erased is not found, and of a plain word nothing is left.
func testForgotten(b *bed) {
	var gone, stays []*history
	for i := range 40 {
		h := newHistory(birth.Add(time.Duration(i) * time.Minute))
		h.request.Question = "Tell nobody of xylophone"
		h.request.Actions = []holdshort.Action{{CallID: "1", Tool: "tell"}}
		if i%3 == 0 {
			h.request.Question = "Tell everybody of bassoon"
			stays = append(stays, h)
		} else {
			gone = append(gone, h)
		}
		b.update(func(tx store.Tx) error {
			return firstError(h.write(tx), tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Run: h.run.ID, Request: h.request.ID}))
		})
		if i%7 == 0 && i < 30 {
			b.index() // some are indexed when they are erased, some are not
		}
	}
	if n := len(b.search(store.SearchQuery{Words: "xylophone"})); n != len(gone) {
		b.Fatalf("%d found, want %d", n, len(gone))
	}
	for _, h := range gone {
		b.update(func(tx store.Tx) error { return tx.EraseSession(h.session.ID, "ana") })
	}
	check := func(when string) {
		b.Helper()
		if got := b.search(store.SearchQuery{Words: "xylo"}); len(got) != 0 {
			b.Errorf("%s %v are found", when, got)
		}
		if got := b.search(store.SearchQuery{Words: "bassoon everybody"}); len(got) != len(stays) {
			b.Errorf("%s %d of the others are found, want %d", when, len(got), len(stays))
		}
		for _, word := range []string{"xylophone", "ylophon", "xylop"} {
			if b.indexHas(word) {
				b.Errorf("%s the index has %q", when, word)
			}
		}
	}
	check("erased")
	b.index()
	check("indexed")
	b.db.Crash(b)
	b.index()
	check("after a crash")
	// Somebody changed by hand what was indexed: it is forgotten all the same.
	b.db.Exec(b, "UPDATE runs SET agent = 'tuba'")
	last := stays[len(stays)-1]
	b.update(func(tx store.Tx) error { return tx.EraseSession(last.session.ID, "ana") })
	stays = stays[:len(stays)-1]
	b.index()
	check("changed by hand")
	if got := b.search(store.SearchQuery{Words: "tuba bassoon"}); b.store().Exclusive() && len(got) != len(stays) {
		b.Errorf("made anew, %d are found by what was changed, want %d", len(got), len(stays))
	}
}

// testPrunedWords: what retention takes is not found, and what is written after it is.
func testPrunedWords(b *bed) {
	now := b.now()
	for round := range 3 {
		old := newHistory(now.Add(-10 * day))
		old.request.Question = "Old marimba"
		gate := newRequest(now.Add(-10 * day))
		gate.Question, gate.Status, gate.ClosedAt = "Old marimba at the gate", holdshort.RequestCanceled, now.Add(-9*day)
		recent := newHistory(now.Add(-day))
		recent.request.Question = fmt.Sprint("Recent marimba ", round)
		b.update(func(tx store.Tx) error {
			err := firstError(old.write(tx), tx.PutRequest(gate))
			if round == 1 { // what is pruned was the last
				err = firstError(recent.write(tx), err)
			}
			for _, id := range []holdshort.RequestID{old.request.ID, gate.ID, recent.request.ID} {
				err = firstError(err, tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Request: id}))
			}
			return err
		})
		b.index()
		if round != 1 {
			b.update(func(tx store.Tx) error {
				return firstError(recent.write(tx), tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Request: recent.request.ID}))
			})
		}
		b.prune(keepFor(5*day, 5*day, 5*day))
		if got := b.search(store.SearchQuery{Words: "old marimba"}); len(got) != 0 {
			b.Errorf("round %d: %v are found", round, got)
		}
		b.index()
		if got := b.search(store.SearchQuery{Words: "marimba"}); len(got) != round+1 {
			b.Errorf("round %d: %d are found, want %d", round, len(got), round+1)
		}
		if got := b.search(store.SearchQuery{Words: fmt.Sprint("marimba ", round)}); !slices.Equal(got, []holdshort.RequestID{recent.request.ID}) {
			b.Errorf("round %d: got %v, want %v", round, got, recent.request.ID)
		}
		if b.indexHas("wold") {
			b.Errorf("round %d: the index has what was pruned", round)
		}
	}
	if n := b.number("SELECT COUNT(*) FROM alike"); n != 0 {
		b.Errorf("%d are left that others could be like", n)
	}
}

func testAlike(b *bed) {
	session := newSession(birth)
	add := func(i int, tool, rule string, status holdshort.RequestStatus, outcome holdshort.Outcome) holdshort.Request {
		r := newRequest(birth.Add(time.Duration(i) * time.Minute))
		r.Actions, r.Rule, r.Status, r.Outcome, r.SessionID = []holdshort.Action{{CallID: "1", Tool: tool}, {CallID: "2", Tool: "other"}}, rule, status, outcome, session.ID
		if status != holdshort.RequestOpen {
			r.ClosedAt = r.CreatedAt.Add(time.Second)
		}
		b.update(func(tx store.Tx) error { return raised(tx, r) })
		return r
	}
	b.update(func(tx store.Tx) error { return tx.PutSession(session) })
	add(0, "refund", "big", holdshort.RequestResolved, holdshort.Approved) // before the moment
	for i := 1; i <= 3; i++ {
		add(i, "refund", "big", holdshort.RequestResolved, holdshort.Approved)
	}
	add(4, "refund", "big", holdshort.RequestResolved, holdshort.Rejected)
	last := add(5, "refund", "big", holdshort.RequestResolved, holdshort.Edited)
	add(6, "refund", "big", holdshort.RequestExpired, "")
	add(7, "refund", "big", holdshort.RequestCanceled, "")
	add(8, "refund", "small", holdshort.RequestResolved, holdshort.Approved)
	add(9, "pay", "big", holdshort.RequestResolved, holdshort.Approved)
	open := add(10, "refund", "big", holdshort.RequestOpen, "")
	b.index()
	b.update(func(tx store.Tx) error { // one that closes after it was indexed
		open.Revision, open.Status, open.Outcome, open.ClosedAt = 1, holdshort.RequestResolved, holdshort.Answered, birth.Add(time.Hour)
		return firstError(tx.PutRequest(open), tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Request: open.ID}))
	})
	b.index()
	ask := func(r holdshort.Request) store.Alike {
		b.Helper()
		return load(b, func(tx store.ReadTx) (store.Alike, error) { return tx.Alike(r, birth.Add(30*time.Second)) })
	}
	got := ask(open)
	if got.Outcomes[holdshort.Approved] != 3 || got.Outcomes[holdshort.Rejected] != 1 || got.Outcomes[holdshort.Edited] != 1 || got.Outcomes[holdshort.Answered] != 0 || got.Expired != 1 || got.More {
		b.Errorf("got %+v", got)
	}
	if len(got.Decided) != 5 || got.Decided[0] != last.ID {
		b.Errorf("the last that was decided is %v, want %s; itself is none of them", got.Decided, last.ID)
	}
	another := open
	another.ID = newRequest(birth).ID
	if got := ask(another); got.Outcomes[holdshort.Answered] != 1 || got.Decided[0] != open.ID {
		b.Errorf("another like it gets %+v", got)
	}
	if got := ask(newRequest(birth)); len(got.Outcomes) != 0 || len(got.Decided) != 0 {
		b.Errorf("one without a call is like %+v", got)
	}
	b.update(func(tx store.Tx) error { return tx.EraseSession(session.ID, "ana") })
	if got := ask(last); len(got.Outcomes) != 0 || got.Expired != 0 || len(got.Decided) != 0 {
		b.Errorf("erased, and still %+v", got)
	}
}

// testSecretWords: with a codec neither words nor their plain digests stand anywhere.
func testSecretWords(b *bed) {
	h := newHistory(birth)
	h.request.Question, h.request.Rule, h.request.Requester.User = "Tell nobody of xylophone", "glockenspiel", "marimba"
	b.update(func(tx store.Tx) error { return firstError(h.write(tx), raised(tx, newRequest(birth))) })
	b.index()
	if got := b.search(store.SearchQuery{Words: "xylo"}); !slices.Equal(got, []holdshort.RequestID{h.request.ID}) {
		b.Fatalf("it finds %v", got)
	}
	for _, word := range []string{"xylo", "phone", "glock", "marim", "nobody", "refund", hex.EncodeToString([]byte("xylo"))} {
		if b.indexHas(word) {
			b.Errorf("the index has %q", word)
		}
	}
}

// testRotatedWords: the index stays good when a new key comes, and is made anew when the old one is gone or the rows were numbered anew.
func testRotatedWords(b *bed) {
	h := newHistory(birth)
	b.update(func(tx store.Tx) error {
		return firstError(h.write(tx), tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Request: h.request.ID}))
	})
	b.index()
	b.db.Rotate(b)
	after := newRequest(birth.Add(time.Hour))
	b.update(func(tx store.Tx) error { return raised(tx, after) })
	want := []holdshort.RequestID{h.request.ID, after.ID}
	for range 2 {
		if got := b.search(store.SearchQuery{Words: "refund"}); !slices.Equal(got, want) {
			b.Errorf("after a new key it finds %v, want %v", got, want)
		}
		b.index()
	}
	b.db.Exec(b, "UPDATE meta SET value = '1:gone' WHERE name = 'search_mode'")
	b.index()
	if got := b.search(store.SearchQuery{Words: "refund"}); !slices.Equal(got, want) {
		b.Errorf("made anew it finds %v, want %v", got, want)
	}
}

// testOlderNodes: where many share a store, one of an older release may still be among them. What it raises and closes finds its seats a moment later.
func testOlderNodes(b *bed) {
	raise, shut := newRequest(birth), newRequest(birth.Add(time.Second))
	raise.Audience, shut.Audience = holdshort.Audience{Roles: []string{"finance"}}, holdshort.Audience{Users: []string{"eva"}}
	early := newRequest(birth.Add(2 * time.Second))
	early.Audience, early.Status, early.ClosedAt, early.Outcome = holdshort.Audience{Roles: []string{"legal"}}, holdshort.RequestResolved, birth.Add(time.Hour), holdshort.Approved
	early.Actions = []holdshort.Action{{CallID: "1", Tool: "refund"}}
	b.update(func(tx store.Tx) error {
		return firstError(raised(tx, raise), raised(tx, shut), raised(tx, early))
	})
	if !b.store().Exclusive() { // before the index was begun
		b.stamp()
		b.db.Exec(b, "DELETE FROM seats")
		b.db.Exec(b, "INSERT INTO seats (tenant, seat, kind, urgency, id) VALUES ('acme', 'r:legal', 0, 2, ?)", string(early.ID))
	}
	b.index()
	b.seatsFit("after the index was begun")
	another := early
	another.ID = newRequest(birth).ID
	if got := load(b, func(tx store.ReadTx) (store.Alike, error) { return tx.Alike(another, birth) }); got.Outcomes[holdshort.Approved] != 1 {
		b.Errorf("what was closed before is not counted: %+v", got)
	}
	if !b.store().Exclusive() {
		b.db.Exec(b, "DELETE FROM seats WHERE id = ?", string(raise.ID))
		b.db.Exec(b, "UPDATE requests SET status = 'canceled', closed_at = 1, revision = 2 WHERE id = ?", string(shut.ID))
		b.update(func(tx store.Tx) error {
			return firstError(tx.AddEvent(holdshort.Event{Type: "hitl.request.asked", Request: raise.ID}), tx.AddEvent(holdshort.Event{Type: "hitl.request.canceled", Request: shut.ID}))
		})
		if page := b.pagesOf(store.DeskQuery{Seats: people["all"], Limit: 10}); len(page) != 0 {
			b.Errorf("a request that is closed, or that nobody was told of, is on a desk: %v", page)
		}
	}
	b.index()
	b.seatsFit("after what others wrote was followed")
}

// testIndexerLease: where many share a store, whoever lost the lease writes nothing.
func testIndexerLease(b *bed) {
	b.update(func(tx store.Tx) error { return raised(tx, newRequest(birth)) })
	b.stamp()
	if b.store().Exclusive() {
		if n, err := b.system().Index(b.Context(), holdshort.Lease{}, 0); err != nil || n == 0 {
			b.Errorf("who has the store alone needs no lease: %d (%v)", n, err)
		}
		return
	}
	old, err := b.system().Acquire(b.Context(), store.IndexerLease, "one", time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	if err := b.system().Release(b.Context(), store.IndexerLease, old); err != nil {
		b.Fatal(err)
	}
	if _, err := b.system().Acquire(b.Context(), store.IndexerLease, "two", time.Minute); err != nil {
		b.Fatal(err)
	}
	_, err = b.system().Index(b.Context(), old, 0)
	b.refused(err, holdshort.LeaseLost)
	if n := b.number("SELECT COUNT(*) FROM documents"); n != 0 {
		b.Errorf("%d documents were written", n)
	}
}

// SearchCrashes ends the store before every statement while requests are raised, indexed, decided, erased and pruned. What is there afterwards is
// found, each once, and what is gone is not.
func SearchCrashes(t *testing.T, d Driver) {
	stays, erased := newHistory(birth), newHistory(birth.Add(time.Minute))
	for i, h := range []*history{stays, erased} {
		h.session.ID, h.run.ID, h.request.ID, h.decision.ID = holdshort.SessionID(fmt.Sprint("ses_", i)), holdshort.RunID(fmt.Sprint("run_", i)), holdshort.RequestID(fmt.Sprint("req_", i)), holdshort.DecisionID(fmt.Sprint("dec_", i))
		h.run.SessionID, h.request.SessionID, h.request.RunID = h.session.ID, h.session.ID, h.run.ID
		h.request.Question = []string{"Keep the oboe", "Forget the oboe"}[i]
		h.request.Actions = []holdshort.Action{{CallID: "1", Tool: "tell"}}
	}
	write := func(h *history) func(store.Tx) error {
		return func(tx store.Tx) error {
			return firstError(tx.PutSession(h.session), tx.PutRun(h.run), tx.PutRequest(h.request), tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Run: h.run.ID, Request: h.request.ID}))
		}
	}
	ctx := context.Background()
	leases := func(s store.Store) (stamping, indexing holdshort.Lease, ok bool) {
		if s.Exclusive() {
			return stamping, indexing, true
		}
		stamping, err1 := s.System().Acquire(ctx, store.SequencerLease, "node", time.Hour)
		indexing, err2 := s.System().Acquire(ctx, store.IndexerLease, "node", time.Hour)
		return stamping, indexing, err1 == nil && err2 == nil
	}
	crashes := 0
	d.Crashes(t, func(s store.Store, acknowledge func()) {
		update := func(fn func(store.Tx) error) bool { return s.Update(ctx, acme, fn) == nil }
		stamping, indexing, ok := leases(s)
		step := func(limit int) bool {
			_, err := s.System().Stamp(ctx, stamping, 100)
			if err == nil {
				_, err = s.System().Index(ctx, indexing, limit)
			}
			return err == nil
		}
		if ok && update(func(tx store.Tx) error { return firstError(write(stays)(tx), write(erased)(tx)) }) && step(1) && step(100) {
			acknowledge()
			if update(func(tx store.Tx) error { return tx.EraseSession(erased.session.ID, "ana") }) {
				acknowledge()
			}
		}
	}, func(t *testing.T, s store.Store, acknowledged int) {
		crashes++
		b := &crashBed{t, s}
		for _, h := range []*history{stays, erased} {
			err := s.View(context.Background(), acme, func(tx store.ReadTx) error { _, err := tx.Request(h.request.ID); return err })
			if holdshort.CodeOf(err) == holdshort.NotFound {
				err = s.Update(context.Background(), acme, write(h))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		b.finds("oboe", 2-map[bool]int{true: 1}[acknowledged == 2 || b.isErased(erased.request.ID)])
		indexAll(t, s, "node")
		b.finds("keep", 1)
		if err := s.Update(context.Background(), acme, func(tx store.Tx) error { return tx.EraseSession(erased.session.ID, "ana") }); err != nil {
			t.Fatal(err)
		}
		b.finds("forget", 0)
		b.finds("oboe", 1)
		indexAll(t, s, "node")
		b.finds("oboe", 1)
		err := s.View(context.Background(), acme, func(tx store.ReadTx) error {
			alike, err := tx.Alike(stays.request, birth)
			if len(alike.Decided) != 0 {
				t.Errorf("without an outcome %+v", alike)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	if crashes < 20 {
		t.Errorf("only %d crashes: the statements are not seen", crashes)
	}
}

func (b *crashBed) isErased(id holdshort.RequestID) (erased bool) {
	b.Helper()
	err := b.store.View(context.Background(), acme, func(tx store.ReadTx) error {
		r, err := tx.Request(id)
		erased = r.Question == ""
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return erased
}

func (b *crashBed) finds(word string, want int) {
	b.Helper()
	err := b.store.View(context.Background(), acme, func(tx store.ReadTx) error {
		page, err := tx.Search(store.SearchQuery{Words: word})
		if len(page.Items) != want {
			b.Errorf("%q finds %d, want %d", word, len(page.Items), want)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}
