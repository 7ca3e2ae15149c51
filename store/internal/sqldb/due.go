package sqldb

import (
	"context"
	"time"

	"github.com/holdshort/holdshort/store"
)

var _ store.System = (*DB)(nil)

// Each tenant gets a share of what is due, so that one with a hundred thousand due timers does not keep the others waiting.
var (
	selectDue = different(`SELECT d.tenant, d.kind, d.subject, d.key, d.due_at FROM tenants t JOIN timers d
			ON d.tenant = t.id AND (d.kind, d.subject, d.key) IN
				(SELECT kind, subject, key FROM timers WHERE tenant = t.id AND due_at <= ? ORDER BY due_at LIMIT ?)
			ORDER BY d.due_at LIMIT ?`,
		`SELECT d.tenant, d.kind, d.subject, d.key, d.due_at FROM tenants t CROSS JOIN LATERAL
			(SELECT * FROM timers WHERE tenant = t.id AND due_at <= ? ORDER BY due_at LIMIT ?) d ORDER BY d.due_at LIMIT ?`)
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
		share := max(limit/int(max(tenants, 1)), 1)
		if err := readDue(q, now, share, limit, &due); err != nil {
			return err
		}
		// A share may be less than what is left for those who have much: fill up when the others had little.
		if len(due) < limit && tenants > 1 && int64(len(due)) >= int64(share) {
			due = nil
			if err := readDue(q, now, limit, limit, &due); err != nil {
				return err
			}
		}
		at, err := readNumber(q, selectNext)
		next = fromMicros(at)
		return err
	})
	return due, next, err
}

func readDue(q queryer, now time.Time, share, limit int, due *[]store.Due) error {
	return q.read(selectDue, []any{micros(now), int64(share), int64(limit)}, func(scan func(...any) error) error {
		var d store.Due
		var at int64
		if err := scan(&d.Tenant, &d.Timer.Kind, &d.Timer.Subject, &d.Timer.Key, &at); err != nil {
			return err
		}
		d.Timer.DueAt = fromMicros(at)
		*due = append(*due, d)
		return nil
	})
}
