package sqldb

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

var (
	selectEvent   = statement(`SELECT ` + eventColumns + ` FROM events WHERE tenant = ? AND stream = ? AND seq = ?`)
	selectEarlier = statement(`SELECT number, from_pos, to_pos, root, prev, at, key_id, signature FROM seals WHERE number < ? ORDER BY number DESC LIMIT ?`)
)

// VerifyTail takes the last events over one snapshot: each must continue its stream and follow the position before it, and seals must be
// what was signed. It says from where on it looked.
func (db *DB) VerifyTail(ctx context.Context, events int) (store.Verdict, error) {
	if db.Keyring == nil {
		return store.Verdict{}, &holdshort.Error{Code: holdshort.KeyUnknown, Op: "verify events", Message: "no keyring", Hint: "name the keyring file: seals are checked with its keys"}
	}
	if events <= 0 || events > store.MostTail {
		events = store.MostTail
	}
	v := &verifier{db: db, ctx: ctx}
	if err := v.prunings(); err != nil {
		return v.verdict, err
	}
	var marked Progress
	if db.Mark != nil {
		marked = db.Mark.come() // before the look: what comes after it is no fault
	}
	err := v.snapshot(func(conn Conn) error {
		return (&tail{verifier: v, conn: conn, marked: marked, ends: map[streamKey]end{}}).walk(int64(events))
	})
	return v.verdict, err
}

// tail is one look at the end of the log.
type tail struct {
	*verifier
	conn   Conn
	marked Progress
	ends   map[streamKey]end
}

type end struct {
	seq  int64
	hash [32]byte
}

// placed is an event with what a seal covers of it.
type placed struct {
	holdshort.Event
	tenant holdshort.TenantID
	hash   [32]byte
}

func (t *tail) walk(events int64) error {
	last, err := readNumber(bare{t.conn}, lastPosition)
	if err != nil {
		return err
	}
	v := &t.verdict
	v.To = last
	v.From = max(last-events, v.PrunedTo) + 1
	var list []placed
	err = t.conn.Query(selectAfter, []any{v.From - 1, events}, func(scan func(...any) error) error {
		tenant, e, err := scanEvent(scan)
		list = append(list, placed{e, tenant, e.Hash(tenant)})
		return err
	})
	if err != nil {
		return err
	}
	position := v.From - 1
	for _, e := range list {
		if e.Position != position+1 {
			t.fault(store.Fault{Position: position + 1}, "events %d to %d are missing", position+1, e.Position-1)
		}
		position = e.Position
		if err := t.continues(e); err != nil {
			return err
		}
		if e.tenant == holdshort.SystemTenant && e.Type == "audit.sealed" {
			if err := t.logged(t.conn, e.Event); err != nil {
				return err
			}
		}
	}
	v.Events, v.Streams = int64(len(list)), int64(len(t.ends))
	return t.sealed(list)
}

// continues: the event carries the hash of the one before it, which may lie before what is looked at.
func (t *tail) continues(e placed) error {
	key := streamKey{e.tenant, e.Stream}
	before, known := t.ends[key]
	t.ends[key] = end{e.Seq, e.hash}
	at := store.Fault{Position: e.Position, Tenant: e.tenant, Stream: e.Stream}
	if !known && e.Seq > 1 {
		found := false
		err := t.conn.Query(selectEvent, []any{string(e.tenant), e.Stream, e.Seq - 1}, func(scan func(...any) error) error {
			_, b, err := scanEvent(scan)
			before, found = end{b.Seq, b.Hash(e.tenant)}, true
			return err
		})
		switch {
		case err != nil:
			return err
		case !found && t.verdict.PrunedTo > 0: // it went with what was pruned
			return nil
		case !found:
			t.fault(at, "the event before it (%d) is missing", e.Seq-1)
			return nil
		}
	}
	switch {
	case e.Seq == 1 && len(e.Prev) > 0:
		t.fault(at, "the first event of the stream names one before it")
	case e.Seq != before.seq+1:
		t.fault(at, "event %d follows %d: %d are missing", e.Seq, before.seq, e.Seq-before.seq-1)
	case e.Seq > 1 && !bytes.Equal(e.Prev, before.hash[:]):
		t.fault(at, "the event before it (%d) is not the one that it was written after", before.seq)
	}
	return nil
}

// sealed walks the seals back to the first event that is looked at.
func (t *tail) sealed(list []placed) error {
	v := &t.verdict
	last, err := readLastSeal(t.conn)
	if err != nil {
		return err
	}
	if v.Unsealed, err = readNumber(bare{t.conn}, unstampedN); err != nil {
		return err
	}
	covered, _ := slices.BinarySearchFunc(list, last.To+1, byPosition)
	v.Unsealed += int64(len(list) - covered)
	if last.To > v.To {
		t.fault(store.Fault{Seal: last.Number, Position: v.To}, "events %d to %d were sealed and are gone", v.To+1, last.To)
	}
	if t.marked.Position > v.To {
		t.fault(store.Fault{Position: v.To}, "the log had come to %d and ends at %d", t.marked.Position, v.To)
	}
	if t.marked.Seal > last.Number {
		t.fault(store.Fault{Seal: t.marked.Seal}, "it was made, and the last one is %d", last.Number)
	}
	for seal := last; seal.Number > 0 && seal.To >= v.From; {
		t.signed(seal, list)
		var earlier holdshort.Seal
		err := t.conn.Query(selectEarlier, []any{seal.Number, int64(1)}, func(scan func(...any) error) (err error) {
			earlier, err = scanSeal(scan)
			return err
		})
		if err != nil {
			return err
		}
		t.follows(seal, earlier)
		seal = earlier
	}
	return nil
}

// signed: the seal is ours and, if all of its events are here, they are those that it was made of.
func (t *tail) signed(seal holdshort.Seal, list []placed) {
	at := store.Fault{Seal: seal.Number, Position: seal.From}
	if err := t.db.Keyring.VerifySeal(seal.KeyID, seal.Message(), seal.Signature); err != nil {
		t.fault(at, "its signature does not hold: %v", holdshort.CodeOf(err))
	}
	if seal.From < t.verdict.From || seal.To > t.verdict.To {
		return
	}
	t.verdict.Seals++
	from, _ := slices.BinarySearchFunc(list, seal.From, byPosition)
	to, _ := slices.BinarySearchFunc(list, seal.To+1, byPosition)
	var root holdshort.Root
	for _, e := range list[from:max(from, to)] {
		root.Add(e.Position, e.tenant, e.hash)
	}
	if !bytes.Equal(root.Sum(), seal.Root) {
		t.fault(at, "events %d to %d are not those that were sealed", seal.From, seal.To)
	}
}

func (t *tail) follows(seal, earlier holdshort.Seal) {
	at := store.Fault{Seal: seal.Number, Position: seal.From}
	switch {
	case earlier.Number == 0 && t.verdict.PrunedTo > 0: // the first that the last pruning kept
	case earlier.Number == 0 && (seal.Number != 1 || seal.From != 1):
		t.fault(at, "the first seals are missing")
	case earlier.Number > 0 && (earlier.Number != seal.Number-1 || earlier.To != seal.From-1):
		t.fault(at, "seals between %d and %d are missing", earlier.Number, seal.Number)
	case earlier.Number > 0 && !bytes.Equal(seal.Prev, earlier.Hash()):
		t.fault(at, "the seal before it is not the one that it was made after")
	}
}

func byPosition(e placed, position int64) int { return cmp.Compare(e.Position, position) }
