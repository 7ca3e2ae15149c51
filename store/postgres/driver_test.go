package postgres

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/storetest"
)

func TestConformance(t *testing.T) { storetest.Run(t, databases{}) }

func TestCrashConformance(t *testing.T) {
	t.Parallel()
	storetest.Crashes(t, databases{})
}

func TestSearchCrashes(t *testing.T) {
	t.Parallel()
	storetest.SearchCrashes(t, databases{})
}

// databases gives the suite PostgreSQL databases.
type databases struct{}

// database is one of a test's own, and a node on it.
type database struct {
	url     string // for the node: its time can be moved
	folder  string // of the node: keyring and mark
	options Options
	frozen  atomic.Pointer[time.Time]
	store   *Store
	raw     *pgx.Conn
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// safetyLimit ends a wait for a signal that never comes. No test passes or fails by how long it takes.
const safetyLimit = 5 * time.Minute

// newDatabase creates a database and opens a node on it.
func newDatabase(t testing.TB, o Options) *database {
	t.Helper()
	d := migratedDatabase(t, o)
	d.open(t)
	t.Cleanup(func() { d.close(t) })
	return d
}

// fakeClock is a function that precedes the server's own in the search path; its shift moves the time.
const fakeClock = `CREATE SCHEMA fake; CREATE TABLE fake.clock (shift interval NOT NULL); INSERT INTO fake.clock VALUES ('0');
	CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
		'SELECT pg_catalog.clock_timestamp() + shift FROM fake.clock'`

const searchPath = "&options=-c%20search_path%3Dpublic%2Cfake%2Cpg_catalog"

// emptyDatabase has a clock that can be moved and no schema of a store.
func emptyDatabase(t testing.TB, o Options) *database {
	t.Helper()
	d := databaseAt(t, testpg.URL(t), o)
	d.Exec(t, fakeClock)
	return d
}

// migrated is a database as a node leaves it after the migrations, before it writes its identity and its keys.
var migrated = testpg.Template{Prepare: func(url string) error {
	s := &Store{options: Options{Logger: quiet}.withDefaults()}
	if err := s.configure(url + searchPath); err != nil {
		return err
	}
	defer s.pool.Close()
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	c.ctx = ctx
	if err := c.Exec(fakeClock); err != nil {
		return err
	}
	if err := s.greet(c); err != nil {
		return err
	}
	return s.migrate(c)
}}

func TestMain(m *testing.M) { os.Exit(migrated.Main(m)) }

// migratedDatabase is emptyDatabase with the schema of this build. A test with migrations of its own gets it empty.
func migratedDatabase(t testing.TB, o Options) *database {
	t.Helper()
	if o.migrations != nil {
		return emptyDatabase(t, o)
	}
	return databaseAt(t, migrated.URL(t), o)
}

func databaseAt(t testing.TB, url string, o Options) *database {
	t.Helper()
	d := &database{url: url + searchPath, folder: t.TempDir(), options: o}
	if d.options.Clock == nil {
		d.options.Clock = func() time.Time {
			if at := d.frozen.Load(); at != nil {
				return *at
			}
			return time.Now()
		}
	}
	if d.options.Logger == nil {
		d.options.Logger = quiet
	}
	d.beside(t)
	return d
}

func (databases) Open(t testing.TB, o storetest.Options) storetest.Database {
	t.Helper()
	options := Options{OnStatement: o.OnStatement, Encrypt: o.Encrypt, MaxGroup: o.MaxGroup}
	if o.Narrow {
		options.Lanes = 1
	}
	return newDatabase(t, options)
}

// node opens a store on the database with the keyring of a folder.
func (d *database) node(folder string) (*Store, error) {
	o := d.options
	o.KeyringFile = filepath.Join(folder, "keys")
	return Open(context.Background(), d.url, o)
}

func (d *database) open(t testing.TB) {
	t.Helper()
	s, err := d.node(d.folder)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	d.store = s
}

func (d *database) close(t testing.TB) {
	t.Helper()
	if d.raw != nil {
		d.raw.Close(context.Background())
		d.raw = nil
	}
	if err := d.store.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func (d *database) Store() store.Store          { return d.store }
func (d *database) Keyring() *holdshort.Keyring { return d.store.Keyring() }

func (d *database) Queued() int {
	d.store.lanes.mu.Lock()
	defer d.store.lanes.mu.Unlock()
	return len(d.store.lanes.queue)
}

func (d *database) Reopen(t testing.TB) {
	t.Helper()
	d.close(t)
	d.open(t)
}

func (d *database) Rotate(t testing.TB) {
	t.Helper()
	d.close(t)
	if err := os.WriteFile(filepath.Join(d.folder, "keys"), d.store.Keyring().Rotate().Marshal(), 0o600); err != nil {
		t.Fatal(err)
	}
	d.open(t)
}

// Crash is a node that ends without a word: its connections break, and another one starts with the files as they were.
func (d *database) Crash(t testing.TB) {
	t.Helper()
	left := d.files(t)
	d.sever(t)
	d.close(t)
	d.folder = left
	d.open(t)
}

// files copies the node's files as they are now.
func (d *database) files(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"keys", "keys.mark"} {
		content, err := os.ReadFile(filepath.Join(d.folder, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// sever breaks every connection of the node.
func (d *database) sever(t testing.TB) {
	t.Helper()
	d.Rows(t, "SELECT pg_terminate_backend(pid)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
}

func (d *database) Advance(t testing.TB, by time.Duration) {
	t.Helper()
	d.Exec(t, fmt.Sprintf("UPDATE fake.clock SET shift = shift + interval '%d microseconds'", by.Microseconds()))
}

func (d *database) Freeze(testing.TB) {
	now := time.Now()
	d.frozen.Store(&now)
}

// beside is a connection of somebody else.
func (d *database) beside(t testing.TB) *pgx.Conn {
	t.Helper()
	if d.raw == nil {
		conn, err := pgx.Connect(context.Background(), d.url)
		if err != nil {
			t.Fatal(err)
		}
		d.raw = conn
	}
	return d.raw
}

// numbered turns question marks into what PostgreSQL wants.
func numbered(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if r == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (d *database) Exec(t testing.TB, text string, args ...any) int64 {
	t.Helper()
	tag, err := d.beside(t).Exec(context.Background(), numbered(text), args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return tag.RowsAffected()
}

func (d *database) Rows(t testing.TB, text string, args ...any) [][]any {
	t.Helper()
	rows, err := d.beside(t).Query(context.Background(), numbered(text), args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	var out [][]any
	for rows.Next() {
		row, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		for i, value := range row {
			if n, ok := value.(int32); ok {
				row[i] = int64(n)
			}
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func (d *database) Columns(t testing.TB) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, row := range d.Rows(t, "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = 'public' ORDER BY ordinal_position") {
		table := row[0].(string)
		out[table] = append(out[table], row[1].(string))
	}
	return out
}

// Fill makes the server say what it says when its disk is full, once the runs have grown by so many bytes.
func (d *database) Fill(t testing.TB, bytes int) (free func()) {
	t.Helper()
	d.Exec(t, fmt.Sprintf(`CREATE FUNCTION fake.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF (SELECT coalesce(sum(length(fixed)), 0) FROM public.runs) + length(NEW.fixed) > %d THEN
			RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
		END IF;
		RETURN NEW; END $$;
		CREATE TRIGGER no_room BEFORE INSERT ON public.runs FOR EACH ROW EXECUTE FUNCTION fake.no_room()`, bytes))
	return func() { d.Exec(t, "DROP TRIGGER no_room ON public.runs") }
}

// Crashes plays the script for every statement: there the node loses its connections and never says another word.
func (databases) Crashes(t *testing.T, play func(s store.Store, acknowledge func()), check func(t *testing.T, s store.Store, acknowledged int)) {
	total := 0
	run := func(t *testing.T, at int) (acknowledged int, dead *database) {
		var acked atomic.Int64
		seen := -1 << 30 // nothing counts before the script begins
		died, buried := make(chan struct{}), make(chan struct{})
		d := migratedDatabase(t, Options{Lanes: 1})
		d.options.OnStatement = func(string) { // one lane, so one goroutine at a time
			if seen++; seen == at {
				close(died)
				<-buried
			}
		}
		d.open(t)
		t.Cleanup(func() {
			select {
			case <-buried:
			default:
				close(buried)
			}
			d.close(t)
		})
		seen = -1
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			play(d.store, func() { acked.Add(1) })
		}()
		select {
		case <-died:
			d.sever(t)
		case <-ended:
			total = seen + 1
		}
		return int(acked.Load()), d
	}
	t.Run("to its end", func(t *testing.T) { run(t, -2) })
	for at := 0; at < total; at += storetest.Every(4) {
		t.Run(fmt.Sprint("at ", at), func(t *testing.T) {
			acknowledged, dead := run(t, at)
			dead.options.OnStatement = nil
			s, err := dead.node(dead.files(t))
			if err != nil {
				t.Fatalf("open after the crash: %v", err)
			}
			defer s.Close()
			check(t, s, acknowledged)
		})
	}
}
