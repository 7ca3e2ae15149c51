package sqldb

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

var (
	// On SQLite the row number is the position already.
	stampEvents = different(`SELECT 1 WHERE ? < 0 AND ? < 0`, `WITH fresh AS (SELECT ins FROM events WHERE pos IS NULL ORDER BY ins LIMIT ?),
		numbered AS (SELECT ins, ? + row_number() OVER (ORDER BY ins) AS place FROM fresh)
		UPDATE events e SET pos = n.place FROM numbered n WHERE e.ins = n.ins RETURNING e.pos`)
	selectLastSeal = statement(`SELECT number, from_pos, to_pos, root, prev, at, key_id, signature FROM seals ORDER BY number DESC LIMIT 1`)
	selectSeals    = statement(`SELECT number, from_pos, to_pos, root, prev, at, key_id, signature FROM seals WHERE number > ? ORDER BY number LIMIT ?`)
	insertSeal     = statement(`INSERT INTO seals (number, from_pos, to_pos, root, prev, at, key_id, signature) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
	selectAfter    = statement(`SELECT ` + eventColumns + ` FROM events WHERE pos > ? ORDER BY pos LIMIT ?`)
)

func (db *DB) Stamp(ctx context.Context, lease holdshort.Lease, limit int) (int, error) {
	if err := db.Admit(); err != nil || db.Dialect == SQLite {
		return 0, err
	}
	stamped := 0
	err := db.Backend.Transact(ctx, func(conn Conn, now time.Time) error {
		stamped = 0
		if err := conn.Apply([]Write{fenced(store.SequencerLease, lease, now)}); err != nil {
			return err
		}
		last, err := readMeta(bare{conn}, "stamped_to")
		if err != nil {
			return err
		}
		newest := last
		err = conn.Query(stampEvents, []any{int64(limit), last}, func(scan func(...any) error) error {
			var pos int64
			err := scan(&pos)
			stamped, newest = stamped+1, max(newest, pos)
			return err
		})
		if err != nil || stamped == 0 {
			return err
		}
		return conn.Apply([]Write{writeMeta("stamped_to", strconv.FormatInt(newest, 10))})
	})
	if err != nil {
		return 0, err
	}
	return stamped, nil
}

// Seal closes what was stamped since the last seal. A seal leaves an event of its own; that one alone is no reason for another seal.
func (db *DB) Seal(ctx context.Context, lease holdshort.Lease, limit int) (*holdshort.Seal, error) {
	if err := db.Admit(); err != nil {
		return nil, err
	}
	if db.Keyring == nil {
		return nil, &holdshort.Error{Code: holdshort.KeyUnknown, Op: "seal events", Message: "the store was opened without a keyring", Hint: "configure the keyring file"}
	}
	var sealed *holdshort.Seal
	var log eventLog
	err := db.transact(ctx, &log, func(conn Conn, now time.Time) error {
		sealed = nil
		if err := conn.Apply([]Write{fenced(store.SequencerLease, lease, now)}); err != nil {
			return err
		}
		last, err := readLastSeal(conn)
		if err != nil {
			return err
		}
		seal := holdshort.Seal{Number: last.Number + 1, From: last.To + 1, To: last.To, At: now}
		if last.Number > 0 {
			seal.Prev = last.Hash()
		}
		var root holdshort.Root
		worth := false
		err = conn.Query(selectAfter, []any{last.To, int64(limit)}, func(scan func(...any) error) error {
			tenant, e, err := scanEvent(scan)
			if err != nil {
				return err
			}
			root.Add(e.Position, tenant, e.Hash(tenant))
			seal.To = e.Position
			worth = worth || e.Type != "audit.sealed"
			return nil
		})
		if err != nil || !worth {
			return err
		}
		seal.Root, seal.KeyID = root.Sum(), db.Keyring.SigningKeyID()
		_, seal.Signature = db.Keyring.SignSeal(seal.Message())
		tx := db.NewTx(conn, holdshort.SystemTenant, now)
		data, err := json.Marshal(map[string]any{"seal": seal.Number, "from": seal.From, "to": seal.To, "root": hex.EncodeToString(seal.Root), "key_id": seal.KeyID})
		if err == nil {
			err = tx.AddEvent(holdshort.Event{Type: "audit.sealed", Actor: "system:sequencer", Data: data})
		}
		if err != nil {
			return err
		}
		writes, err := log.finish(tx)
		if err != nil {
			return err
		}
		sealed = &seal
		return conn.Apply(append(writes, Write{Statement: insertSeal, Want: 1, Args: []any{seal.Number, seal.From, seal.To, seal.Root, notNil(seal.Prev), micros(seal.At),
			seal.KeyID, seal.Signature}}))
	})
	if err != nil {
		return nil, err
	}
	return sealed, nil
}

func readLastSeal(conn Conn) (last holdshort.Seal, err error) {
	err = conn.Query(selectLastSeal, nil, func(scan func(...any) error) error {
		last, err = scanSeal(scan)
		return err
	})
	return last, err
}

func scanSeal(scan func(...any) error) (s holdshort.Seal, err error) {
	var at int64
	err = scan(&s.Number, &s.From, &s.To, &s.Root, &s.Prev, &at, &s.KeyID, &s.Signature)
	s.At = fromMicros(at)
	if len(s.Prev) == 0 {
		s.Prev = nil
	}
	return s, err
}
