package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
)

func keyed(ctx context.Context, key, body, answer string) context.Context {
	return engine.Once(ctx, engine.OnceKey{Scope: "ana POST /v1/things", Key: key, BodyHash: body, Status: 201, Answer: []byte(answer)})
}

// guarded is a use case that an idempotency key guards, and what shows how often it happened.
type guarded struct {
	name    string
	prepare func(t *testing.T, e *engine.Engine) string // what the call needs
	call    func(ctx context.Context, e *engine.Engine, with string) error
	event   string // one for each time that it happened
}

var steps atomic.Int64

var stepping = flow.New("stepping", 1, func(c *flow.Context, _ int) (string, error) {
	if _, err := flow.Step(c, "first", func(context.Context) (int, error) { steps.Add(1); return 1, nil }); err != nil {
		return "", err
	}
	_, err := flow.Approve(c, "ok", flow.Question{Text: "go on?"})
	return "done", err
})

func raised(t *testing.T, e *engine.Engine) string {
	t.Helper()
	out, err := e.Ask(t.Context(), tenant, wantsRefund(120))
	if err != nil {
		t.Fatal(err)
	}
	return string(out.Request.ID)
}

var guardedCalls = []guarded{
	{"start", nil, func(ctx context.Context, e *engine.Engine, _ string) error {
		_, err := e.Start(ctx, tenant, engine.StartInput{Flow: "stepping", User: "carl", Input: []byte("1")})
		return err
	}, "run.created"},
	{"decide", raised, func(ctx context.Context, e *engine.Engine, id string) error {
		_, err := e.Decide(ctx, tenant, engine.DecideInput{Request: holdshort.RequestID(id), Action: holdshort.Approve, Actor: ana})
		return err
	}, "hitl.request.decided"},
	{"comment", raised, func(ctx context.Context, e *engine.Engine, id string) error {
		_, err := e.Comment(ctx, tenant, engine.CommentInput{Request: holdshort.RequestID(id), Actor: ana, Text: "hm"})
		return err
	}, "hitl.request.commented"},
	{"assign", raised, func(ctx context.Context, e *engine.Engine, id string) error {
		_, err := e.Assign(ctx, tenant, engine.AssignInput{Request: holdshort.RequestID(id), Actor: ana, To: "ben"})
		return err
	}, "hitl.request.assigned"},
	{"cancel a request", raised, func(ctx context.Context, e *engine.Engine, id string) error {
		_, err := e.CancelRequest(ctx, tenant, engine.CancelRequestInput{Request: holdshort.RequestID(id), Actor: bot})
		return err
	}, "hitl.request.canceled"},
	{"create a key", nil, func(ctx context.Context, e *engine.Engine, _ string) error {
		_, _, err := e.CreateKey(ctx, tenant, engine.CreateKeyInput{Name: "till", Actor: root})
		return err
	}, "key.created"},
	{"create a webhook", nil, func(ctx context.Context, e *engine.Engine, _ string) error {
		_, err := e.CreateWebhook(ctx, tenant, engine.CreateWebhookInput{URL: "https://hooks.example.org", Actor: root})
		return err
	}, "webhook.created"},
}

// happened counts the events of a use case.
func happened(t *testing.T, s store.Store, event string) (n int) {
	t.Helper()
	stampAll(t, s)
	err := s.View(t.Context(), tenant, func(tx store.ReadTx) error {
		n = 0
		for after := int64(0); ; {
			found, err := tx.Events(store.EventQuery{After: after, Types: []string{event}})
			n += len(found.Items)
			if err != nil || found.Last == after {
				return err
			}
			after = found.Last
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stampAll gives positions to what has none, where the store does not do that by itself.
func stampAll(t *testing.T, s store.Store) {
	t.Helper()
	if s.Exclusive() {
		return
	}
	lease, err := s.System().Acquire(t.Context(), store.SequencerLease, "test", time.Minute)
	for n := 1; err == nil && n > 0; {
		n, err = s.System().Stamp(t.Context(), lease, 1000)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func wantReplay(t *testing.T, err error, answer string) {
	t.Helper()
	var r *engine.Replayed
	if !errors.As(err, &r) || r.Status != 201 || string(r.Answer) != answer {
		t.Fatalf("got %v %+v, want the answer %q again", err, r, answer)
	}
}

// TestOnce: the first call counts, every other under its key gets its answer, and another body is refused.
func TestOnce(t *testing.T) {
	for _, g := range guardedCalls {
		t.Run(g.name, func(t *testing.T) {
			b := newBed(t, engine.Config{Flows: []flow.Flow{stepping}})
			with := ""
			if g.prepare != nil {
				with = g.prepare(t, b.Engine)
			}
			before := steps.Load()
			if err := g.call(keyed(t.Context(), "k1", "body", "first"), b.Engine, with); err != nil {
				t.Fatal(err)
			}
			for _, answer := range []string{"second", "third"} {
				wantReplay(t, g.call(keyed(t.Context(), "k1", "body", answer), b.Engine, with), "first")
			}
			b.restart(nil)
			wantReplay(t, g.call(keyed(t.Context(), "k1", "body", "after a restart"), b.Engine, with), "first")
			err := g.call(keyed(t.Context(), "k1", "another body", "x"), b.Engine, with)
			if code(err) != holdshort.KeyReused || holdshort.HintOf(err) == "" {
				t.Errorf("another body: %v", err)
			}
			if n := happened(t, b.store, g.event); n != 1 {
				t.Errorf("it happened %d times", n)
			}
			if g.name == "start" && steps.Load() != before+1 {
				t.Errorf("the first step was done %d times", steps.Load()-before)
			}
		})
	}
}

// TestOnceScope: a key is its scope's and its tenant's; a call without one is never a replay; one that was refused stores nothing.
func TestOnceScope(t *testing.T) {
	b := newBed(t, engine.Config{})
	id := holdshort.RequestID(raised(t, b.Engine))
	comment := func(ctx context.Context, actor holdshort.Actor) error {
		_, err := b.Comment(ctx, tenant, engine.CommentInput{Request: id, Actor: actor, Text: "hm"})
		return err
	}
	for i := range 2 {
		if err := comment(keyed(t.Context(), "", "body", ""), ana); err != nil {
			t.Errorf("without a key, %d: %v", i, err)
		}
	}
	if err := comment(keyed(t.Context(), "k", "body", ""), eve); code(err) != holdshort.NotFound {
		t.Errorf("eve: %v", err)
	}
	if err := comment(keyed(t.Context(), "k", "body", ""), bot); code(err) != holdshort.Forbidden { // its refusal is noted in a transaction of its own
		t.Errorf("bot: %v", err)
	}
	if err := comment(keyed(t.Context(), "k", "body", "mine"), ana); err != nil {
		t.Errorf("after those who were refused: %v", err)
	}
	wantReplay(t, comment(keyed(t.Context(), "k", "body", ""), ana), "mine")
	other := engine.Once(t.Context(), engine.OnceKey{Scope: "ben POST /v1/things", Key: "k", BodyHash: "body"})
	if err := comment(other, ben); err != nil {
		t.Errorf("another scope: %v", err)
	}
	if _, _, err := b.CreateKey(keyed(t.Context(), "k", "body", ""), "rival", engine.CreateKeyInput{Name: "till", Actor: root}); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	for i, actor := range []holdshort.Actor{eve, root} { // she is refused before there is a transaction, and that is noted in one
		_, _, err := b.CreateKey(keyed(t.Context(), "early", "body", ""), tenant, engine.CreateKeyInput{Name: "till", Actor: actor})
		if (err == nil) != (i == 1) || code(err) == holdshort.Internal {
			t.Errorf("create a key, %d: %v", i, err)
		}
	}
	soon := wantsRefund(1)
	soon.ExpiresIn = time.Minute
	late := b.ask(soon)
	b.clock.move(2 * time.Minute)
	b.attach()    // a node that has not seen it yet, and reads it first
	for range 2 { // who comes too late has it swept, which is not what they came for
		_, err := b.Decide(keyed(t.Context(), "late", "body", ""), tenant, engine.DecideInput{Request: late.ID, Action: holdshort.Approve, Actor: ana})
		if code(err) != holdshort.Expired && code(err) != holdshort.Closed {
			t.Errorf("too late: %v", err)
		}
	}
	b.clock.move(8 * 24 * time.Hour)
	for more := true; more; {
		pruned, err := b.store.System().Prune(t.Context(), store.Retention{Replays: 7 * 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		more = pruned.Replays > 0
	}
	if err := comment(keyed(t.Context(), "k", "another", ""), ana); err != nil {
		t.Errorf("after its week: %v", err)
	}
}

// TestOnceTogether: of fifty at once one does it, and all others are told what it was answered.
func TestOnceTogether(t *testing.T) {
	for _, g := range guardedCalls {
		t.Run(g.name, func(t *testing.T) {
			eachStore(t, engine.Config{Flows: []flow.Flow{stepping}}, func(t *testing.T, e *engine.Engine) {
				with := ""
				if g.prepare != nil {
					with = g.prepare(t, e)
				}
				before := steps.Load()
				together(t, 50, func(i int) error {
					return g.call(keyed(t.Context(), "k", "body", fmt.Sprint("answer of ", i)), e, with)
				})
				if g.name == "start" && steps.Load() != before+1 {
					t.Errorf("the first step was done %d times", steps.Load()-before)
				}
				err := g.call(keyed(t.Context(), "k", "another", ""), e, with)
				if code(err) != holdshort.KeyReused {
					t.Errorf("another body: %v", err)
				}
			})
		})
	}
}

// together makes the calls at once: one may succeed, and the others get its answer.
func together(t *testing.T, n int, call func(i int) error) {
	t.Helper()
	answers, ready := make([]error, n), make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-ready
			answers[i] = call(i)
		})
	}
	close(ready)
	wg.Wait()
	winner := slices.IndexFunc(answers, func(err error) bool { return err == nil })
	if winner < 0 {
		t.Fatalf("nobody won: %v", answers[0])
	}
	for i, err := range answers {
		if i != winner {
			wantReplay(t, err, fmt.Sprint("answer of ", winner))
		}
	}
}

// TestOnceOnManyNodes: two nodes that are called under one key at once start one run.
func TestOnceOnManyNodes(t *testing.T) {
	url := testpg.URL(t)
	quiet := slog.New(slog.DiscardHandler)
	keys := filepath.Join(t.TempDir(), "keys")
	var nodes []*engine.Engine
	var stores []store.Store
	for range 2 {
		s, err := postgres.Open(t.Context(), url, postgres.Options{KeyringFile: keys, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		e, err := engine.New(s, engine.Config{Flows: []flow.Flow{stepping}, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		nodes, stores = append(nodes, e), append(stores, s)
	}
	for round := range 5 {
		together(t, 20, func(i int) error {
			return guardedCalls[0].call(keyed(t.Context(), fmt.Sprint("k", round), "body", fmt.Sprint("answer of ", i)), nodes[i%2], "")
		})
	}
	if n := happened(t, stores[0], "run.created"); n != 5 {
		t.Errorf("%d runs were started under 5 keys", n)
	}
}

// mortal is a real store whose process dies at one of its transactions: before it, or after it was committed and before anybody heard.
type mortal struct {
	store.Store
	mu    sync.Mutex
	left  int
	after bool
	dead  bool
}

func (m *mortal) Keyring() *holdshort.Keyring {
	return m.Store.(interface{ Keyring() *holdshort.Keyring }).Keyring()
}

func (m *mortal) Update(ctx context.Context, t holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errGone
	}
	if m.left--; m.left > 0 {
		return m.Store.Update(ctx, t, fn, rows...)
	}
	m.dead = true
	if m.after {
		_ = m.Store.Update(ctx, t, fn, rows...)
	}
	return errGone
}

func (m *mortal) View(ctx context.Context, t holdshort.TenantID, fn func(store.ReadTx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errGone
	}
	return m.Store.View(ctx, t, fn)
}

// TestOnceCrash: whoever was not answered calls again, and whatever had happened until the process died, it happened once.
func TestOnceCrash(t *testing.T) {
	for _, g := range guardedCalls {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/after=%v", g.name, after), func(t *testing.T) {
				b := newBed(t, engine.Config{Flows: []flow.Flow{stepping}})
				with := ""
				if g.prepare != nil {
					with = g.prepare(t, b.Engine)
				}
				doomed, err := engine.New(&mortal{Store: b.store, left: 1, after: after}, engine.Config{Flows: b.conf.Flows, Clock: b.clock.now, Observer: b.facts, Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				if err := g.call(keyed(t.Context(), "k", "body", "first"), doomed, with); code(err) != holdshort.StoreUnavailable {
					t.Fatalf("the call that dies: %v", err)
				}
				if err := doomed.Settle(t.Context()); err != nil {
					t.Fatal(err)
				}
				b.restart(nil)
				if n := happened(t, b.store, g.event); n != map[bool]int{true: 1}[after] {
					t.Fatalf("it happened %d times before anybody called again", n)
				}
				answer := "first"
				if err := g.call(keyed(t.Context(), "k", "body", "second"), b.Engine, with); after {
					wantReplay(t, err, answer)
				} else if answer = "second"; err != nil {
					t.Fatal(err)
				}
				wantReplay(t, g.call(keyed(t.Context(), "k", "body", "third"), b.Engine, with), answer)
				if n := happened(t, b.store, g.event); n != 1 {
					t.Errorf("it happened %d times", n)
				}
			})
		}
	}
}

// TestOnceLongNames: what no store takes is refused and does nothing.
func TestOnceLongNames(t *testing.T) {
	b := newBed(t, engine.Config{Flows: []flow.Flow{stepping}})
	for _, key := range []string{strings.Repeat("k", 5000), "a\x00b", "\xff"} {
		for _, g := range guardedCalls[:1] {
			if err := g.call(keyed(t.Context(), key, "body", ""), b.Engine, ""); err == nil {
				t.Errorf("a key %.10q was taken", key)
			}
			if n := happened(t, b.store, g.event); n != 0 {
				t.Errorf("with a key %.10q it happened", key)
			}
		}
	}
}
