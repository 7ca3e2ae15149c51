package sqldb

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// A claim has two steps. First it picks candidates, tenants in turn, without locking: fairness needs a look at all. Then it
// locks those that are still free, skipping what another node has just locked, and hands them out in one transaction.
type claim[T any] struct {
	table, columns, ready string // ready: the condition on a free row
	readyArgs             []any  // of ready, behind the times
	times                 int    // how often ready names the time; a lease of more than a day is one that a wrong clock gave
	filter                string // what this node can take
	order                 string
	args                  []any
	limit                 int
	scan                  func(*Tx, func(...any) error) (T, string, error)
	unreadable            func(tx *Tx, row T, id string) error
}

func (c claim[T]) take(ctx context.Context, db *DB, fn func(store.Tx, T) error) (int, error) {
	if err := db.Admit(); err != nil {
		return 0, err
	}
	if c.limit <= 0 || c.limit > store.MaxPage {
		c.limit = store.MaxPage
	}
	var idle bool
	err := db.Backend.Snapshot(ctx, func(conn Conn, now time.Time) error {
		names, err := c.candidates(conn, now)
		idle = len(names) == 0
		return err
	})
	if err != nil || idle {
		return 0, err // most looks find nothing: they must not cost a write transaction
	}
	claimed := 0
	var log eventLog
	err = db.transact(ctx, &log, func(conn Conn, now time.Time) error {
		claimed = 0
		names, err := c.candidates(conn, now)
		if err != nil || len(names) == 0 {
			return err
		}
		return c.hand(db, conn, now, names, fn, &claimed, &log)
	})
	if err != nil {
		return 0, err
	}
	return claimed, nil
}

// free gives the arguments of ready.
func (c claim[T]) free(now time.Time) []any {
	out := make([]any, c.times, c.times+len(c.readyArgs))
	for i := range out {
		out[i] = micros(now)
	}
	return append(out, c.readyArgs...)
}

func (c claim[T]) candidates(conn Conn, now time.Time) ([]any, error) {
	q := bare{conn}
	tenants, err := readNumber(q, tenantsN)
	if err != nil {
		return nil, err
	}
	condition := c.ready
	if c.filter != "" {
		condition += " AND " + c.filter
	}
	s := dynamic(`SELECT tenant, id FROM (SELECT o.tenant, o.id, row_number() OVER (PARTITION BY o.tenant ORDER BY `+c.order+`) AS turn
			FROM tenants t CROSS JOIN `+c.table+` o ON o.tenant = t.id AND o.id IN
				(SELECT id FROM `+c.table+` o WHERE tenant = t.id AND `+condition+` ORDER BY `+c.order+` LIMIT ?)) AS ready ORDER BY turn, id LIMIT ?`,
		`SELECT tenant, id FROM (SELECT o.*, row_number() OVER (PARTITION BY o.tenant ORDER BY `+c.order+`) AS turn FROM tenants t CROSS JOIN LATERAL
			(SELECT * FROM `+c.table+` o WHERE tenant = t.id AND `+condition+` ORDER BY `+c.order+` LIMIT ?) o) AS ready ORDER BY turn, id LIMIT ?`)
	var names []any
	args := append(append(c.free(now), c.args...), turns(c.limit, tenants), int64(c.limit))
	err = q.read(s, args, func(scan func(...any) error) error {
		var tenant, id string
		err := scan(&tenant, &id)
		names = append(names, tenant, id)
		return err
	})
	return names, err
}

func (c claim[T]) hand(db *DB, conn Conn, now time.Time, names []any, fn func(store.Tx, T) error, claimed *int, log *eventLog) error {
	for len(names) < 2*c.limit { // always the same text: repeat the last name
		names = append(names, names[len(names)-2], names[len(names)-1])
	}
	s := dynamic(`SELECT tenant, `+c.columns+` FROM `+c.table+` o WHERE `+c.ready+` AND (tenant, id) IN (VALUES `+
		strings.TrimSuffix(strings.Repeat("(?, ?), ", c.limit), ", ")+`) ORDER BY `+c.order+`{skip locked}`, "")
	type found struct {
		tx  *Tx
		row T
		id  string
		err error
	}
	txs := map[holdshort.TenantID]*Tx{}
	defer func() {
		for _, tx := range txs {
			tx.End()
		}
	}()
	var rows []found
	err := conn.Query(s, append(c.free(now), names...), func(scan func(...any) error) error {
		var tenant holdshort.TenantID
		reader := &Tx{db: db}
		row, id, err := c.scan(reader, func(dest ...any) error {
			err := scan(append([]any{&tenant}, dest...)...)
			reader.tenant = tenant
			return err
		})
		if err != nil && !errors.Is(err, holdshort.Corrupt) {
			return err
		}
		if txs[tenant] == nil {
			txs[tenant] = db.NewTx(conn, tenant, now)
		}
		rows = append(rows, found{txs[tenant], row, id, err})
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range rows {
		if f.err != nil {
			err = c.unreadable(f.tx, f.row, f.id)
		} else {
			*claimed++
			err = fn(f.tx, f.row)
		}
		if err != nil {
			return err
		}
	}
	for _, tx := range txs {
		writes, err := log.finish(tx)
		if err != nil {
			return err
		}
		if err := conn.Apply(writes); err != nil {
			return err
		}
	}
	return nil
}

// dynamic gives the statement of a text that is put together; postgres may be empty when the dialects share it.
func dynamic(text, postgres string) *Statement {
	key := text + "\x00" + postgres
	if s, ok := listings.Load(key); ok {
		return s.(*Statement)
	}
	var s *Statement
	if postgres == "" {
		s = statement(text)
	} else {
		s = different(text, postgres)
	}
	stored, _ := listings.LoadOrStore(key, s)
	return stored.(*Statement)
}

func (db *DB) ClaimRuns(ctx context.Context, want store.RunClaim, fn func(store.Tx, holdshort.Run) error) (int, error) {
	if len(want.Flows) == 0 {
		return 0, nil
	}
	free, owner := "lease_until <= ? OR lease_until > ? + 86400000000", []any(nil)
	if want.Abandoned {
		if !db.Backend.Exclusive() {
			return 0, &holdshort.Error{Code: holdshort.Invalid, Op: "claim runs", Message: "other nodes may be at work on runs that look abandoned",
				Hint: "wait until their leases end"}
		}
		free, owner = free+" OR status = 'running' AND lease_owner <> ?", []any{want.Owner}
	}
	var flows []string
	var args []any
	for _, f := range want.Flows {
		flows = append(flows, "(flow = ? AND flow_version = ?)")
		args = append(args, f.Flow, int64(f.Version))
	}
	return claim[holdshort.Run]{
		times: 2, table: "runs", columns: runColumns, order: "o.lease_until, o.id", limit: want.Limit,
		ready: "status IN ('queued', 'running') AND held_code = '' AND (" + free + ")", readyArgs: owner,
		filter: "(" + strings.Join(flows, " OR ") + ")", args: args,
		scan: (*Tx).scanRun,
		unreadable: func(tx *Tx, run holdshort.Run, id string) error {
			return errors.Join(tx.write(Write{Statement: holdClaimed, Args: []any{string(holdshort.Corrupt), micros(tx.now), string(tx.tenant), id}, Want: 1}),
				tx.AddEvent(holdshort.Event{Type: "run.held", Run: holdshort.RunID(id), Session: run.SessionID, Flow: run.Flow,
					Code: string(holdshort.Corrupt), Actor: "system:claim"}))
		},
	}.take(ctx, db, fn)
}

func (db *DB) ClaimDeliveries(ctx context.Context, want store.DeliveryClaim, fn func(store.Tx, holdshort.Delivery) error) (int, error) {
	if len(want.Channels) == 0 {
		return 0, nil
	}
	args := make([]any, len(want.Channels))
	for i, c := range want.Channels {
		args[i] = c
	}
	return claim[holdshort.Delivery]{
		times: 3, table: "outbox", columns: deliveryColumns, order: "o.due_at, o.id", limit: want.Limit,
		ready: `status IN ('queued', 'sending', 'parked') AND (lease_until <= ? OR lease_until > ? + 86400000000) AND due_at <= ? AND (ordered = 0 OR NOT EXISTS
			(SELECT 1 FROM outbox b WHERE b.tenant = o.tenant AND b.session_id = o.session_id AND b.ordered = 1 AND b.seq < o.seq
			AND b.status IN ('queued', 'sending')))`,
		filter: "channel IN (" + strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", ") + ")", args: args,
		scan: (*Tx).scanDelivery,
		unreadable: func(tx *Tx, _ holdshort.Delivery, id string) error {
			return errors.Join(tx.write(Write{Statement: killDelivery, Args: []any{micros(tx.now), string(tx.tenant), id}, Want: 1}),
				tx.AddEvent(holdshort.Event{Type: "delivery.dead", Code: string(holdshort.Corrupt), Actor: "system:claim"}))
		},
	}.take(ctx, db, fn)
}

var (
	killDelivery = statement(`UPDATE outbox SET status = 'dead', closed_at = ?, revision = revision + 1 WHERE tenant = ? AND id = ?`)
	unrouted     = different(`SELECT tenant, channel, address, key FROM (SELECT i.*, row_number() OVER (PARTITION BY i.tenant ORDER BY i.at) AS turn
			FROM tenants t CROSS JOIN inbound i ON i.tenant = t.id AND i.id IN
				(SELECT id FROM inbound WHERE tenant = t.id AND routed = 0 AND at <= ? ORDER BY at LIMIT ?)) AS waiting ORDER BY turn, at LIMIT ?`,
		`SELECT tenant, channel, address, key FROM (SELECT i.*, row_number() OVER (PARTITION BY i.tenant ORDER BY i.at) AS turn FROM tenants t CROSS JOIN LATERAL
			(SELECT * FROM inbound WHERE tenant = t.id AND routed = 0 AND at <= ? ORDER BY at LIMIT ?) i) AS waiting ORDER BY turn, at LIMIT ?`)
)

func (db *DB) UnroutedInbound(ctx context.Context, before time.Time, limit int) ([]store.InboundRef, error) {
	var out []store.InboundRef
	err := db.Backend.Snapshot(ctx, func(conn Conn, _ time.Time) error {
		out = nil
		tenants, err := readNumber(bare{conn}, tenantsN)
		if err != nil {
			return err
		}
		return conn.Query(unrouted, []any{micros(before), turns(limit, tenants), int64(limit)}, func(scan func(...any) error) error {
			var ref store.InboundRef
			err := scan(&ref.Tenant, &ref.Channel, &ref.Address, &ref.Key)
			out = append(out, ref)
			return err
		})
	})
	return out, err
}
