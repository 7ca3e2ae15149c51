package identity

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
)

const tenant holdshort.TenantID = "acme"

var (
	ana  = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{policy.Reviewer}, Assurance: holdshort.AssuranceLogin}
	root = holdshort.Actor{ID: "root", Kind: holdshort.Person, Roles: []string{policy.Admin}, Assurance: holdshort.AssuranceLogin}
	bot  = holdshort.Actor{ID: "key:bot", Kind: holdshort.Service, Assurance: holdshort.AssuranceToken}
)

// bed is an engine over a real SQLite file, with a clock that a test moves.
type bed struct {
	testing.TB
	*engine.Engine
	store *sqlite.Store
	clock *clock
	log   *lines
}

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// lines is a log that a test reads.
type lines struct {
	mu   sync.Mutex
	text []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	return len(b), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

func newBed(t testing.TB) *bed {
	t.Helper()
	b := &bed{TB: t, clock: &clock{at: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}, log: &lines{}}
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{Clock: b.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	b.store = s
	if b.Engine, err = engine.New(s, engine.Config{Clock: b.clock.now, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	return b
}

// identity is one of the tenant acme, unless the configuration says otherwise.
func (b *bed) identity(c Config) *Identity {
	b.Helper()
	if c.Tenant == "" {
		c.Tenant = tenant
	}
	c.Clock = b.clock.now
	c.Logger = slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	i, err := New(b.Engine, c)
	if err != nil {
		b.Fatal(err)
	}
	return i
}

func (b *bed) ask(change func(*engine.AskInput)) holdshort.Request {
	b.Helper()
	in := engine.AskInput{Kind: holdshort.Approval, Question: "Refund?", Actor: bot, Actions: []engine.AskAction{{Tool: "shop.refund", Args: json.RawMessage(`{"order":"77"}`)}}}
	if change != nil {
		change(&in)
	}
	out, err := b.Ask(b.Context(), tenant, in)
	if err != nil {
		b.Fatal(err)
	}
	return out.Request
}

// denials are the stored events of refusals, as "code actor".
func (b *bed) denials() (all []string) {
	b.Helper()
	err := b.store.View(b.Context(), tenant, func(tx store.ReadTx) error {
		found, err := tx.Events(store.EventQuery{Types: []string{"access.denied"}})
		for _, e := range found.Items {
			all = append(all, e.Code+" "+e.Actor)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return all
}

// call makes a request as a client of this machine sends it.
func call(method, target string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	r.RemoteAddr = "127.0.0.1:50000"
	for n := 0; n < len(header); n += 2 {
		r.Header.Add(header[n], header[n+1])
	}
	return r
}

func bearerOf(token string) *http.Request {
	return call("GET", "http://localhost/v1/me", "Authorization", "Bearer "+token)
}

func wantCode(t *testing.T, err error, code holdshort.Code) {
	t.Helper()
	if holdshort.CodeOf(err) != code {
		t.Errorf("got %v, want code %s", err, code)
	} else if code != "" && holdshort.HintOf(err) == "" {
		t.Errorf("%v has no hint", err)
	}
}
