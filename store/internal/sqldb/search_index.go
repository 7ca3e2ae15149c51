package sqldb

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	entryColumns = `r.tenant, COALESCE(u.agent, ''), COALESCE(u.flow, ''), ` +
		`r.id, r.revision, r.status, r.kind, r.urgency, r.session_id, r.run_id, r.step, r.assignee, r.created_at, r.due_at, r.closed_at, r.fixed, r.body`
	withRun = ` LEFT JOIN runs u ON u.tenant = r.tenant AND u.id = r.run_id AND r.run_id <> ''`
)

// On SQLite a request is indexed under the number of its row: numbers are handed out in the order of commits, so what is above the last one is new.
// On PostgreSQL the events tell what is new, by position.
var (
	entriesAbove = different(`SELECT r.rowid, `+entryColumns+` FROM requests r`+withRun+` WHERE r.rowid > ? ORDER BY r.rowid LIMIT ?`,
		`SELECT 0, `+entryColumns+` FROM requests r`+withRun+` WHERE ?::bigint < 0 LIMIT ?`)
	entriesAfter = statement(`SELECT 0, ` + entryColumns + ` FROM requests r` + withRun + ` WHERE (r.tenant, r.id) > (?, ?) ORDER BY r.tenant, r.id LIMIT ?`)
	entriesByID  = different(`SELECT r.rowid, `+entryColumns+` FROM requests r`+withRun+` WHERE r.tenant = ? AND r.id IN (SELECT value FROM json_each(?))`,
		`SELECT 0, `+entryColumns+` FROM requests r`+withRun+` WHERE r.tenant = ? AND r.id = ANY (ARRAY(SELECT jsonb_array_elements_text(?::text::jsonb)))`)
	lastRow   = different(`SELECT COALESCE(MAX(rowid), 0) FROM requests`, `SELECT 0`)
	rowOf     = different(`SELECT id FROM requests WHERE rowid = ?`, `SELECT '' WHERE ?::bigint < 0`)
	newEvents = statement(`SELECT pos, tenant, request_id FROM events WHERE pos > ? ORDER BY pos LIMIT ?`)

	addWords    = different(`INSERT INTO search (rowid, words) VALUES (?, ?)`, `INSERT INTO search (rowid, words) VALUES (?, ?)`)
	addDocument = statement(`INSERT INTO documents (tenant, id, words) VALUES (?, ?, ?::text::tsvector) ON CONFLICT DO NOTHING`)
	noWords     = different(`INSERT INTO search (search) VALUES ('delete-all')`, `DELETE FROM documents`)
	noAlike     = statement(`DELETE FROM alike`)
	addAlike    = statement(`INSERT INTO alike (tenant, facet, closed_at, id, result) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
)

// Index follows what is committed. Everything that it writes, and the marks that say how far it came, are one transaction: after a crash it goes on
// where it was.
func (db *DB) Index(ctx context.Context, lease holdshort.Lease, limit int) (n int, err error) {
	if err := db.Admit(); err != nil {
		return 0, err
	}
	if limit <= 0 {
		limit = 500
	}
	idle := false
	err = db.Backend.Snapshot(ctx, func(conn Conn, now time.Time) error {
		x, err := db.openIndex(conn, now)
		if err == nil {
			idle, err = x.idle()
		}
		return err
	})
	if err != nil || idle {
		return 0, err
	}
	err = db.Backend.Transact(ctx, func(conn Conn, now time.Time) error {
		n = 0
		if !db.Backend.Exclusive() {
			if err := conn.Apply([]Write{fenced(store.IndexerLease, lease, now), lockSearch()}); err != nil {
				return err
			}
		}
		x, err := db.openIndex(conn, now)
		if err != nil {
			return err
		}
		n, err = x.step(limit)
		return err
	})
	return n, err
}

// lockSearch keeps the indexer and whoever forgets something apart, on PostgreSQL: what was read before it was erased must not be indexed after.
func lockSearch() Write {
	return Write{Statement: lockStream, Args: []any{"search"}, Selects: true, Want: Any}
}

// indexing is one step of it.
type indexing struct {
	db     *DB
	conn   Conn
	now    time.Time
	words  *lexicon
	marks  map[string]int64
	fill   string
	fresh  bool // it must be made anew
	writes []Write
}

func (db *DB) openIndex(conn Conn, now time.Time) (x *indexing, err error) {
	x = &indexing{db: db, conn: conn, now: now, marks: map[string]int64{}}
	mode, err := readMetaText(bare{conn}, searchMode)
	if err != nil {
		return x, err
	}
	if x.words, err = db.lexicon(mode); err != nil {
		return x, err
	}
	for _, name := range []string{searchTo, searchRows} {
		if x.marks[name], err = readMeta(bare{conn}, name); err != nil {
			return x, err
		}
	}
	if x.fill, err = readMetaText(bare{conn}, searchFill); err != nil {
		return x, err
	}
	probe, err := readMetaText(bare{conn}, searchProbe)
	if err != nil {
		return x, err
	}
	x.fresh = mode != x.words.mode
	if probe != "" && !x.fresh { // the rows may have been numbered anew, by a VACUUM
		id := ""
		err = conn.Query(rowOf, []any{x.marks[searchRows]}, func(scan func(...any) error) error { return scan(&id) })
		x.fresh = id != probe
	}
	return x, err
}

func (x *indexing) lite() bool { return x.db.Dialect == SQLite }

// idle: there is nothing new.
func (x *indexing) idle() (bool, error) {
	if x.fresh || !x.lite() && x.fill != seatsDone {
		return false, nil
	}
	last, err := readNumber(bare{x.conn}, lastPosition)
	if err != nil || last > x.marks[searchTo] {
		return false, err
	}
	row, err := readNumber(bare{x.conn}, lastRow)
	return row <= x.marks[searchRows], err
}

func (x *indexing) write(s *Statement, args ...any) {
	x.writes = append(x.writes, Write{Statement: s, Args: args, Want: Any})
}

func (x *indexing) note(name, value string) { x.writes = append(x.writes, writeMeta(name, value)) }

func (x *indexing) step(limit int) (n int, err error) {
	if x.fresh {
		if err := x.start(); err != nil {
			return 0, err
		}
	}
	events, err := x.follow(limit)
	if err != nil {
		return 0, err
	}
	added := x.rows
	if !x.lite() {
		added = x.before
	}
	rows, err := added(limit)
	if err != nil {
		return 0, err
	}
	return events + rows, x.conn.Apply(x.writes)
}

// start empties the index. What has a position by now is read from the requests themselves, which is done later and so sees all of it; events are
// followed from here on.
func (x *indexing) start() error {
	last, err := readNumber(bare{x.conn}, lastPosition)
	if err != nil {
		return err
	}
	x.write(noWords)
	x.write(noAlike)
	x.fill, x.marks[searchTo], x.marks[searchRows] = "", last, 0
	x.note(searchMode, x.words.mode)
	x.note(searchProbe, "")
	x.note(searchFill, "")
	x.note(searchTo, strconv.FormatInt(last, 10))
	x.note(searchRows, "0")
	return nil
}

// follow looks at the requests that events tell of.
func (x *indexing) follow(limit int) (events int, err error) {
	touched := map[holdshort.TenantID][]string{}
	to := x.marks[searchTo]
	err = x.conn.Query(newEvents, []any{to, int64(limit)}, func(scan func(...any) error) error {
		var tenant holdshort.TenantID
		var id string
		if err := scan(&to, &tenant, &id); err != nil {
			return err
		}
		events++
		if id != "" && !slices.Contains(touched[tenant], id) {
			touched[tenant] = append(touched[tenant], id)
		}
		return nil
	})
	if err != nil || events == 0 {
		return 0, err
	}
	for tenant, ids := range touched {
		_, err := x.entries(entriesByID, []any{string(tenant), each(ids)}, func(e *entry, v vocabulary) {
			if !x.lite() {
				x.document(e, v)
				x.seats(e, v)
			}
			x.alike(e, v)
		})
		if err != nil {
			return 0, err
		}
	}
	x.note(searchTo, strconv.FormatInt(to, 10))
	return events, nil
}

// seats puts right what a node of an older release wrote, which knows of none. Whoever closes a request meanwhile leaves an event, and is followed.
func (x *indexing) seats(e *entry, v vocabulary) {
	move := deleteSeat
	if e.Status == holdshort.RequestOpen {
		move = refillSeat
	}
	for _, seat := range store.Seats(&e.Request) {
		x.write(move, string(v.tenant), seat, seatKind(e.Kind), urgencyOf(&e.Request), string(e.ID))
	}
}

// rows indexes what is above the last row.
func (x *indexing) rows(limit int) (int, error) {
	var last *entry
	n, err := x.entries(entriesAbove, []any{x.marks[searchRows], int64(limit)}, func(e *entry, v vocabulary) {
		if e.readable() {
			x.write(addWords, e.number, strings.Join(v.terms(e), " "))
		}
		x.alike(e, v)
		last = &entry{Request: holdshort.Request{ID: e.ID}, number: e.number}
	})
	if err == nil && last != nil {
		x.note(searchRows, strconv.FormatInt(last.number, 10))
		x.note(searchProbe, string(last.ID))
	}
	return n, err
}

// before indexes what was there before anybody followed events, once.
func (x *indexing) before(limit int) (int, error) {
	if x.fill == seatsDone {
		return 0, nil
	}
	tenant, id, _ := strings.Cut(x.fill, "/")
	n, err := x.entries(entriesAfter, []any{tenant, id, int64(limit)}, func(e *entry, v vocabulary) {
		x.document(e, v)
		x.seats(e, v)
		x.alike(e, v)
		tenant, id = string(v.tenant), string(e.ID)
	})
	x.fill = tenant + "/" + id
	if n < limit {
		x.fill = seatsDone
	}
	x.note(searchFill, x.fill)
	return n, err
}

func (x *indexing) document(e *entry, v vocabulary) {
	if e.readable() {
		x.write(addDocument, string(v.tenant), string(e.ID), "'"+strings.Join(v.terms(e), "' '")+"'")
	}
}

// entries reads requests with what is searched beside them. One that cannot be read is handed on without its words.
func (x *indexing) entries(s *Statement, args []any, each func(*entry, vocabulary)) (n int, err error) {
	var v vocabulary
	err = x.conn.Query(s, args, func(scan func(...any) error) error {
		e, tenant, err := x.db.scanEntry(x.conn, x.now, scan)
		if err != nil && !errors.Is(err, holdshort.Corrupt) {
			return err
		}
		if v.lexicon == nil || v.tenant != tenant {
			v = x.words.of(tenant)
		}
		n++
		each(e, v)
		return nil
	})
	return n, err
}

func (db *DB) scanEntry(conn Conn, now time.Time, scan func(...any) error) (e *entry, tenant holdshort.TenantID, err error) {
	e = &entry{}
	tx := db.NewView(conn, "", now)
	r, id, err := tx.scanRequest(func(dest ...any) error {
		err := scan(append([]any{&e.number, &tenant, &e.agent, &e.flow}, dest...)...)
		tx.tenant = tenant
		return err
	})
	e.Request = r
	e.ID = holdshort.RequestID(id)
	return e, tenant, err
}
