package sqldb

import (
	"bytes"
	"context"
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
