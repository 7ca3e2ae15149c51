package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // to read back what was written; the replay itself speaks to the driver
	_ "modernc.org/sqlite"
)

// script is what one cycle writes, as plain statements: three transactions, and what each commit adds for itself.
type script struct {
	transactions [][]write
	commit       []write // once for each commit, however many transactions it holds
	ids          []string
}

// write is one INSERT, UPDATE or DELETE of one row.
type write struct {
	table string
	text  string
	args  []arg
}

// arg is a value of a statement: as it was recorded, or with what differs from cycle to cycle put in its place.
type arg struct {
	fixed any
	id    int // 1 + index of the cycle's id that stands in it
	parts [2]string
	since int64 // with moves: microseconds after the cycle began
	moves bool
	fresh bool // a new text for every use
}

var (
	anID   = regexp.MustCompile(`[a-z]{3}_[0-9a-z]{26}`)
	anyHex = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// rows of a table by their primary key.
type rows map[string][]any

// table is a table as the database describes it.
type table struct {
	name    string
	columns []string
	key     []int // columns of the primary key
	counts  bool  // the database numbers the rows by itself
}

// recorder reads a database again and again and tells what changed.
type recorder struct {
	db       *sql.DB
	postgres bool
	tables   []table
	last     map[string]rows
	begun    int64 // microseconds
	script   script
}

// record runs some cycles on a scratch store and gives the statements that the last one amounted to.
func record(ctx context.Context, t *target) (script, error) {
	s, err := t.open(ctx, 256, 1)
	if err != nil {
		return script{}, err
	}
	defer s.Close()
	k, err := newKernel(s, 4, patient)
	if err != nil {
		return script{}, err
	}
	for range 3 { // what only the first cycle writes is not what a cycle writes
		if _, err := k.cycle(ctx); err != nil {
			return script{}, err
		}
	}
	if err := k.Settle(ctx); err != nil {
		return script{}, err
	}
	r := &recorder{postgres: t.url != ""}
	if r.db, err = t.raw(); err != nil {
		return script{}, err
	}
	defer r.db.Close()
	if err := r.describe(ctx); err != nil {
		return script{}, err
	}
	if r.last, err = r.dump(ctx); err != nil {
		return script{}, err
	}
	var fault error
	k.store.after = func() {
		if err := r.look(ctx); err != nil && fault == nil {
			fault = err
		}
	}
	for range 50 { // on a busy machine the engine stores a step by itself when it has been kept back for long: that is no usual cycle
		r.script, r.begun = script{}, time.Now().UnixMicro()
		if _, err = k.cycle(ctx); err == nil {
			err = k.Settle(ctx)
		}
		if err = errors.Join(err, fault); err != nil {
			return script{}, err
		}
		if len(r.script.transactions) == 3 {
			return r.script, nil
		}
	}
	return script{}, fmt.Errorf("a cycle has %d transactions, not three", len(r.script.transactions))
}

// raw opens the database without the store.
func (t *target) raw() (*sql.DB, error) {
	if t.url != "" {
		return sql.Open("pgx", t.url)
	}
	db, err := sql.Open("sqlite", "file:"+t.path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(4000)&_pragma=cache_size(-16384)&_pragma=temp_store(MEMORY)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func (r *recorder) describe(ctx context.Context) error {
	list, keys := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`, `SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk`
	if r.postgres {
		list = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY table_name`
		keys = `SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) WHERE i.indrelid = $1::text::regclass AND i.indisprimary`
	}
	names, err := r.column(ctx, list)
	if err != nil {
		return err
	}
	for _, name := range names {
		key, err := r.column(ctx, keys, name)
		if err != nil {
			return err
		}
		t := table{name: name}
		if t.columns, _, err = r.all(ctx, `SELECT * FROM `+name+` LIMIT 0`); err != nil {
			return err
		}
		for i, c := range t.columns {
			for _, k := range key {
				if c == k {
					t.key = append(t.key, i)
				}
			}
		}
		if len(t.key) > 0 {
			r.tables = append(r.tables, t)
		}
	}
	return nil
}

func (r *recorder) column(ctx context.Context, query string, args ...any) (values []string, err error) {
	_, all, err := r.all(ctx, query, args...)
	for _, row := range all {
		values = append(values, fmt.Sprint(row[0]))
	}
	return values, err
}

func (r *recorder) all(ctx context.Context, query string, args ...any) (columns []string, all [][]any, err error) {
	found, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer found.Close()
	if columns, err = found.Columns(); err != nil {
		return nil, nil, err
	}
	for found.Next() {
		row := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := found.Scan(into...); err != nil {
			return nil, nil, err
		}
		all = append(all, row)
	}
	return columns, all, found.Err()
}

func (r *recorder) dump(ctx context.Context) (map[string]rows, error) {
	state := map[string]rows{}
	for i := range r.tables {
		t := &r.tables[i]
		_, all, err := r.all(ctx, `SELECT * FROM `+t.name)
		if err != nil {
			return nil, err
		}
		state[t.name] = rows{}
		for _, row := range all {
			if _, number := row[t.key[0]].(int64); number && len(t.key) == 1 {
				t.counts = true
			}
			state[t.name][t.keyOf(row)] = row
		}
	}
	return state, nil
}

func (t *table) keyOf(row []any) string {
	var b strings.Builder
	for _, i := range t.key {
		fmt.Fprintf(&b, "%v\x00", row[i])
	}
	return b.String()
}
