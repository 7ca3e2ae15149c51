package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/sqldb"
	"github.com/holdshort/holdshort/store/storetest"

	_ "modernc.org/sqlite" // a second look at the same file
)

func TestConformance(t *testing.T) { storetest.Run(t, files{}) }

func TestCrashConformance(t *testing.T) {
	t.Parallel()
	storetest.Crashes(t, files{})
}

func TestSearchCrashes(t *testing.T) {
	t.Parallel()
	storetest.SearchCrashes(t, files{})
}

// files gives the suite SQLite files.
type files struct{}

// file is a database in a folder of its own.
type file struct {
	path    string
	options Options
	clock   *shiftedClock
	store   *Store
	raw     *sql.DB
}

// shiftedClock is the real time, moved.
type shiftedClock struct {
	shift  atomic.Int64
	frozen atomic.Pointer[time.Time]
}

func (c *shiftedClock) now() time.Time {
	now := time.Now()
	if at := c.frozen.Load(); at != nil {
		now = *at
	}
	return now.Add(time.Duration(c.shift.Load()))
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func newFile(t testing.TB, o Options) *file {
	t.Helper()
	f := &file{path: filepath.Join(t.TempDir(), "holdshort.db"), options: o, clock: &shiftedClock{}}
	if f.options.Clock == nil {
		f.options.Clock = f.clock.now
	}
	if f.options.Logger == nil {
		f.options.Logger = quiet
	}
	f.open(t)
	t.Cleanup(func() { f.close(t) })
	return f
}

func (files) Open(t testing.TB, o storetest.Options) storetest.Database {
	t.Helper()
	return newFile(t, Options{OnStatement: o.OnStatement, Encrypt: o.Encrypt, MaxGroup: o.MaxGroup})
}

func (f *file) open(t testing.TB) {
	t.Helper()
	s, err := Open(context.Background(), f.path, f.options)
	if err != nil {
		t.Fatalf("open %s: %v", f.path, err)
	}
	f.store = s
}

func (f *file) close(t testing.TB) {
	t.Helper()
	if f.raw != nil {
		if err := f.raw.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		f.raw = nil
	}
	if err := f.store.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func (f *file) Store() store.Store          { return f.store }
func (f *file) Keyring() *holdshort.Keyring { return f.store.Keyring() }
func (f *file) Queued() int {
	return len(f.store.writer.queue) + len(f.store.writer.patient) + f.store.names.queued()
}

func (f *file) Reopen(t testing.TB) {
	t.Helper()
	f.close(t)
	f.open(t)
}

func (f *file) Rotate(t testing.TB) {
	t.Helper()
	f.close(t)
	text := f.store.Keyring().Rotate().Marshal()
	if err := os.WriteFile(f.path+".keys", text, 0o600); err != nil {
		t.Fatal(err)
	}
	f.open(t)
}

// Crash opens what a process that was killed now would leave: a copy of the files as they are.
func (f *file) Crash(t testing.TB) {
	t.Helper()
	left := snapshot(t, f.path)
	f.close(t)
	f.path = left
	f.open(t)
}

func (f *file) Advance(t testing.TB, d time.Duration) { f.clock.shift.Add(int64(d)) }

func (f *file) Freeze(t testing.TB) {
	now := time.Now()
	f.clock.frozen.Store(&now)
}

// beside is a connection of somebody else.
func (f *file) beside(t testing.TB) *sql.DB {
	t.Helper()
	if f.raw == nil {
		db, err := sql.Open("sqlite", "file:"+f.path+"?_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		f.raw = db
	}
	return f.raw
}

func (f *file) Exec(t testing.TB, text string, args ...any) int64 {
	t.Helper()
	result, err := f.beside(t).Exec(text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

func (f *file) Rows(t testing.TB, text string, args ...any) [][]any {
	t.Helper()
	rows, err := f.beside(t).Query(text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]any
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i := range row {
			if bytes, ok := row[i].([]byte); row[i] == nil || ok && bytes == nil { // no column may be null: it is a payload of no bytes
				row[i] = []byte{}
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func (f *file) Columns(t testing.TB) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, row := range f.Rows(t, `SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY p.cid`) {
		table := row[0].(string)
		out[table] = append(out[table], row[1].(string))
	}
	return out
}

// Fill sets the largest size that the file may have.
func (f *file) Fill(t testing.TB, bytes int) (free func()) {
	t.Helper()
	limit := func(pages int) {
		t.Helper()
		err := f.store.Transact(context.Background(), func(c sqldb.Conn, _ time.Time) error {
			return c.(*conn).Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	pages := f.Rows(t, "PRAGMA page_count")[0][0].(int64)
	limit(int(pages) + bytes/4096)
	return func() { limit(1 << 30) }
}

// snapshot copies the files of a database as they are now, without its lock, and gives the copy's path.
func snapshot(t testing.TB, path string) string {
	t.Helper()
	return copyTo(t, path, t.TempDir(), "", "-wal", ".keys", ".mark")
}

func copyTo(t testing.TB, path, dir string, parts ...string) string {
	t.Helper()
	to := filepath.Join(dir, filepath.Base(path))
	for _, part := range parts {
		content, err := os.ReadFile(path + part)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+part, content, 0o600)
		}
		if err != nil {
			t.Fatalf("copy the database: %v", err)
		}
	}
	return to
}

// Crashes plays the script once and takes a snapshot before every statement: each is what a process that died there leaves.
func (files) Crashes(t *testing.T, play func(s store.Store, acknowledge func()), check func(t *testing.T, s store.Store, acknowledged int)) {
	type crash struct {
		path, before string
		acknowledged int
	}
	var acknowledged atomic.Int64
	var mu sync.Mutex // the writer saves its mark when it likes, also after the last answer
	var crashes []crash
	playing := false
	f := newFile(t, Options{})
	f.close(t)
	f.options.OnStatement = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if playing {
			dir := filepath.Join(filepath.Dir(f.path), fmt.Sprint(len(crashes)))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Error(err)
				return
			}
			crashes = append(crashes, crash{copyTo(t, f.path, dir, "", "-wal", ".keys", ".mark"), text, int(acknowledged.Load())})
		}
	}
	f.open(t)
	mu.Lock()
	playing = true
	mu.Unlock()
	play(f.store, func() { acknowledged.Add(1) })
	mu.Lock()
	playing = false
	mu.Unlock()
	for i, c := range crashes {
		if i%storetest.Every(3) != 0 {
			continue
		}
		s, err := Open(context.Background(), c.path, Options{Logger: quiet, relaxed: true})
		if err != nil {
			t.Fatalf("open after crash %d, before %.60s: %v", i, c.before, err)
		}
		t.Run(fmt.Sprintf("%d before %.30s", i, c.before), func(t *testing.T) { check(t, s, c.acknowledged) })
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		os.RemoveAll(filepath.Dir(c.path))
	}
}
