package torture

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
)

// postgresBed is a database with two nodes that take turns, and a clock of its own: a function that stands before the server's in the
// search path. Passes follow one another in it, each as a tenant.
type postgresBed struct {
	raw    *pgx.Conn
	nodes  []*postgres.Store
	turn   int
	shift  atomic.Int64
	passes int
	free   chan *postgresBed
	mu     sync.Mutex
}

// fill makes beds for passes that go on beside each other.
func fill(t *testing.T, beds int) passBed {
	t.Helper()
	free := make(chan *postgresBed, beds)
	for range beds {
		free <- newPostgresBed(t, free)
	}
	return func() (Bed, holdshort.TenantID, error) {
		b := <-free
		b.passes++
		return b, holdshort.TenantID(fmt.Sprint("pass", b.passes)), nil
	}
}

func newPostgresBed(t *testing.T, free chan *postgresBed) *postgresBed {
	t.Helper()
	ctx := context.Background()
	url := testpg.URL(t) + "&options=-c%20search_path%3Dpublic%2Cfake%2Cpg_catalog"
	b := &postgresBed{free: free}
	var err error
	if b.raw, err = pgx.Connect(ctx, url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.raw.Close(ctx) })
	if _, err := b.raw.Exec(ctx, `CREATE SCHEMA fake; CREATE TABLE fake.clock (shift interval NOT NULL); INSERT INTO fake.clock VALUES ('0');
		CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT pg_catalog.clock_timestamp() + shift FROM fake.clock'`); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(t.TempDir(), "keys")
	for range 2 {
		s, err := postgres.Open(ctx, url, postgres.Options{KeyringFile: keys, Clock: b.Now, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		b.nodes = append(b.nodes, s)
		t.Cleanup(func() { s.Close() })
	}
	return b
}

func (b *postgresBed) Name() string   { return "postgres" }
func (b *postgresBed) Now() time.Time { return time.Now().Add(time.Duration(b.shift.Load())) }

func (b *postgresBed) Advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shift.Add(int64(d))
	if _, err := b.raw.Exec(context.Background(), `UPDATE fake.clock SET shift = make_interval(secs => $1)`, time.Duration(b.shift.Load()).Seconds()); err != nil {
		panic(err)
	}
}

func (b *postgresBed) Store(bool) (store.Store, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn++
	return b.nodes[b.turn%len(b.nodes)], nil
}

// Close keeps it for the next pass.
func (b *postgresBed) Close() error {
	b.free <- b
	return nil
}
