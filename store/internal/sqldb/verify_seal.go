package sqldb

import (
	"bytes"
	"encoding/hex"
	"encoding/json"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// seals: positions have no holes, and every sealed stretch has the root that was signed.
func (v *verifier) seals() error {
	var root holdshort.Root
	var seal holdshort.Seal
	position := v.verdict.PrunedTo
	for {
		n := 0
		err := v.snapshot(func(conn Conn) error {
			n = 0
			var events []holdshort.Event
			var hashes [][32]byte
			var tenants []holdshort.TenantID
			err := conn.Query(selectAfter, []any{position, int64(verifyPage)}, func(scan func(...any) error) error {
				t, e, err := scanEvent(scan)
				events, hashes, tenants = append(events, e), append(hashes, e.Hash(t)), append(tenants, t)
				return err
			})
			if err != nil {
				return err
			}
			n = len(events)
			for i, e := range events {
				if e.Position != position+1 {
					v.fault(store.Fault{Position: position + 1}, "events %d to %d are missing", position+1, e.Position-1)
				}
				position = e.Position
				if tenants[i] == holdshort.SystemTenant && e.Type == "audit.sealed" {
					if err := v.logged(conn, e); err != nil {
						return err
					}
				}
				for seal.To < position { // the seal that covers this event
					next, ok, err := v.nextSeal(conn, seal)
					if err != nil {
						return err
					}
					if !ok {
						break
					}
					seal, root = next, holdshort.Root{}
				}
				if seal.To < position {
					v.verdict.Unsealed++
					continue
				}
				if seal.From <= position {
					root.Add(position, tenants[i], hashes[i])
				}
				if position == seal.To && seal.From > v.verdict.PrunedTo && !bytes.Equal(root.Sum(), seal.Root) {
					v.fault(store.Fault{Seal: seal.Number, Position: seal.From}, "events %d to %d are not those that were sealed", seal.From, seal.To)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n < verifyPage {
			break
		}
	}
	return v.tail(position)
}

// nextSeal reads the seal after the current one and checks that it continues it and that its signature is ours.
func (v *verifier) nextSeal(conn Conn, current holdshort.Seal) (next holdshort.Seal, ok bool, err error) {
	err = conn.Query(selectSeals, []any{current.Number, int64(1)}, func(scan func(...any) error) error {
		next, err = scanSeal(scan)
		ok = true
		return err
	})
	if err != nil || !ok {
		return next, ok, err
	}
	v.verdict.Seals++
	at := store.Fault{Seal: next.Number}
	if err := v.db.Keyring.VerifySeal(next.KeyID, next.Message(), next.Signature); err != nil {
		v.fault(at, "its signature does not hold: %v", holdshort.CodeOf(err))
	}
	first := current.Number == 0
	switch {
	case first && v.verdict.PrunedTo == 0 && (next.Number != 1 || next.From != 1):
		v.fault(at, "the first seals are missing")
	case first && v.verdict.PrunedTo > 0 && (next.Number != v.cut.Seal || !bytes.Equal(next.Hash(), v.cut.SealHash)):
		v.fault(at, "it is not the seal that the last pruning kept")
	case !first && (next.Number != current.Number+1 || next.From != current.To+1):
		v.fault(at, "seals between %d and %d are missing", current.Number, next.Number)
	case !first && !bytes.Equal(next.Prev, current.Hash()):
		v.fault(at, "the seal before it is not the one that it was made after")
	}
	return next, true, nil
}

// logged: a seal that the log speaks of must be there, and be that one. Seals before the one that the last pruning kept are gone with it.
func (v *verifier) logged(conn Conn, e holdshort.Event) error {
	var said struct {
		Seal, From, To int64
		Root           string
	}
	if err := json.Unmarshal(e.Data, &said); err != nil || said.Seal < v.cut.Seal {
		return nil // a changed event shows in its chain and in its seal
	}
	found := false
	err := conn.Query(selectSeals, []any{said.Seal - 1, int64(1)}, func(scan func(...any) error) error {
		seal, err := scanSeal(scan)
		found = seal.Number == said.Seal && seal.From == said.From && seal.To == said.To && hex.EncodeToString(seal.Root) == said.Root
		return err
	})
	if err == nil && !found {
		v.fault(store.Fault{Seal: said.Seal, Position: e.Position}, "the log says that it was made, and it is gone or another one")
	}
	return err
}

// tail: what was sealed or marked must still be there. Events that came during the walk are there, whatever else is not known of them yet.
func (v *verifier) tail(position int64) error {
	var marked Progress
	if v.db.Mark != nil {
		marked = v.db.Mark.come() // before the look: what comes after it is no fault
	}
	return v.snapshot(func(conn Conn) error {
		last, err := readLastSeal(conn)
		if err != nil {
			return err
		}
		come, err := readNumber(bare{conn}, lastPosition)
		if err != nil {
			return err
		}
		position = max(position, come)
		if last.To > position {
			v.fault(store.Fault{Seal: last.Number, Position: position}, "events %d to %d were sealed and are gone", position+1, last.To)
		}
		if v.db.Mark != nil {
			if marked.Position > position {
				v.fault(store.Fault{Position: position}, "the log had come to %d and ends at %d", marked.Position, position)
			}
			if marked.Seal > last.Number {
				v.fault(store.Fault{Seal: marked.Seal}, "it was made, and the last one is %d", last.Number)
			}
		}
		unstamped, err := readNumber(bare{conn}, unstampedN)
		v.verdict.Unsealed += unstamped
		return err
	})
}
