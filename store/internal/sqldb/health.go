package sqldb

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

var (
	unstampedN   = different(`SELECT 0`, `SELECT COUNT(*) FROM events WHERE pos IS NULL`)
	healthCounts = []struct {
		into      func(*store.Health) *int64
		statement *Statement
		timed     bool
	}{
		{func(h *store.Health) *int64 { return &h.Position }, lastPosition, false},
		{func(h *store.Health) *int64 { return &h.Unstamped }, unstampedN, false},
		{func(h *store.Health) *int64 { return &h.Unsealed }, statement(`SELECT COUNT(*) FROM events WHERE pos > (SELECT COALESCE(MAX(to_pos), 0) FROM seals)`), false},
		{func(h *store.Health) *int64 { return &h.Tenants }, tenantsN, false},
		{func(h *store.Health) *int64 { return &h.Waiting }, statement(`SELECT COUNT(*) FROM runs WHERE status = 'waiting'`), false},
		{func(h *store.Health) *int64 { return &h.Open }, statement(`SELECT COUNT(*) FROM requests WHERE status = 'open'`), false},
		{func(h *store.Health) *int64 { return &h.Held }, statement(`SELECT COUNT(*) FROM runs WHERE held_code <> '' AND ended_at = 0`), false},
		{func(h *store.Health) *int64 { return &h.StaleRuns }, statement(`SELECT COUNT(*) FROM runs WHERE status = 'running' AND held_code = '' AND lease_until <= ?`), true},
		{func(h *store.Health) *int64 { return &h.Overdue }, statement(`SELECT COUNT(*) FROM timers WHERE due_at <= ?`), true},
	}
)

func (db *DB) Health(ctx context.Context) (store.Health, error) {
	h := store.Health{Driver: db.Dialect.Name, Quarantine: db.Quarantine()}
	err := db.Backend.Snapshot(ctx, func(conn Conn, now time.Time) error {
		h.ClockSkew = now.Sub(db.Clock()).Round(time.Millisecond)
		q := bare{conn}
		state, err := CheckSchema(conn, db.Migrations)
		if errors.Is(err, holdshort.SchemaNewer) { // another node has migrated: this one goes on until it is replaced
			h.Problems = append(h.Problems, "another node has migrated the database to a newer schema: upgrade this one")
		} else if err != nil {
			return err
		}
		h.Schema = state.Version()
		if h.Instance, err = readMetaText(q, "instance"); err != nil {
			return err
		}
		for _, c := range healthCounts {
			var args []any
			if c.timed {
				args = []any{micros(now)}
			}
			if *c.into(&h), err = readNumber(q, c.statement, args...); err != nil {
				return err
			}
		}
		last, err := readLastSeal(conn)
		if err != nil {
			return err
		}
		h.SealedAt = last.At
		return nil
	})
	if err != nil {
		return h, err
	}
	if h.ClockSkew.Abs() > 5*time.Second {
		h.Problems = append(h.Problems, "this machine's clock and the database's differ by "+h.ClockSkew.String()+": expiry follows the database's")
	}
	return h, db.Backend.Vitals(ctx, &h)
}

// AcceptRestore takes the database as it is: the mark follows it, and the log says who decided so.
func (db *DB) AcceptRestore(ctx context.Context, by holdshort.Actor) error {
	reason := db.Quarantine()
	if reason == "" {
		return &holdshort.Error{Code: holdshort.WrongState, Op: "accept restore", Message: "the store is not quarantined", Hint: "there is nothing to accept"}
	}
	var note markNote
	var at time.Time
	var log eventLog
	err := db.transact(ctx, &log, func(conn Conn, now time.Time) error {
		q := bare{conn}
		note, at = markNote{}, now
		var err error
		if note.Instance, err = readMetaText(q, "instance"); err != nil {
			return err
		}
		if note.Restores, err = readMeta(q, "restores"); err != nil {
			return err
		}
		if note.Generation, err = readMeta(q, "generation"); err != nil {
			return err
		}
		if note.Instance == "" {
			note.Instance = newInstance()
		}
		note.Restores++
		note.Generation++
		data, err := json.Marshal(map[string]any{"instance": note.Instance, "restores": note.Restores})
		if err != nil {
			return err
		}
		tx := db.NewTx(conn, holdshort.SystemTenant, now)
		if err := tx.AddEvent(holdshort.Event{Type: "store.restore_accepted", Actor: by.ID, Data: data}); err != nil {
			return err
		}
		writes, err := log.finish(tx)
		if err != nil {
			return err
		}
		return conn.Apply(append(writes, writeMeta("instance", note.Instance), writeMeta("restores", strconv.FormatInt(note.Restores, 10)), writeMeta("generation", strconv.FormatInt(note.Generation, 10))))
	})
	if err != nil {
		return err
	}
	progress, err := db.Progress(ctx)
	if err != nil {
		return err
	}
	note.Position, note.Seal = progress.Position, progress.Seal
	if err := db.Mark.set(note, at); err != nil {
		return err
	}
	db.identity = note
	none := ""
	db.quarantine.Store(&none)
	return nil
}

// Progress is how far the log has come.
func (db *DB) Progress(ctx context.Context) (Progress, error) {
	var p Progress
	err := db.Backend.Snapshot(ctx, func(conn Conn, _ time.Time) (err error) {
		p, err = ReadProgress(conn)
		return err
	})
	return p, err
}

// ReadProgress asks over a connection that the caller has.
func ReadProgress(conn Conn) (p Progress, err error) {
	if p.Position, err = readNumber(bare{conn}, lastPosition); err == nil {
		p.Seal, err = readNumber(bare{conn}, lastSealNo)
	}
	return p, err
}
