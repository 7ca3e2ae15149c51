package storetest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

func testSeals(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	if seal := b.seal(1000); seal != nil {
		b.Errorf("an empty log was sealed: %+v", seal)
	}
	b.log(10)
	if v := b.verifies(); v.Unsealed != 10 || v.Events != 10 || v.Streams != 4 || v.Seals != 0 {
		b.Errorf("before the first seal: %+v", v)
	}
	first := b.seal(6)
	second := b.seal(1000)
	if first == nil || second == nil || first.Number != 1 || first.From != 1 || first.To != 6 || second.Number != 2 || second.From != 7 {
		b.Fatalf("sealed %+v and %+v", first, second)
	}
	if len(first.Prev) != 0 || !bytes.Equal(second.Prev, first.Hash()) {
		b.Error("the second seal does not name the first")
	}
	for _, s := range []*holdshort.Seal{first, second} {
		if err := b.db.Keyring().VerifySeal(s.KeyID, s.Message(), s.Signature); err != nil {
			b.Errorf("seal %d: %v", s.Number, err)
		}
		if age := b.now().Sub(s.At); age < 0 || age > time.Minute {
			b.Errorf("seal %d was made %s ago", s.Number, age)
		}
	}
	for range 5 { // the event that a seal leaves is no reason for another one
		if again := b.seal(1000); again != nil && again.Number > 3 {
			b.Fatalf("sealing goes on for ever: %+v", again)
		}
	}
	b.log(3)
	third := b.seal(1000)
	if third == nil || !bytes.Equal(third.Prev, b.lastSealBut(1).Hash()) {
		b.Fatalf("sealed %+v", third)
	}
	b.db.Crash(t)
	v := b.verifies()
	if v.Seals != third.Number || v.Events < 13 || v.PrunedTo != 0 || v.Erased != 0 || b.now().Sub(v.At) > time.Minute {
		b.Errorf("after a crash: %+v", v)
	}

	t.Run("under a new key", func(t *testing.T) {
		b := &bed{t, b.db}
		old := b.db.Keyring().SigningKeyID()
		b.db.Rotate(t)
		b.log(4)
		seal := b.seal(1000)
		if seal.KeyID == old || seal.KeyID != b.db.Keyring().SigningKeyID() {
			b.Errorf("sealed under %s, the old key was %s", seal.KeyID, old)
		}
		b.verifies()
	})
	t.Run("at the same time", func(t *testing.T) {
		b := &bed{t, b.db}
		b.log(4)
		b.stamp()
		lease := b.sequencer()
		const nodes = 4
		errs := make(chan error, nodes)
		for range nodes {
			go func() {
				_, err := b.system().Seal(context.Background(), lease, 1000)
				errs <- err
			}()
		}
		for range nodes {
			if err := receive(b, "a sealer", errs); err != nil && holdshort.CodeOf(err) != holdshort.Duplicate && holdshort.CodeOf(err) != holdshort.Conflict {
				b.Errorf("sealing at the same time: %v", err)
			}
		}
		b.verifies()
	})
}

// lastSealBut gives the seal that is n before the last.
func (b *bed) lastSealBut(n int) holdshort.Seal {
	b.Helper()
	var seals []holdshort.Seal
	for _, r := range b.export() {
		if r.Seal != nil {
			seals = append(seals, *r.Seal)
		}
	}
	if len(seals) <= n {
		b.Fatalf("there are %d seals", len(seals))
	}
	return seals[len(seals)-1-n]
}

// testExport: every event once, in order, with the hash that it has, each seal behind what it covers, and roots that can be computed from it.
func testExport(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	if list := b.export(); len(list) != 0 {
		b.Errorf("an empty log exports %d records", len(list))
	}
	for range 3 {
		b.log(12)
		b.seal(1000)
	}
	b.updateOf(rival, func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "run.created"}) })
	v := b.verifies()
	var root holdshort.Root
	position, events, seals := int64(0), int64(0), int64(0)
	for _, r := range b.export() {
		switch {
		case r.Event != nil && r.Seal == nil:
			hash := r.Event.Hash(r.Tenant)
			if !bytes.Equal(hash[:], r.Hash) {
				b.Errorf("event %d is exported with another hash than it has", r.Event.Position)
			}
			if events++; r.Event.Position != position+1 {
				b.Errorf("event %d follows %d", r.Event.Position, position)
			}
			position = r.Event.Position
			root.Add(position, r.Tenant, hash)
		case r.Seal != nil && r.Event == nil:
			if seals++; r.Seal.To != position || !bytes.Equal(root.Sum(), r.Seal.Root) {
				b.Errorf("seal %d of %d to %d comes behind %d, or has another root than its events", r.Seal.Number, r.Seal.From, r.Seal.To, position)
			}
			root = holdshort.Root{}
		default:
			b.Errorf("a record of nothing, or of two things: %+v", r)
		}
	}
	if events != v.Events || seals != v.Seals {
		b.Errorf("exported %d events and %d seals, the log has %d and %d", events, seals, v.Events, v.Seals)
	}
	n := 0
	err := b.system().Export(context.Background(), func(store.Record) error {
		if n++; n == 5 {
			return errOwn
		}
		return nil
	})
	if err != errOwn || n != 5 {
		b.Errorf("an export whose reader failed went on to %d (%v)", n, err)
	}
	// It holds no transaction: others write and read meanwhile.
	err = b.system().Export(context.Background(), func(store.Record) error {
		b.update(func(tx store.Tx) error {
			return tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: "x", DueAt: birth})
		})
		return nil
	})
	if err != nil {
		b.Errorf("an export during which others write: %v", err)
	}
}
