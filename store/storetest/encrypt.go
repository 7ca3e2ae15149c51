package storetest

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testEncryption: with a codec no payload stands in the database as it is, and none can be moved to another row.
func testEncryption(t *testing.T, d Driver) {
	b := open(t, d, Options{Encrypt: true})
	h, other := personal(birth), newHistory(birth)
	h.session.Address = "" // where to find a session is not a payload
	b.update(func(tx store.Tx) error { return firstError(h.writePersonal(tx), other.write(tx)) })
	if found := b.canaries(); len(found) != 0 {
		b.Errorf("text stands in %v", found)
	}
	b.verifies()
	b.db.Rotate(t)
	got := load(b, func(tx store.ReadTx) (holdshort.Run, error) { return tx.Run(h.run.ID) })
	if string(got.Input) != string(h.run.Input) {
		b.Errorf("after a rotation the run's input is %q", got.Input)
	}
	if v := b.verifies(); v.Erased != 0 {
		b.Errorf("%d bodies erased", v.Erased)
	}
	swap := func(b *bed, table, column, key string, one, two any) func() {
		read := func(id any) any { return b.db.Rows(b, "SELECT "+column+" FROM "+table+" WHERE "+key+" = ?", id)[0][0] }
		first, second := read(one), read(two)
		set := func(value, id any) { b.db.Exec(b, "UPDATE "+table+" SET "+column+" = ? WHERE "+key+" = ?", value, id) }
		set(second, one)
		set(first, two)
		return func() { set(first, one); set(second, two) }
	}
	for _, c := range []struct {
		table, column, key string
		one, two           any
		load               func(store.ReadTx) (any, error)
	}{
		{"sessions", "body", "id", string(h.session.ID), string(other.session.ID), func(tx store.ReadTx) (any, error) { return tx.Session(h.session.ID) }},
		{"messages", "body", "id", string(h.message.ID), string(other.message.ID), func(tx store.ReadTx) (any, error) { return tx.Message(h.message.ID) }},
		{"runs", "fixed", "id", string(h.run.ID), string(other.run.ID), func(tx store.ReadTx) (any, error) { return tx.Run(h.run.ID) }},
		{"runs", "body", "id", string(h.run.ID), string(other.run.ID), func(tx store.ReadTx) (any, error) { return tx.Run(h.run.ID) }},
		{"requests", "fixed", "id", string(h.request.ID), string(other.request.ID), func(tx store.ReadTx) (any, error) { return tx.Request(h.request.ID) }},
		{"requests", "body", "id", string(h.request.ID), string(other.request.ID), func(tx store.ReadTx) (any, error) { return tx.Request(h.request.ID) }},
		{"decisions", "body", "id", string(h.decision.ID), string(other.decision.ID), func(tx store.ReadTx) (any, error) { return tx.Decision(h.request.ID) }},
		{"outbox", "body", "id", string(h.delivery.ID), string(other.delivery.ID), func(tx store.ReadTx) (any, error) { return tx.Delivery(h.delivery.ID) }},
		{"inbound", "body", "id", string(h.inbound.ID), string(other.inbound.ID), func(tx store.ReadTx) (any, error) {
			return tx.Inbound(h.inbound.Channel, h.inbound.Address, h.inbound.Key)
		}},
	} {
		t.Run("moved "+c.table+" "+c.column, func(t *testing.T) {
			b := &bed{t, b.db}
			back := swap(b, c.table, c.column, c.key, c.one, c.two)
			err := b.store().View(t.Context(), acme, func(tx store.ReadTx) error {
				_, err := c.load(tx)
				return err
			})
			b.refused(err, holdshort.Corrupt)
			back()
			load(b, c.load)
		})
	}
	t.Run("moved within its row", func(t *testing.T) {
		b := &bed{t, b.db}
		for table, read := range map[string]func(store.ReadTx) (any, error){
			"runs":     func(tx store.ReadTx) (any, error) { return tx.Run(h.run.ID) },
			"requests": func(tx store.ReadTx) (any, error) { return tx.Request(h.request.ID) },
		} {
			b.db.Exec(t, "UPDATE "+table+" SET fixed = body, body = fixed")
			err := b.store().View(t.Context(), acme, func(tx store.ReadTx) error {
				_, err := read(tx)
				return err
			})
			if holdshort.CodeOf(err) != holdshort.Corrupt {
				b.Errorf("%s: the two payloads of a row were swapped: got %v, want corrupt", table, err)
			}
			b.db.Exec(t, "UPDATE "+table+" SET fixed = body, body = fixed")
		}
	})
	t.Run("moved to another attempt", func(t *testing.T) {
		b := &bed{t, b.db}
		run := newRun(birth)
		first, second := newEntry(run.ID, "step", birth), newEntry(run.ID, "step", birth)
		second.Attempt, second.Outcome = 2, []byte(`{"ok":false}`)
		b.update(func(tx store.Tx) error { return firstError(tx.AddJournal(first), tx.AddJournal(second)) })
		swap(b, "journal", "body", "run_id = '"+string(run.ID)+"' AND attempt", int64(1), int64(2))
		err := b.store().View(t.Context(), acme, func(tx store.ReadTx) error {
			_, err := tx.Journal(run.ID)
			return err
		})
		if holdshort.CodeOf(err) != holdshort.Corrupt {
			b.Errorf("the outcomes of two attempts were swapped: got %v, want corrupt", err)
		}
	})
	t.Run("moved to another tenant", func(t *testing.T) {
		b := &bed{t, b.db}
		run := newRun(birth)
		run.Input = []byte(`"mine"`)
		b.update(func(tx store.Tx) error { return tx.PutRun(run) })
		run.Input = []byte(`"theirs"`)
		b.updateOf(rival, func(tx store.Tx) error { return tx.PutRun(run) })
		swap(b, "runs", "fixed", "id = '"+string(run.ID)+"' AND tenant", string(acme), string(rival))
		err := b.store().View(t.Context(), acme, func(tx store.ReadTx) error {
			_, err := tx.Run(run.ID)
			return err
		})
		b.refused(err, holdshort.Corrupt)
	})
}
