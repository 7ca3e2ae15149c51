package sqldb

import (
	"context"
	"time"

	"github.com/holdshort/holdshort/store"
)

var _ store.System = (*DB)(nil)

// Tenants take turns: everybody's oldest first, then everybody's second. So one with a hundred thousand due timers does not keep the others
// waiting, and gets all that the others leave.
var (
	selectDue = different(`SELECT tenant, kind, subject, key, due_at FROM (SELECT d.tenant, d.kind, d.subject, d.key, d.due_at,
				row_number() OVER (PARTITION BY d.tenant ORDER BY d.due_at) AS turn
			FROM tenants t CROSS JOIN timers d ON d.tenant = t.id AND (d.kind, d.subject, d.key) IN
				(SELECT kind, subject, key FROM timers WHERE tenant = t.id AND due_at <= ? ORDER BY due_at LIMIT ?))
			AS due ORDER BY turn, due_at LIMIT ?`,
		`SELECT tenant, kind, subject, key, due_at FROM (SELECT d.*, row_number() OVER (PARTITION BY d.tenant ORDER BY d.due_at) AS turn
			FROM tenants t CROSS JOIN LATERAL (SELECT * FROM timers WHERE tenant = t.id AND due_at <= ? ORDER BY due_at LIMIT ?) d)
			AS due ORDER BY turn, due_at LIMIT ?`)
	selectNext = statement(`SELECT COALESCE(MIN(due), 0) FROM (SELECT (SELECT MIN(due_at) FROM timers WHERE tenant = t.id) AS due FROM tenants t) AS firsts`)
	tenantsN   = statement(`SELECT COUNT(*) FROM tenants`)
)

func (db *DB) Now(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := db.Backend.Snapshot(ctx, func(_ Conn, now time.Time) error { at = now; return nil })
	return at, err
}

func (db *DB) DueTimers(ctx context.Context, limit int) (due []store.Due, next time.Time, err error) {
	if err := db.Admit(); err != nil {
		return nil, next, err
	}
	err = db.Backend.Snapshot(ctx, func(conn Conn, now time.Time) error {
		due, next = nil, time.Time{}
		q := bare{conn}
		tenants, err := readNumber(q, tenantsN)
		if err != nil {
			return err
		}
		due, err = readDue(q, now, turns(limit, tenants), limit)
		if err != nil {
			return err
		}
		at, err := readNumber(q, selectNext)
		next = fromMicros(at)
		return err
	})
	return due, next, err
}

// turns is how many rows of each tenant are looked at: all that could be handed out, unless there are very many tenants.
func turns(limit int, tenants int64) int64 {
	const mostRows = 20_000
	return min(int64(limit), max(mostRows/max(tenants, 1), 1))
}

func readDue(q queryer, now time.Time, turns int64, limit int) ([]store.Due, error) {
	var due []store.Due
	err := q.read(selectDue, []any{micros(now), turns, int64(limit)}, func(scan func(...any) error) error {
		var d store.Due
		var at int64
		if err := scan(&d.Tenant, &d.Timer.Kind, &d.Timer.Subject, &d.Timer.Key, &at); err != nil {
			return err
		}
		d.Timer.DueAt = fromMicros(at)
		due = append(due, d)
		return nil
	})
	return due, err
}
