package testpg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	serverVar = "HOLDSHORT_TEST_POSTGRES"
	skipVar   = "HOLDSHORT_TEST_SKIP_POSTGRES"

	// setupTimeout bounds what this package does for a test, so that a stuck server fails the test instead of the build.
	setupTimeout = 60 * time.Second
)

// URL creates an empty database on the server named by HOLDSHORT_TEST_POSTGRES and returns its URL;
// the database is dropped, with whatever is still connected to it, when the test ends.
//
// It is a database and not a schema because LISTEN/NOTIFY and advisory locks reach across schemas.
//
// Without a server the test fails: a green run that left PostgreSQL out would say something untrue.
// HOLDSHORT_TEST_SKIP_POSTGRES=1 skips the test instead, for `make test-short`.
func URL(t testing.TB) string {
	t.Helper()
	return newDatabase(t, serverURL(t), "template0")
}

// serverURL returns the URL of the server, or skips or fails the test as URL says.
func serverURL(t testing.TB) string {
	t.Helper()
	skipIfAsked(t)
	server := os.Getenv(serverVar)
	if server == "" {
		t.Fatalf("this test needs PostgreSQL and %s is not set: run `make test`, or `make postgres` in another terminal and set %s to what it prints", serverVar, serverVar)
	}
	return server
}

// newDatabase copies the template and drops the copy when the test ends.
func newDatabase(t testing.TB, server, template string) string {
	t.Helper()
	name := "holdshort_test_" + strings.ToLower(rand.Text())
	own, err := withDatabase(server, name)
	if err != nil {
		t.Fatalf("read %s: %v", serverVar, err)
	}
	if err := create(server, name, template); err != nil {
		t.Fatalf("create a test database on the server of %s: %v", serverVar, err)
	}
	t.Cleanup(func() {
		if err := execute(server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop test database %s: %v", name, err)
		}
	})
	return own
}

func skipIfAsked(t testing.TB) {
	t.Helper()
	if os.Getenv(skipVar) == "1" {
		t.Skipf("LEFT OUT: needs PostgreSQL and %s=1; `make test` runs it", skipVar)
	}
}

// withDatabase returns the server's URL with another database name.
func withDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return "", errors.New("want a URL such as postgres://user@127.0.0.1:5432/postgres?sslmode=disable")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// create copies a template that accepts no connections, such as template0: a template in use cannot be copied.
func create(server, name, template string) error {
	statement := "CREATE DATABASE " + name + " TEMPLATE " + template + " ENCODING 'UTF8'"
	for attempt := 1; ; attempt++ {
		err := execute(server, statement)
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "55006" && attempt < 5 {
			continue // object_in_use: the server has already waited five seconds for the template
		}
		return err
	}
}

func execute(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}
