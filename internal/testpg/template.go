package testpg

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// Template is a database that is prepared once in a test process and copied for each test. A copy takes a fraction
// of the time of the migrations. A package that uses one has a TestMain that calls Main.
type Template struct {
	// Prepare fills the empty database at the URL and closes its connections to it.
	Prepare func(url string) error

	mu   sync.Mutex
	name string
	err  error
}

// URL is like the function URL, and the database it creates is a copy of the template.
func (p *Template) URL(t testing.TB) string {
	t.Helper()
	server := serverURL(t)
	name, err := p.prepared(server)
	if err != nil {
		t.Fatalf("prepare the template database: %v", err)
	}
	return newDatabase(t, server, name)
}

// prepared returns the name of the template, which the first call creates.
func (p *Template) prepared(server string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name != "" {
		return p.name, p.err
	}
	p.name = "holdshort_template_" + strings.ToLower(rand.Text())
	own, err := withDatabase(server, p.name)
	if err == nil {
		err = create(server, p.name, "template0")
	}
	if err == nil {
		err = p.Prepare(own)
	}
	if err == nil { // a connection, if only of the autovacuum, would make copies fail
		err = execute(server, "ALTER DATABASE "+p.name+" ALLOW_CONNECTIONS false")
	}
	p.err = err
	return p.name, err
}

// drop removes the template. A template that no test used does not exist.
func (p *Template) drop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name == "" {
		return nil
	}
	name := p.name
	p.name, p.err = "", nil
	return execute(os.Getenv(serverVar), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

// Main runs the tests and drops the template; TestMain exits with its result.
func (p *Template) Main(m *testing.M) int {
	code := m.Run()
	if err := p.drop(); err != nil {
		fmt.Fprintln(os.Stderr, "drop the template database:", err)
		return max(code, 1)
	}
	return code
}
