package sqldb

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	verifyPage = 1000
	mostFaults = 100
)

var (
	selectByStream = statement(`SELECT ` + eventColumns + ` FROM events WHERE (tenant, stream, seq) > (?, ?, ?) ORDER BY tenant, stream, seq LIMIT ?`)
	selectBodies   = statement(`SELECT tenant, digest, salt, body FROM bodies WHERE (tenant, digest) > (?, ?) ORDER BY tenant, digest LIMIT ?`)
	selectPrunings = statement(`SELECT ` + eventColumns + ` FROM events WHERE tenant = '_system' AND stream = 'tenant' AND type = 'audit.pruned' ORDER BY seq DESC LIMIT 1`)
)

// verifier walks the log twice in pages, each its own snapshot: by stream for the chains, by position for the seals. It needs the same
// little memory for a thousand events as for a hundred million.
type verifier struct {
	db      *DB
	ctx     context.Context
	verdict store.Verdict
	cut     pruning // the signed note of the last pruning
}

func (db *DB) Verify(ctx context.Context) (store.Verdict, error) {
	if db.Keyring == nil {
		return store.Verdict{}, &holdshort.Error{Code: holdshort.KeyUnknown, Op: "verify events", Message: "no keyring", Hint: "name the keyring file: seals are checked with its keys"}
	}
	v := &verifier{db: db, ctx: ctx}
	for _, step := range []func() error{v.prunings, v.streams, v.seals, v.bodies} {
		if err := step(); err != nil {
			return v.verdict, err
		}
	}
	return v.verdict, nil
}

func (v *verifier) fault(f store.Fault, format string, args ...any) {
	if len(v.verdict.Faults) < mostFaults {
		f.Problem = fmt.Sprintf(format, args...)
		v.verdict.Faults = append(v.verdict.Faults, f)
	}
}

func (v *verifier) snapshot(fn func(Conn) error) error {
	return v.db.Backend.Snapshot(v.ctx, func(conn Conn, now time.Time) error {
		v.verdict.At = now
		return fn(conn)
	})
}

// pruning is what audit.pruned says: everything up to Through is gone, and the seal that closed it had this hash.
type pruning struct {
	Through   int64  `json:"through"`
	Seal      int64  `json:"seal"`
	SealHash  []byte `json:"seal_hash"`
	KeyID     string `json:"key_id"`
	Signature []byte `json:"signature"`
}

func (p pruning) message() []byte {
	return holdshort.Seal{Number: p.Seal, To: p.Through, Root: []byte("pruned"), Prev: p.SealHash, KeyID: p.KeyID}.Message()
}

// prunings: only a signed note may explain that the log does not begin at its beginning.
func (v *verifier) prunings() error {
	return v.snapshot(func(conn Conn) error {
		q := bare{conn}
		through, err := readMeta(q, "pruned_to")
		if err != nil {
			return err
		}
		v.verdict.PrunedTo = through
		if through == 0 {
			return nil
		}
		signed := false
		err = conn.Query(selectPrunings, nil, func(scan func(...any) error) error {
			_, e, err := scanEvent(scan)
			if err != nil {
				return err
			}
			var p pruning
			if json.Unmarshal(e.Data, &p) == nil && p.Through == through && v.db.Keyring.VerifySeal(p.KeyID, p.message(), p.Signature) == nil {
				signed, v.cut = true, p
			}
			return nil
		})
		if err == nil && !signed {
			v.fault(store.Fault{Position: through}, "events up to %d are gone and no signed audit.pruned says so", through)
		}
		return err
	})
}

// streams: every event carries the hash of the one before it.
func (v *verifier) streams() error {
	var tenant holdshort.TenantID
	var before holdshort.Event
	var hash [32]byte
	for {
		n := 0
		err := v.snapshot(func(conn Conn) error {
			n = 0
			return conn.Query(selectByStream, []any{string(tenant), before.Stream, before.Seq, int64(verifyPage)}, func(scan func(...any) error) error {
				t, e, err := scanEvent(scan)
				if err != nil {
					return err
				}
				n++
				v.verdict.Events++
				at := store.Fault{Position: e.Position, Tenant: t, Stream: e.Stream}
				switch {
				case t != tenant || e.Stream != before.Stream:
					v.verdict.Streams++
					if e.Seq != 1 && v.verdict.PrunedTo == 0 {
						v.fault(at, "the stream begins at %d: its first events are missing", e.Seq)
					} else if e.Seq == 1 && len(e.Prev) > 0 {
						v.fault(at, "the first event of the stream names one before it")
					}
				case e.Seq != before.Seq+1:
					v.fault(at, "event %d follows %d: %d are missing", e.Seq, before.Seq, e.Seq-before.Seq-1)
				case !bytes.Equal(e.Prev, hash[:]):
					v.fault(at, "the event before it (%d) is not the one that it was written after", before.Seq)
				}
				tenant, before, hash = t, e, e.Hash(t)
				return nil
			})
		})
		if err != nil || n < verifyPage {
			return err
		}
	}
}

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

// tail: what was sealed or marked must still be there.
func (v *verifier) tail(position int64) error {
	return v.snapshot(func(conn Conn) error {
		last, err := readLastSeal(conn)
		if err != nil {
			return err
		}
		if last.To > position {
			v.fault(store.Fault{Seal: last.Number, Position: position}, "events %d to %d were sealed and are gone", position+1, last.To)
		}
		if v.db.Mark != nil {
			marked := v.db.Mark.come()
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

// bodies: those that were not erased are what their digests say.
func (v *verifier) bodies() error {
	var tenant, digest string
	for {
		n := 0
		err := v.snapshot(func(conn Conn) error {
			n = 0
			return conn.Query(selectBodies, []any{tenant, digest, int64(verifyPage)}, func(scan func(...any) error) error {
				var salt, body []byte
				if err := scan(&tenant, &digest, &salt, &body); err != nil {
					return err
				}
				n++
				if len(body) == 0 {
					v.verdict.Erased++
					return nil
				}
				tx := &Tx{db: v.db, tenant: holdshort.TenantID(tenant)}
				raw, err := tx.unseal("body", digest, body)
				if err != nil || bodyDigest(salt, raw) != digest {
					v.fault(store.Fault{Tenant: tx.tenant}, "body %s is not what was written", digest)
				}
				return nil
			})
		})
		if err != nil || n < verifyPage {
			return err
		}
	}
}
