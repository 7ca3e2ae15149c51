package testpg

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatalf("connect to %s: %v", address, err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func count(t *testing.T, conn *pgx.Conn, query string) int {
	t.Helper()
	var n int
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestURLGivesEachCallItsOwnDatabase(t *testing.T) {
	first, second := connect(t, URL(t)), connect(t, URL(t))
	run(t, first, "CREATE TABLE mark (n int)")
	const tables = "SELECT count(*) FROM pg_tables WHERE tablename = 'mark'"
	if got := count(t, first, tables); got != 1 {
		t.Errorf("tables named mark in the first database: %d, want 1", got)
	}
	if got := count(t, second, tables); got != 0 {
		t.Errorf("tables named mark in the second database: %d, want 0", got)
	}
}

func TestURLDropsTheDatabaseWithAConnectionOpen(t *testing.T) {
	var name string
	t.Run("use", func(t *testing.T) {
		address := URL(t)
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		name = strings.TrimPrefix(u.Path, "/")
		// Left open on purpose: a test that leaks a connection must not leak its database.
		if _, err := pgx.Connect(t.Context(), address); err != nil {
			t.Fatal(err)
		}
	})
	server := connect(t, os.Getenv(serverVar))
	if got := count(t, server, fmt.Sprintf("SELECT count(*) FROM pg_database WHERE datname = '%s'", name)); got != 0 {
		t.Errorf("database %s is still there", name)
	}
}

func TestURLFromManyTestsAtOnce(t *testing.T) {
	const n = 8
	var wg sync.WaitGroup
	addresses := make(chan string, n)
	for range n {
		wg.Go(func() { addresses <- URL(t) })
	}
	wg.Wait()
	close(addresses)
	seen := map[string]bool{}
	for a := range addresses {
		seen[a] = true
	}
	if len(seen) != n {
		t.Errorf("%d distinct databases, want %d", len(seen), n)
	}
}

// verdict is a testing.TB that notes how a test would have ended.
type verdict struct {
	testing.TB
	failed, skipped string
}

func (v *verdict) Helper()                   { /* the real one would blame the wrong line */ }
func (v *verdict) Cleanup(func())            { /* nothing was made */ }
func (v *verdict) Fatal(args ...any)         { v.failed = fmt.Sprint(args...); runtime.Goexit() }
func (v *verdict) Fatalf(f string, a ...any) { v.failed = fmt.Sprintf(f, a...); runtime.Goexit() }
func (v *verdict) Skipf(f string, a ...any)  { v.skipped = fmt.Sprintf(f, a...); runtime.Goexit() }

func judge(t *testing.T, f func(testing.TB)) *verdict {
	v := &verdict{TB: t}
	done := make(chan struct{})
	go func() { defer close(done); f(v) }()
	<-done
	return v
}

func TestWithoutAServer(t *testing.T) {
	tests := []struct {
		name, server, skip string
		call               func(testing.TB)
		failed, skipped    string
	}{
		{"unset is a failure that says what to do", "", "", func(t testing.TB) { URL(t) }, "run `make test`, or `make postgres`", ""},
		{"skipping is said aloud", "", "1", func(t testing.TB) { URL(t) }, "", "LEFT OUT"},
		{"skipping wins over a server", "postgres://127.0.0.1:1/x", "1", func(t testing.TB) { URL(t) }, "", "LEFT OUT"},
		{"skipping covers private servers", "", "1", func(t testing.TB) { Cluster(t) }, "", "LEFT OUT"},
		{"only 1 skips", "", "no", func(t testing.TB) { URL(t) }, "run `make test`", ""},
		{"not a URL", "host=127.0.0.1", "", func(t testing.TB) { URL(t) }, "want a URL such as postgres://", ""},
		{"nobody answers", "postgres://postgres@127.0.0.1:1/postgres?sslmode=disable", "", func(t testing.TB) { URL(t) }, "create a test database", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(serverVar, tt.server)
			t.Setenv(skipVar, tt.skip)
			v := judge(t, tt.call)
			if !strings.Contains(v.failed, tt.failed) || (v.failed == "") != (tt.failed == "") {
				t.Errorf("failed with %q, want %q", v.failed, tt.failed)
			}
			if !strings.Contains(v.skipped, tt.skipped) || (v.skipped == "") != (tt.skipped == "") {
				t.Errorf("skipped with %q, want %q", v.skipped, tt.skipped)
			}
		})
	}
}
