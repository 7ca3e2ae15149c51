package sqldb

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
)

// A lease is taken when it is free, over, ours already, or longer than a day: a wrong clock gave that. The epoch grows when it changes hands, not when it is renewed.
var (
	acquireLease = statement(`INSERT INTO leases (name, owner, epoch, until) VALUES (?, ?, 1, ?) ON CONFLICT (name) DO UPDATE
		SET epoch = CASE WHEN leases.owner = excluded.owner AND leases.until > ? THEN leases.epoch ELSE leases.epoch + 1 END,
			owner = excluded.owner, until = excluded.until
		WHERE leases.owner = excluded.owner OR leases.owner = '' OR leases.until <= ? OR leases.until > ? + 86400000000`)
	selectLease  = statement(`SELECT owner, epoch, until FROM leases WHERE name = ?`)
	releaseLease = statement(`UPDATE leases SET owner = '', until = 0 WHERE name = ? AND owner = ? AND epoch = ?`)
	fenceLease   = statement(`SELECT 1 FROM leases WHERE name = ? AND owner = ? AND epoch = ? AND until > ?{for update}`)
)

func (db *DB) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (holdshort.Lease, error) {
	var lease holdshort.Lease
	if err := required("lease", name, owner); err != nil {
		return lease, err
	}
	if err := db.Admit(); err != nil {
		return lease, err
	}
	err := db.Backend.Transact(ctx, func(conn Conn, now time.Time) error {
		at := micros(now)
		err := conn.Apply([]Write{{Statement: acquireLease, Args: []any{name, owner, micros(now.Add(ttl)), at, at, at}, Want: 1,
			Miss: &holdshort.Error{Code: holdshort.LeaseLost, Op: "acquire " + name, Message: "another node has it", Hint: "try again when its lease is over"}}})
		if err != nil {
			return err
		}
		return conn.Query(selectLease, []any{name}, func(scan func(...any) error) error {
			var until int64
			err := scan(&lease.Owner, &lease.Epoch, &until)
			lease.Until = fromMicros(until)
			return err
		})
	})
	if err != nil {
		return holdshort.Lease{}, err
	}
	return lease, nil
}

func (db *DB) Release(ctx context.Context, name string, lease holdshort.Lease) error {
	return db.Backend.Transact(ctx, func(conn Conn, _ time.Time) error {
		return conn.Apply([]Write{{Statement: releaseLease, Args: []any{name, lease.Owner, lease.Epoch}, Want: Any}})
	})
}

// fenced is the write that ends a transaction whose lease is gone, and holds the lease until the commit: two who share one wait for each other.
func fenced(name string, lease holdshort.Lease, now time.Time) Write {
	return Write{Statement: fenceLease, Args: []any{name, lease.Owner, lease.Epoch, micros(now)}, Want: 1, Selects: true,
		Miss: &holdshort.Error{Code: holdshort.LeaseLost, Op: "hold " + name, Message: "another node has it", Hint: "acquire it again"}}
}
