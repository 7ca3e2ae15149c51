package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

// damageEnv is an engine over a real store whose rows a test damages behind the engine's back.
type damageEnv struct {
	*testing.T
	*engine.Engine
	store  store.Store
	open   func() (store.Store, error)
	driver string
	source string
	conf   engine.Config
	paid   *counter
	reads  *counter
	heard  int
}

// onDamagedStores runs a test over SQLite and over PostgreSQL.
func onDamagedStores(t *testing.T, test func(e *damageEnv)) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "h.db")
		test(newDamageEnv(t, "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)", func() (store.Store, error) {
			return sqlite.Open(context.Background(), path, sqlite.Options{})
		}))
	})
	t.Run("postgres", func(t *testing.T) {
		url, keys := testpg.URL(t), filepath.Join(t.TempDir(), "keys")
		test(newDamageEnv(t, "pgx", url, func() (store.Store, error) {
			return postgres.Open(context.Background(), url, postgres.Options{KeyringFile: keys, Logger: slog.New(slog.DiscardHandler)})
		}))
	})
}

func newDamageEnv(t *testing.T, driver, source string, open func() (store.Store, error)) *damageEnv {
	t.Helper()
	e := &damageEnv{T: t, driver: driver, source: source, open: open, paid: &counter{}, reads: &counter{}}
	rules := policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		if c.Tool == "refund" {
			return policy.Verdict{Decision: policy.Ask}, nil
		}
		return policy.Verdict{Decision: policy.Allow}, nil
	})
	lookup := tool.Tool{Name: "lookup", Schema: refundSchema, Timeout: 10 * time.Second, Effect: tool.Read, Call: e.reads.call}
	e.conf = engine.Config{Flows: []flow.Flow{clerk}, Tools: []tool.Tool{refundTool(e.paid), lookup}, Policy: rules, Logger: slog.New(slog.DiscardHandler)}
	e.attach()
	t.Cleanup(func() { e.store.Close() })
	return e
}

func (e *damageEnv) attach() {
	e.Helper()
	s, err := e.open()
	if err != nil {
		e.Fatal(err)
	}
	if e.Engine, err = engine.New(s, e.conf); err != nil {
		e.Fatal(err)
	}
	e.store = s
}

// clerk reads, then asks for approval of a payment.
var clerk = flow.New("clerk", 1, func(c *flow.Context, in struct {
	Text string `json:"text"`
}) (string, error) {
	type answer struct {
		OK bool `json:"ok"`
	}
	order := refund{Order: "77", Amount: 12}
	if _, err := flow.Call[answer](c, "look", "lookup", order); err != nil {
		return "", err
	}
	if _, err := flow.Call[answer](c, "pay", "refund", order); err != nil {
		return string(holdshort.CodeOf(err)), nil
	}
	return "paid for " + in.Text, nil
})

func (e *damageEnv) settle() {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), safetyLimit)
	defer cancel()
	for {
		if err := e.Settle(ctx); err != nil {
			e.Fatal(err)
		}
		n, err := e.Tick(ctx)
		if err != nil {
			e.Fatal(err)
		}
		if err := e.Settle(ctx); err != nil {
			e.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// restart closes the store and opens a new engine over it: nothing is left in memory.
func (e *damageEnv) restart() {
	e.Helper()
	e.settle()
	if err := e.store.Close(); err != nil {
		e.Fatal(err)
	}
	e.attach()
	if err := e.Recover(e.Context()); err != nil {
		e.Fatal(err)
	}
	e.settle()
}

// beside opens the database behind the engine's back; the statement comes back in the driver's own notation.
func (e *damageEnv) beside(statement string) (*sql.DB, string) {
	e.Helper()
	if e.driver == "pgx" {
		parts := strings.Split(statement, "?")
		statement = parts[0]
		for i, part := range parts[1:] {
			statement += fmt.Sprint("$", i+1) + part
		}
	}
	db, err := sql.Open(e.driver, e.source)
	if err != nil {
		e.Fatal(err)
	}
	return db, statement
}

// damage changes rows with a statement of its own. It must change at least one.
func (e *damageEnv) damage(statement string, args ...any) {
	e.Helper()
	db, statement := e.beside(statement)
	defer db.Close()
	result, err := db.ExecContext(e.Context(), statement, args...)
	if err != nil {
		e.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		e.Fatalf("%s changed nothing (%v)", statement, err)
	}
}

// count returns the number that a statement selects.
func (e *damageEnv) count(statement string, args ...any) (n int) {
	e.Helper()
	db, statement := e.beside(statement)
	defer db.Close()
	if err := db.QueryRowContext(e.Context(), statement, args...).Scan(&n); err != nil {
		e.Fatal(err)
	}
	return n
}

// chat opens a session of carl's.
func (e *damageEnv) chat() holdshort.Session {
	e.Helper()
	s, err := e.OpenSession(e.Context(), tenant, engine.OpenSessionInput{User: "carl", Channel: "chat", Address: "+1", Flow: "clerk"})
	if err != nil {
		e.Fatal(err)
	}
	return s
}

// page opens a session of carl's that nothing is sent to: he looks at it himself.
func (e *damageEnv) page() holdshort.Session {
	e.Helper()
	s, err := e.OpenSession(e.Context(), tenant, engine.OpenSessionInput{User: "carl", Flow: "clerk"})
	if err != nil {
		e.Fatal(err)
	}
	return s
}

// hear sends a message of the session's user.
func (e *damageEnv) hear(s holdshort.Session, text string) engine.Received {
	e.Helper()
	e.heard++
	in := engine.Inbound{Channel: s.Channel, Address: s.Address, ID: fmt.Sprint("m", e.heard), Text: text}
	if s.Address == "" {
		in.Session = s.ID
	}
	got, err := e.Receive(e.Context(), tenant, in)
	if err != nil {
		e.Fatal(err)
	}
	e.settle()
	return got
}

func (e *damageEnv) run(id holdshort.RunID) holdshort.Run {
	e.Helper()
	run, err := e.RunByID(e.Context(), tenant, id)
	if err != nil {
		e.Fatal(err)
	}
	return run
}

func (e *damageEnv) request(id holdshort.RunID) holdshort.Request {
	e.Helper()
	page, err := e.Requests(e.Context(), tenant, engine.RequestQuery{Run: id, Status: holdshort.RequestOpen})
	if err != nil || len(page.Items) != 1 {
		e.Fatalf("%d open requests, %v", len(page.Items), err)
	}
	return page.Items[0]
}

func (e *damageEnv) approve(id holdshort.RunID) error {
	e.Helper()
	_, err := e.Decide(e.Context(), tenant, engine.DecideInput{Request: e.request(id).ID, Action: holdshort.Approve, Actor: ana})
	e.settle()
	return err
}

// wantHeld checks that the run is held as corrupt and that no tool ran since the given number of calls.
func (e *damageEnv) wantHeld(id holdshort.RunID, reads int) {
	e.Helper()
	run := e.run(id)
	if run.Held == nil || run.Held.Code != holdshort.Corrupt || run.Status.Ended() {
		e.Fatalf("the run is %s, held %+v, result %s; want it held: corrupt", run.Status, run.Held, run.Result)
	}
	if e.paid.n() != 0 || e.reads.n() != reads {
		e.Fatalf("%d payments and %d reads, want none and %d", e.paid.n(), e.reads.n(), reads)
	}
}

// cancels cancels the run and checks its event.
func (e *damageEnv) cancels(id holdshort.RunID) {
	e.Helper()
	run, err := e.Cancel(e.Context(), tenant, id, ops, "damaged")
	if err != nil || run.Status != holdshort.RunCanceled {
		e.Fatalf("cancel: %s, %v", run.Status, err)
	}
	e.settle()
	if run := e.run(id); run.Status != holdshort.RunCanceled || run.Held != nil {
		e.Errorf("after the cancellation the run is %s, held %+v", run.Status, run.Held)
	}
	if n := e.count("SELECT COUNT(*) FROM events WHERE type = 'run.canceled' AND stream = ?", string(id)); n != 1 {
		e.Errorf("%d events of the cancellation", n)
	}
}

// TestDamagedJournal: one row that cannot be read holds the run. The conversation goes on without it, and it can be canceled.
func TestDamagedJournal(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		s := e.chat()
		id := e.hear(s, "first").Run
		e.damage("UPDATE journal SET body = ? WHERE run_id = ? AND key = 'look'", []byte("{"), string(id))
		e.restart()
		if err := e.approve(id); err != nil {
			e.Fatal(err)
		}
		e.wantHeld(id, 1)
		got := e.hear(s, "second")
		if got.Outcome != engine.RoutedStart || got.Run == id {
			e.Fatalf("a message beside the held run: %+v", got)
		}
		e.cancels(id)
		if run := e.run(got.Run); !strings.Contains(string(run.Input), "second") || run.Status != holdshort.RunWaiting {
			e.Errorf("the next run is %s with input %s", run.Status, run.Input)
		}
		if err := e.approve(got.Run); err != nil {
			e.Fatal(err)
		}
		if run := e.run(got.Run); run.Status != holdshort.RunCompleted || e.paid.n() != 1 {
			e.Errorf("the next run is %s after %d payments", run.Status, e.paid.n())
		}
		if got := e.hear(s, "third"); got.Outcome != engine.RoutedStart {
			e.Errorf("the message after that: %+v", got)
		}
	})
}

// TestDamagedPost: a message whose own journal row cannot be read does not keep the run from being canceled or the session from going on.
func TestDamagedPost(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		s := e.chat()
		id := e.hear(s, "first").Run
		if got := e.hear(s, "lost"); got.Outcome != engine.RoutedPost {
			e.Fatalf("%+v", got)
		}
		if got := e.hear(s, "kept"); got.Outcome != engine.RoutedPost {
			e.Fatalf("%+v", got)
		}
		e.damage("UPDATE journal SET body = ? WHERE run_id = ? AND kind = 'post' AND key = (SELECT MIN(key) FROM journal WHERE kind = 'post')",
			[]byte("{"), string(id))
		e.restart()
		if err := e.approve(id); err != nil {
			e.Fatal(err)
		}
		e.wantHeld(id, 1)
		e.cancels(id)
		now, err := e.SessionByID(e.Context(), tenant, s.ID)
		if err != nil || now.ActiveRun != "" { // nobody knows which messages it took
			e.Fatalf("the active run is %q, %v", now.ActiveRun, err)
		}
		if got := e.hear(s, "again"); got.Outcome != engine.RoutedStart {
			e.Errorf("the next message: %+v", got)
		}
		if page, err := e.Requests(e.Context(), tenant, engine.RequestQuery{Run: id, Status: holdshort.RequestOpen}); err != nil || len(page.Items) > 0 {
			e.Errorf("%d requests of the canceled run are open, %v", len(page.Items), err)
		}
	})
}
