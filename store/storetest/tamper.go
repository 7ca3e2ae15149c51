package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testTampering does to the log, by SQL, what somebody with access to the database could, and wants Verify to see each.
func testTampering(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	streams := b.log(16)
	b.seal(10)
	b.seal(1000)
	b.log(8)
	b.seal(1000)
	b.log(3)
	b.update(func(tx store.Tx) error {
		_, err := tx.AddBody(newSession(birth).ID, "", []byte("the reason why"))
		return err
	})
	b.stamp()
	b.mark()
	b.db.Freeze(t) // else the mark might remember what was forged
	b.verifies()
	columns := b.db.Columns(t)
	tables := map[string][][]any{}
	for _, table := range []string{"events", "seals", "bodies", "meta"} {
		tables[table] = b.db.Rows(t, "SELECT "+strings.Join(columns[table], ", ")+" FROM "+table)
	}
	restore := func() {
		for table, rows := range tables {
			b.db.Exec(t, "DELETE FROM "+table)
			overriding := ""
			if slices.Contains(columns[table], "ins") {
				overriding = " OVERRIDING SYSTEM VALUE"
			}
			var values []string
			var args []any
			for _, row := range rows {
				values = append(values, "("+strings.TrimSuffix(strings.Repeat("?, ", len(row)), ", ")+")")
				args = append(args, row...)
			}
			b.db.Exec(t, "INSERT INTO "+table+" ("+strings.Join(columns[table], ", ")+")"+overriding+" VALUES "+strings.Join(values, ", "), args...)
		}
	}
	found := func(name string, do func(b *bed)) {
		t.Run(name, func(t *testing.T) {
			b := &bed{t, b.db}
			do(b)
			if v := b.verdict(); len(v.Faults) == 0 {
				b.Errorf("verify saw nothing: %+v", v)
			}
			if v := b.tail(store.MostTail); len(v.Faults) == 0 && !strings.HasPrefix(name, "body") && !strings.HasPrefix(name, "salt") { // bodies are not of the tail
				b.Errorf("verifying the tail saw nothing: %+v", v)
			}
			restore()
			b.verifies()
		})
	}
	other := func(value any) any {
		switch v := value.(type) {
		case int64:
			return v + 1000
		case string:
			return v + "x"
		case []byte:
			return append(slices.Clone(v), ' ')
		}
		t.Fatalf("a column of type %T", value)
		return nil
	}
	for _, at := range []int64{4, 13} {
		for _, column := range columns["events"] {
			if column == "ins" || column == "pos" {
				continue
			}
			found(fmt.Sprintf("event %d, %s changed", at, column), func(b *bed) {
				value := b.db.Rows(b, "SELECT "+column+" FROM events WHERE pos = ?", at)[0][0]
				b.db.Exec(b, "UPDATE events SET "+column+" = ? WHERE pos = ?", other(value), at)
			})
		}
		found(fmt.Sprintf("event %d deleted", at), func(b *bed) { b.db.Exec(b, "DELETE FROM events WHERE pos = ?", at) })
	}
	found("event moved to another position", func(b *bed) { b.db.Exec(b, "UPDATE events SET pos = 100000 WHERE pos = 5") })
	found("two events swapped", func(b *bed) {
		b.db.Exec(b, "UPDATE events SET pos = 100000 WHERE pos = 5")
		b.db.Exec(b, "UPDATE events SET pos = 5 WHERE pos = 6")
		b.db.Exec(b, "UPDATE events SET pos = 6 WHERE pos = 100000")
	})
	for _, stream := range streams {
		found("stream deleted: "+strings.SplitN(stream, "_", 2)[0], func(b *bed) { b.db.Exec(b, "DELETE FROM events WHERE stream = ? AND tenant = 'acme'", stream) })
	}
	for _, column := range columns["seals"] {
		found("seal, "+column+" changed", func(b *bed) {
			value := other(b.db.Rows(b, "SELECT "+column+" FROM seals WHERE number = 2")[0][0])
			if column == "number" {
				value = int64(77)
			}
			b.db.Exec(b, "UPDATE seals SET "+column+" = ? WHERE number = 2", value)
		})
	}
	for number, name := range map[int]string{1: "first", 2: "middle", 3: "last"} {
		found(name+" seal deleted", func(b *bed) { b.db.Exec(b, "DELETE FROM seals WHERE number = ?", number) })
	}
	found("all seals deleted", func(b *bed) { b.db.Exec(b, "DELETE FROM seals") })
	forge := func(b *bed, from, to int64) {
		b.db.Exec(b, "INSERT INTO seals (number, from_pos, to_pos, root, prev, at, key_id, signature) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			b.number("SELECT MAX(number) + 1 FROM seals"), from, to, []byte("root"), []byte("prev"), birth.UnixMicro(), b.db.Keyring().SigningKeyID(), make([]byte, 64))
	}
	last := b.number("SELECT MAX(pos) FROM events")
	found("forged seal over what is not sealed yet", func(b *bed) { forge(b, b.number("SELECT MAX(to_pos) + 1 FROM seals"), last) })
	found("forged seal over what is not there", func(b *bed) { forge(b, last+1, last+9) })
	found("tail cut off with its seal", func(b *bed) {
		b.db.Exec(b, "DELETE FROM events WHERE pos > 18")
		b.db.Exec(b, "DELETE FROM seals WHERE to_pos > 18")
	})
	found("unsealed tail cut off", func(b *bed) { b.db.Exec(b, "DELETE FROM events WHERE pos = ?", last) })
	found("body changed", func(b *bed) { b.db.Exec(b, "UPDATE bodies SET body = ?", []byte("another reason")) })
	found("salt changed", func(b *bed) { b.db.Exec(b, "UPDATE bodies SET salt = ?", []byte("pepper")) })
	prune := func(b *bed) {
		b.db.Exec(b, "DELETE FROM events WHERE pos <= 10")
		b.db.Exec(b, "DELETE FROM meta WHERE name = 'pruned_to'")
		b.db.Exec(b, "INSERT INTO meta (name, value) VALUES ('pruned_to', '10')")
	}
	found("pruning that nobody signed", prune)
	found("pruning that nobody signed, with a note", func(b *bed) {
		b.update(func(tx store.Tx) error {
			return tx.AddEvent(holdshort.Event{Type: "audit.pruned", Data: []byte(`{"through":10,"seal":1,"key_id":"` + b.db.Keyring().SigningKeyID() + `"}`)})
		})
		b.stamp()
		prune(b)
		b.db.Exec(b, "UPDATE events SET tenant = '_system' WHERE type = 'audit.pruned'")
	})
	found("pruning without a trace", func(b *bed) {
		b.db.Exec(b, "DELETE FROM events WHERE pos <= 10")
		b.db.Exec(b, "DELETE FROM seals WHERE number = 1")
	})
}

// mark makes the store note outside the database how far it has come.
func (b *bed) mark() {
	b.Helper()
	b.db.Advance(b, 5*time.Second)
	b.db.Reopen(b)
}

// testPrunedLogs: what retention cut is explained by a signed note, the rest still verifies, and a watcher learns what it missed.
func testPrunedLogs(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	streams := b.log(12)
	b.seal(1000)
	b.log(6)
	b.seal(1000)
	b.db.Advance(t, 48*time.Hour)
	b.update(func(tx store.Tx) error { // a stream that goes on beyond the cut
		return tx.AddEvent(holdshort.Event{Type: "run.completed", Run: holdshort.RunID(streams[0])})
	})
	b.log(6)
	b.seal(1000)
	b.log(6)
	b.seal(1000)
	before := b.verifies()
	pruned := b.prune(store.Retention{Events: 24 * time.Hour})
	if pruned.Events == 0 {
		b.Fatal("nothing was pruned")
	}
	after := b.verifies()
	if after.PrunedTo != pruned.Events || after.Events != before.Events-pruned.Events+1 {
		b.Errorf("%d events of %d were pruned; now %+v", pruned.Events, before.Events, after)
	}
	if again := b.prune(store.Retention{Events: 24 * time.Hour}); again.Events != 0 {
		b.Errorf("%d more events were pruned", again.Events)
	}
	for from, gap := range map[int64]bool{0: false, 1: true, after.PrunedTo - 1: true, after.PrunedTo: false, after.PrunedTo + 3: false} {
		got := load(b, func(tx store.ReadTx) (store.Events, error) { return tx.Events(store.EventQuery{After: from}) })
		if got.Gap != gap {
			b.Errorf("a watcher at %d of a log that begins after %d: gap %v", from, after.PrunedTo, got.Gap)
		}
	}
	b.update(func(tx store.Tx) error { // streams go on, cut or not
		return firstError(tx.AddEvent(holdshort.Event{Type: "run.waiting", Run: holdshort.RunID(streams[0])}),
			tx.AddEvent(holdshort.Event{Type: "run.waiting", Run: holdshort.RunID(streams[1])}), tx.AddEvent(holdshort.Event{Type: "access.denied"}))
	})
	b.seal(1000)
	b.db.Rotate(t)
	b.verifies()

	t.Run("tampering behind the cut is still seen", func(t *testing.T) {
		b := &bed{t, b.db}
		kept := b.number("SELECT MIN(number) FROM seals")
		pos := b.number("SELECT MIN(from_pos) FROM seals WHERE number > ?", kept)
		rows := b.db.Rows(t, "SELECT number, from_pos, to_pos, root, prev, at, key_id, signature FROM seals WHERE number <= ?", kept+1)
		b.db.Exec(t, "DELETE FROM seals WHERE number <= ?", kept+1)
		if v := b.verdict(); len(v.Faults) == 0 {
			b.Error("the seals that follow the cut were deleted and verify saw nothing")
		}
		for _, row := range rows {
			b.db.Exec(t, "INSERT INTO seals (number, from_pos, to_pos, root, prev, at, key_id, signature) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row...)
		}
		b.verifies()
		b.db.Exec(t, "UPDATE events SET actor = 'eve' WHERE pos = ?", pos)
		if v := b.verdict(); len(v.Faults) == 0 {
			b.Error("an event behind the cut was changed and verify saw nothing")
		}
	})
}

func (b *bed) prune(keep store.Retention) store.Pruned {
	b.Helper()
	out, err := b.system().Prune(b.Context(), keep)
	if err != nil {
		b.Fatalf("prune: %v", err)
	}
	return out
}

// testBodies: texts that events refer to by digest, which can be erased.
func testBodies(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	session := newSession(birth)
	var digests [3]string
	b.update(func(tx store.Tx) (err error) {
		for i, text := range []string{"because <it> was & late", "because <it> was & late", "\x00\xff binary"} {
			if digests[i], err = tx.AddBody(session.ID, "", []byte(text)); err != nil {
				return err
			}
		}
		return firstError(tx.PutSession(session), tx.AddEvent(holdshort.Event{Type: "hitl.request.commented", Session: session.ID, Data: []byte(`{"body":"` + digests[0] + `"}`)}))
	})
	if digests[0] == digests[1] || len(digests[0]) != 64 {
		b.Errorf("the same text twice has digests %q: they can be guessed", digests[:2])
	}
	if got := load(b, func(tx store.ReadTx) ([]byte, error) { return tx.Body(digests[2]) }); string(got) != "\x00\xff binary" {
		b.Errorf("a body came back as %q", got)
	}
	absent(b, "an unknown body", func(tx store.ReadTx) ([]byte, error) { return tx.Body("no such digest") })
	if v := b.verifies(); v.Erased != 0 {
		b.Errorf("%d bodies erased", v.Erased)
	}
	b.update(func(tx store.Tx) error { return tx.EraseSession(session.ID, "ana") })
	for _, digest := range digests {
		absent(b, "an erased body", func(tx store.ReadTx) ([]byte, error) { return tx.Body(digest) })
	}
	if v := b.verifies(); v.Erased != 3 {
		b.Errorf("verify counts %d erased bodies of 3", v.Erased)
	}
}
