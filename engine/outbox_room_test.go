package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
)

const acme = holdshort.TenantID("acme")

// hand is a clock that a test moves.
type hand struct {
	mu sync.Mutex
	at time.Time
}

func (h *hand) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hand) move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// postbox is a channel whose other end is the test.
type postbox struct {
	mu      sync.Mutex
	got     []holdshort.Delivery
	fail    func(d holdshort.Delivery) error
	timeout time.Duration
}

func (p *postbox) Timeout() time.Duration { return p.timeout }

func (p *postbox) Send(ctx context.Context, _ holdshort.TenantID, d holdshort.Delivery) error {
	p.mu.Lock()
	fail := p.fail
	p.mu.Unlock()
	if fail != nil {
		if err := fail(d); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, d)
	return nil
}

func (p *postbox) set(fail func(d holdshort.Delivery) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = fail
}

// letters gives what arrived since the last call.
func (p *postbox) letters(t testing.TB) []Outbound {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Outbound
	for _, d := range p.got {
		var o Outbound
		if err := json.Unmarshal(d.Body, &o); err != nil {
			t.Fatalf("body of %s: %v", d.ID, err)
		}
		out = append(out, o)
	}
	p.got = nil
	return out
}

func (p *postbox) texts(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, o := range p.letters(t) {
		out = append(out, o.Parts[0].Text)
	}
	return out
}

// room is an engine with a chat channel, over a real store.
type room struct {
	testing.TB
	*Engine
	store  store.Store
	clock  *hand
	box    *postbox
	path   string
	config Config
	keys   int
	facts  FactLog // what the observer was told; it must be what the log has
}

func newRoom(t testing.TB, config Config) *room {
	r := &room{TB: t, clock: &hand{at: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}, box: &postbox{}, path: filepath.Join(t.TempDir(), "h.db"), config: config}
	r.start()
	t.Cleanup(func() { r.stop() })
	return r
}

// start opens the store, as a process that begins.
func (r *room) start() {
	r.Helper()
	s, err := sqlite.Open(context.Background(), r.path, sqlite.Options{Clock: r.clock.now})
	if err != nil {
		r.Fatal(err)
	}
	r.build(s)
}

func (r *room) build(s store.Store) {
	r.Helper()
	if r.config.Logger == nil {
		r.config.Logger = slog.New(slog.DiscardHandler)
	}
	r.config.Observer = &r.facts
	if r.config.Senders == nil {
		r.config.Senders = map[string]Sender{"chat": r.box}
	}
	e, err := New(s, r.config)
	if err != nil {
		r.Fatal(err)
	}
	r.store, r.Engine = s, e
}

func (r *room) stop() {
	r.Helper()
	if err := r.Drain(); err != nil {
		r.Error(err)
	}
	CheckObserved(r, r.store, &r.facts)
	if err := r.store.Close(); err != nil {
		r.Error(err)
	}
}

// restart is another process over the same file.
func (r *room) restart() {
	r.Helper()
	r.stop()
	r.start()
	if err := r.Recover(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// onPostgres is a room whose clock is the database's.
func onPostgres(t testing.TB, config Config) *room {
	s, err := postgres.Open(t.Context(), testpg.URL(t), postgres.Options{KeyringFile: filepath.Join(t.TempDir(), "keys"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{TB: t, clock: &hand{at: time.Now()}, box: &postbox{}, config: config}
	r.build(s)
	t.Cleanup(func() { r.stop() })
	return r
}

// settle lets everything happen that is due.
func (r *room) settle() {
	r.Helper()
	for {
		if err := r.Settle(r.Context()); err != nil {
			r.Fatal(err)
		}
		n, err := r.Tick(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		r.Engine.mu.Lock()
		busy := len(r.running)
		r.Engine.mu.Unlock()
		if n == 0 && busy == 0 {
			return
		}
	}
}

func (r *room) pass(d time.Duration) {
	r.Helper()
	r.clock.move(d)
	r.settle()
}

func (r *room) session(in OpenSessionInput) holdshort.Session {
	r.Helper()
	if in.User == "" {
		in.User = "ben"
	}
	s, err := r.OpenSession(r.Context(), acme, in)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// chatting is a session with an address.
func (r *room) chatting(flow string) holdshort.Session {
	return r.session(OpenSessionInput{Channel: "chat", Address: "+1", Flow: flow})
}

func (r *room) begin(flow string, s holdshort.Session, input string) holdshort.Run {
	r.Helper()
	r.clock.move(time.Millisecond) // so that what is older is older
	run, err := r.Start(r.Context(), acme, StartInput{Flow: flow, Session: s.ID, User: s.User, Input: json.RawMessage(input)})
	if err != nil {
		r.Fatal(err)
	}
	r.settle()
	return run
}

// hear is a message of the session's user, with an id of its own.
func (r *room) hear(s holdshort.Session, text string) Received {
	r.Helper()
	r.keys++
	return r.hearAs(s, Inbound{ID: "m" + time.Duration(r.keys).String(), Text: text})
}

func (r *room) hearAs(s holdshort.Session, in Inbound) Received {
	r.Helper()
	in.Channel, in.Address, in.Session = s.Channel, s.Address, ""
	if s.Address == "" {
		in.Session = s.ID
	}
	got, err := r.Receive(r.Context(), acme, in)
	if err != nil {
		r.Fatalf("receive %q: %v", in.Text, err)
	}
	r.settle()
	return got
}

func (r *room) requests(s holdshort.Session) []holdshort.Request {
	r.Helper()
	page, err := r.Requests(r.Context(), acme, RequestQuery{Session: s.ID, Order: store.ByNewest})
	if err != nil {
		r.Fatal(err)
	}
	var oldest []holdshort.Request
	for i := len(page.Items) - 1; i >= 0; i-- {
		oldest = append(oldest, page.Items[i])
	}
	return oldest
}

func (r *room) request(id holdshort.RequestID) holdshort.Request {
	r.Helper()
	req, err := r.RequestByID(r.Context(), acme, id)
	if err != nil {
		r.Fatal(err)
	}
	return req
}

func (r *room) run(id holdshort.RunID) holdshort.Run {
	r.Helper()
	run, err := r.RunByID(r.Context(), acme, id)
	if err != nil {
		r.Fatal(err)
	}
	return run
}

func (r *room) history(s holdshort.Session) []holdshort.Message {
	r.Helper()
	page, err := r.Messages(r.Context(), acme, MessageQuery{Session: s.ID})
	if err != nil {
		r.Fatal(err)
	}
	return page.Items
}

func (r *room) events(s holdshort.Session, names ...string) []holdshort.Event {
	r.Helper()
	r.settle()
	var list []holdshort.Event
	err := r.store.View(r.Context(), acme, func(tx store.ReadTx) error {
		list = nil
		events, err := tx.Events(store.EventQuery{Session: s.ID, Types: names, Limit: 200})
		list = events.Items
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return list
}

// asker is a flow that asks what its input says and completes with the answer.
func asker(name string) flow.Flow {
	return flow.New(name, 1, func(c *flow.Context, question string) (string, error) {
		return flow.Ask(c, "q", flow.Question{Text: question})
	})
}

// confirmer asks yes or no.
func confirmer(name string) flow.Flow {
	return flow.New(name, 1, func(c *flow.Context, question string) (bool, error) {
		return flow.Confirm(c, "q", flow.Question{Text: question})
	})
}
