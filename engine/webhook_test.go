package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
)

// hooks is the far end of the channel "webhook".
type hooks struct {
	mu   sync.Mutex
	got  []holdshort.Delivery
	fail error
}

func (h *hooks) Send(_ context.Context, _ holdshort.TenantID, d holdshort.Delivery) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail != nil {
		return h.fail
	}
	h.got = append(h.got, d)
	return nil
}

func (h *hooks) Pause(attempts int) (time.Duration, bool) {
	return time.Duration(attempts) * time.Hour, attempts < 3
}

func (h *hooks) refuse(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fail = err
}

// notice is what a receiver reads.
type notice struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		ID      string `json:"id"`
		Seq     int64  `json:"seq"`
		Request struct {
			ID       holdshort.RequestID     `json:"id"`
			Status   holdshort.RequestStatus `json:"status"`
			Outcome  holdshort.Outcome       `json:"outcome"`
			Question string                  `json:"question"`
			Decision *holdshort.Decision     `json:"decision"`
			Brief    bool                    `json:"brief"`
		} `json:"request"`
	} `json:"data"`
}

// notices are what arrived since the last call.
func (h *hooks) notices(t *testing.T) []notice {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []notice
	for _, d := range h.got {
		var n notice
		if err := json.Unmarshal(d.Body, &n); err != nil {
			t.Fatalf("%s: %v", d.Body, err)
		}
		list = append(list, n)
	}
	h.got = nil
	return list
}

func types(list []notice) []string {
	var names []string
	for _, n := range list {
		names = append(names, n.Type)
	}
	slices.Sort(names) // they come in no order
	return names
}

func newHooks(t *testing.T) (*bed, *hooks) {
	h := &hooks{}
	return newBed(t, engine.Config{Senders: map[string]engine.Sender{engine.WebhookChannel: h}}), h
}

func (b *bed) webhook(events ...string) holdshort.Webhook {
	b.Helper()
	w, err := b.CreateWebhook(b.Context(), tenant, engine.CreateWebhookInput{URL: "https://hooks.example.org/in", Events: events, Actor: ops})
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// TestWebhookFeed: a webhook gets each event that it wants and that came after it, once, and nothing about webhooks themselves.
func TestWebhookFeed(t *testing.T) {
	b, h := newHooks(t)
	b.ask(wantsRefund(1)) // before anybody wanted to know
	all, some := b.webhook(), b.webhook("hitl.request.*")
	h.notices(t)
	b.settle()
	if got := types(h.notices(t)); !slices.Equal(got, []string{"webhook.created", "webhook.created"}) {
		t.Errorf("told of %v", got)
	}
	req := b.ask(wantsRefund(2))
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
	got := h.notices(t)
	if want := []string{"hitl.interrupt.paused", "hitl.request.created", "hitl.request.created", "hitl.request.decided", "hitl.request.decided"}; !slices.Equal(types(got), want) {
		t.Errorf("told of %v, want %v", types(got), want)
	}
	for _, n := range got {
		if n.Data.ID == "" || n.Data.Seq == 0 || n.Timestamp.IsZero() {
			t.Errorf("a notice says %+v", n)
		}
	}
	b.settle()
	if got := h.notices(t); len(got) != 0 {
		t.Errorf("told again of %v", types(got))
	}
	for _, w := range []holdshort.Webhook{all, some} {
		page, err := b.WebhookDeliveries(t.Context(), tenant, engine.WebhookDeliveriesQuery{Webhook: w.ID})
		if err != nil || len(page.Items) == 0 || slices.ContainsFunc(page.Items, func(d holdshort.Delivery) bool {
			return d.Status != holdshort.DeliverySent || d.Address != string(w.ID) || !strings.HasPrefix(d.Key, string(w.ID)+":evt_") || d.Ordered
		}) {
			t.Errorf("the log of %s: %+v %v", w.ID, page, err)
		}
	}
	if _, err := b.WebhookDeliveries(t.Context(), "rival", engine.WebhookDeliveriesQuery{Webhook: all.ID}); code(err) != holdshort.NotFound {
		t.Errorf("another tenant reads its log: %v", err)
	}
	if page, err := b.Webhooks(t.Context(), tenant); err != nil || len(page) != 2 || page[0].Secrets != nil || page[1].Secrets != nil {
		t.Errorf("listed %+v: %v", page, err)
	}
}

// TestWebhookBacklog: many events are handed over in several rounds, each once, also when the process dies in between.
func TestWebhookBacklog(t *testing.T) {
	b, h := newHooks(t)
	w := b.webhook("hitl.request.commented")
	req := b.ask(wantsRefund(1))
	const many = 250
	for i := range many {
		if _, err := b.Comment(t.Context(), tenant, engine.CommentInput{Request: req.ID, Actor: ana, Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for left := 1; left <= 4; left++ { // a process that dies at each of its transactions
		doomed, err := engine.New(&mortal{Store: b.store, left: left, after: left%2 == 0}, engine.Config{Observer: b.facts, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = doomed.Tick(t.Context())
		_ = doomed.Drain()
		b.clock.move(time.Minute) // its lease ends
	}
	b.settle()
	seen := map[string]int{}
	for _, n := range h.notices(t) {
		seen[n.Data.ID]++
	}
	if len(seen) != many {
		t.Errorf("told of %d events of %d", len(seen), many)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("told of %s %d times", id, n)
		}
	}
	stands, err := b.WebhookByID(t.Context(), tenant, w.ID)
	if err != nil || stands.Cursor == 0 {
		t.Errorf("the webhook is %+v: %v", stands, err)
	}
}

// TestWebhookNodes: many nodes that look at once hand each event over once.
func TestWebhookNodes(t *testing.T) {
	url, keys := testpg.URL(t), filepath.Join(t.TempDir(), "keys")
	quiet := slog.New(slog.DiscardHandler)
	h := &hooks{}
	var nodes []*engine.Engine
	for range 3 {
		s, err := postgres.Open(t.Context(), url, postgres.Options{KeyringFile: keys, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		e, err := engine.New(s, engine.Config{Logger: quiet, Senders: map[string]engine.Sender{engine.WebhookChannel: h}})
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, e)
	}
	if _, err := nodes[0].CreateWebhook(t.Context(), tenant, engine.CreateWebhookInput{URL: "https://hooks.example.org", Events: []string{"key.created"}, Actor: root}); err != nil {
		t.Fatal(err)
	}
	const many = 40
	for i := range many {
		if _, _, err := nodes[i%3].CreateKey(t.Context(), tenant, engine.CreateKeyInput{Name: "till", Actor: root}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for deadline := time.Now().Add(safetyLimit); len(seen) < many && time.Now().Before(deadline); {
		var wg sync.WaitGroup
		for _, e := range nodes {
			wg.Go(func() {
				if _, err := e.Tick(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, n := range h.notices(t) {
			seen[n.Data.ID]++
		}
	}
	if len(seen) != many {
		t.Errorf("told of %d of %d", len(seen), many)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("told of %s %d times", id, n)
		}
	}
}

// arriving tells of each delivery as it arrives.
type arriving chan holdshort.Delivery

func (a arriving) Send(_ context.Context, _ holdshort.TenantID, d holdshort.Delivery) error {
	a <- d
	return nil
}

// TestWebhookLoop: Run hands events over by itself, and takes up after a restart what was not handed over.
func TestWebhookLoop(t *testing.T) {
	got := make(arriving, 100)
	eachStore(t, engine.Config{Senders: map[string]engine.Sender{engine.WebhookChannel: got}}, func(t *testing.T, e *engine.Engine) {
		if _, err := e.CreateWebhook(t.Context(), tenant, engine.CreateWebhookInput{URL: "https://hooks.example.org", Events: []string{"key.created"}, Actor: root}); err != nil {
			t.Fatal(err)
		}
		key := func() {
			t.Helper()
			if _, _, err := e.CreateKey(t.Context(), tenant, engine.CreateKeyInput{Name: "till", Actor: root}); err != nil {
				t.Fatal(err)
			}
		}
		key()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		for i := range 3 {
			select {
			case d := <-got:
				if !strings.Contains(string(d.Body), "key.created") {
					t.Errorf("got %s", d.Body)
				}
			case <-time.After(safetyLimit):
				t.Fatalf("delivery %d does not come", i)
			}
			if i < 2 {
				key()
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestWebhookChanges: rotate, turn off and on, test, redeliver, delete: each by who may, each with its event.
func TestWebhookChanges(t *testing.T) {
	b, h := newHooks(t)
	w := b.webhook("hitl.*")
	if len(w.Secrets) != 1 || !strings.HasPrefix(w.Secrets[0].Secret, "whsec_") {
		t.Fatalf("made with %v", w.Secrets)
	}
	target := func() engine.Target {
		b.Helper()
		to, err := b.TargetOf(t.Context(), tenant, holdshort.Delivery{Key: string(w.ID) + ":evt_1", Address: string(w.ID)})
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	rotated, err := b.RotateWebhook(t.Context(), tenant, w.ID, ops)
	if err != nil || len(rotated.Secrets) != 1 || rotated.Secrets[0].Secret == w.Secrets[0].Secret {
		t.Fatalf("rotated %+v: %v", rotated, err)
	}
	if got, want := target().Secrets, []string{rotated.Secrets[0].Secret, w.Secrets[0].Secret}; !slices.Equal(got, want) {
		t.Errorf("signs with %v, want both", got)
	}
	b.clock.move(24 * time.Hour)
	if got := target().Secrets; len(got) != 1 || got[0] != rotated.Secrets[0].Secret {
		t.Errorf("after the overlap it signs with %v", got)
	}

	sent, err := b.TestWebhook(t.Context(), tenant, w.ID, ops)
	if err != nil {
		t.Fatal(err)
	}
	b.settle()
	if got := types(h.notices(t)); !slices.Equal(got, []string{"webhook.tested"}) {
		t.Errorf("the test sends %v", got)
	}
	if _, err := b.RedeliverWebhook(t.Context(), tenant, w.ID, sent.ID, ops); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if got := types(h.notices(t)); !slices.Equal(got, []string{"webhook.tested"}) {
		t.Errorf("redelivered %v", got)
	}
	other := b.webhook()
	if _, err := b.RedeliverWebhook(t.Context(), tenant, other.ID, sent.ID, ops); code(err) != holdshort.NotFound {
		t.Errorf("redelivered by another webhook: %v", err)
	}
	if err := b.DeleteWebhook(t.Context(), tenant, other.ID, ops); err != nil {
		t.Fatal(err)
	}

	if off, err := b.SetWebhook(t.Context(), tenant, w.ID, false, ops); err != nil || off.Disabled != holdshort.WebhookOff || off.Secrets != nil {
		t.Fatalf("off: %+v %v", off, err)
	}
	b.ask(wantsRefund(1))
	b.settle()
	if got := h.notices(t); len(got) != 0 {
		t.Errorf("one that is off is told of %v", types(got))
	}
	if _, err := b.TestWebhook(t.Context(), tenant, w.ID, ops); code(err) != holdshort.WrongState {
		t.Errorf("test of one that is off: %v", err)
	}
	if _, err := b.TargetOf(t.Context(), tenant, holdshort.Delivery{Key: string(w.ID) + ":evt_1", Address: string(w.ID)}); code(err) != holdshort.WrongState {
		t.Errorf("the target of one that is off: %v", err)
	}
	if on, err := b.SetWebhook(t.Context(), tenant, w.ID, true, ops); err != nil || on.Disabled != "" {
		t.Fatalf("on: %+v %v", on, err)
	}
	b.settle()
	if got := h.notices(t); len(got) != 0 {
		t.Errorf("told of what happened while it was off: %v", types(got))
	}
	for range 2 {
		if err := b.WebhookGone(t.Context(), tenant, w.ID); err != nil {
			t.Fatal(err)
		}
	}
	if stands, err := b.WebhookByID(t.Context(), tenant, w.ID); err != nil || stands.Disabled != holdshort.WebhookGone {
		t.Errorf("gone: %+v %v", stands, err)
	}
	if err := b.DeleteWebhook(t.Context(), tenant, w.ID, ops); err != nil {
		t.Fatal(err)
	}
	if _, err := b.TargetOf(t.Context(), tenant, holdshort.Delivery{Key: string(w.ID) + ":evt_1", Address: string(w.ID)}); code(err) != holdshort.NotFound {
		t.Errorf("the target of one that was deleted: %v", err)
	}
	want := []string{"webhook.created by ops", "webhook.rotated by ops", "webhook.tested by ops", "webhook.created by ops", "webhook.deleted by ops", "webhook.disabled off by ops",
		"webhook.enabled by ops", "webhook.disabled gone by system:outbox", "webhook.deleted by ops"}
	if got := b.events("webhook.*"); !slices.Equal(got, want) {
		t.Errorf("events\n%v, want\n%v", got, want)
	}
}

// TestWebhookRefusals: who may not, may nothing and learns nothing; what cannot be sent to is refused at once.
func TestWebhookRefusals(t *testing.T) {
	b, _ := newHooks(t)
	w := b.webhook()
	for i, actor := range []holdshort.Actor{ana, eve, bot, {}, {ID: "x", Kind: holdshort.System}} {
		for name, try := range map[string]func(id holdshort.WebhookID) error{
			"create": func(holdshort.WebhookID) error {
				_, err := b.CreateWebhook(t.Context(), tenant, engine.CreateWebhookInput{URL: "https://hooks.example.org", Actor: actor})
				return err
			},
			"delete": func(id holdshort.WebhookID) error { return b.DeleteWebhook(t.Context(), tenant, id, actor) },
			"rotate": func(id holdshort.WebhookID) error {
				_, err := b.RotateWebhook(t.Context(), tenant, id, actor)
				return err
			},
			"update": func(id holdshort.WebhookID) error {
				_, err := b.UpdateWebhook(t.Context(), tenant, engine.UpdateWebhookInput{ID: id, Events: []string{"run.*"}, Actor: actor})
				return err
			},
			"set": func(id holdshort.WebhookID) error {
				_, err := b.SetWebhook(t.Context(), tenant, id, false, actor)
				return err
			},
			"test": func(id holdshort.WebhookID) error {
				_, err := b.TestWebhook(t.Context(), tenant, id, actor)
				return err
			},
		} {
			for _, id := range []holdshort.WebhookID{w.ID, "whk_unknown"} {
				if err := try(id); code(err) != holdshort.Forbidden {
					t.Errorf("%s by actor %d: %v", name, i, err)
				}
			}
		}
	}
	if denied := b.events("access.denied"); len(denied) < 3 {
		t.Errorf("refusals that were noted: %v", denied)
	}
	for name, in := range map[string]engine.CreateWebhookInput{
		"no address":          {},
		"a relative one":      {URL: "/in"},
		"another scheme":      {URL: "ftp://hooks.example.org"},
		"with a password":     {URL: "https://ana:secret@hooks.example.org"},
		"with a fragment":     {URL: "https://hooks.example.org/#x"},
		"with a line break":   {URL: "https://hooks.example.org/\r\nX: y"},
		"with odd letters":    {URL: "https://hооks.example.org/"},
		"an endless one":      {URL: "https://hooks.example.org/" + strings.Repeat("a", 3000)},
		"an unknown event":    {URL: "https://hooks.example.org", Events: []string{"hitl.request.decided", "hitl.nothing"}},
		"an empty filter":     {URL: "https://hooks.example.org", Events: []string{""}},
		"too many filters":    {URL: "https://hooks.example.org", Events: slices.Repeat([]string{"*"}, 200)},
		"a short secret":      {URL: "https://hooks.example.org", Secret: "whsec_QUJD"},
		"a secret without it": {URL: "https://hooks.example.org", Secret: "C2FVsBQIhrscChlQIMV+b5sSYspob7oD9z4T6yVcKkY="},
		"an id of another":    {URL: "https://hooks.example.org", ID: "key_1"},
	} {
		in.Actor = ops
		_, err := b.CreateWebhook(t.Context(), tenant, in)
		if code(err) != holdshort.Invalid || holdshort.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 99 {
		b.webhook()
	}
	if _, err := b.CreateWebhook(t.Context(), tenant, engine.CreateWebhookInput{URL: "https://hooks.example.org", Actor: ops}); code(err) != holdshort.LimitReached {
		t.Errorf("the 101st: %v", err)
	}
}

// TestWebhookRetries: a sender's own schedule holds, a receiver may ask for more time, and each attempt is in the log.
func TestWebhookRetries(t *testing.T) {
	b, h := newHooks(t)
	w := b.webhook("hitl.request.commented")
	h.refuse(engine.RetryAfter(errors.New("busy"), 90*time.Minute))
	d, err := b.TestWebhook(t.Context(), tenant, w.ID, ops)
	if err != nil {
		t.Fatal(err)
	}
	b.settle()
	stands := func() holdshort.Delivery {
		b.Helper()
		got, err := b.DeliveryByID(t.Context(), tenant, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := stands(); got.Attempt != 1 || !got.DueAt.Equal(b.clock.now().Add(90*time.Minute)) || len(got.Log) != 1 || got.LastError != "busy" {
		t.Errorf("after the first attempt %+v", got)
	}
	h.refuse(statusError(503))
	b.advance(89 * time.Minute)
	if got := stands(); got.Attempt != 1 {
		t.Errorf("tried before the receiver wanted it: %+v", got)
	}
	b.advance(time.Minute)
	if got := stands(); got.Attempt != 2 || !got.DueAt.Equal(b.clock.now().Add(2*time.Hour)) || len(got.Log) != 2 || got.Log[1].Status != 503 {
		t.Errorf("after the second attempt %+v", got)
	}
	b.advance(30 * time.Hour) // longer than other channels have
	if got := stands(); got.Status != holdshort.DeliveryDead || got.Attempt != 3 || len(got.Log) != 3 {
		t.Errorf("after the third attempt %+v", got)
	}
	h.refuse(nil)
	if _, err := b.RedeliverWebhook(t.Context(), tenant, w.ID, d.ID, ops); err != nil {
		t.Fatal(err)
	}
	b.settle()
	if got := stands(); got.Status != holdshort.DeliverySent || got.Attempt != 1 || len(got.Log) != 3 {
		t.Errorf("redelivered %+v", got)
	}
}

type statusError int

func (s statusError) Error() string { return fmt.Sprint("answered ", int(s)) }
func (s statusError) Status() int   { return int(s) }

// TestCallbacks: whoever raised a request is told how it closed, in the same transaction, and nobody else is.
func TestCallbacks(t *testing.T) {
	raise := func(b *bed, change func(*engine.AskInput)) holdshort.Request {
		b.Helper()
		in := wantsRefund(120)
		in.CallbackURL = "https://agent.example.org/done?token=1"
		if change != nil {
			change(&in)
		}
		return b.ask(in)
	}
	for name, c := range map[string]struct {
		raise   func(*engine.AskInput)
		close   func(b *bed, req holdshort.Request)
		kind    string
		status  holdshort.RequestStatus
		outcome holdshort.Outcome
		decided bool
	}{
		"approved": {nil, func(b *bed, req holdshort.Request) {
			b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana, Message: "fine"})
		}, "hitl.request.decided", holdshort.RequestResolved, holdshort.Approved, true},
		"rejected": {nil, func(b *bed, req holdshort.Request) {
			b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: ana})
		}, "hitl.request.decided", holdshort.RequestResolved, holdshort.Rejected, true},
		"expired": {func(in *engine.AskInput) { in.ExpiresIn = time.Minute }, func(b *bed, _ holdshort.Request) { b.advance(2 * time.Minute) },
			"hitl.request.expired", holdshort.RequestExpired, "", false},
		"canceled": {nil, func(b *bed, req holdshort.Request) {
			if _, err := b.CancelRequest(b.Context(), tenant, engine.CancelRequestInput{Request: req.ID, Actor: bot}); err != nil {
				b.Fatal(err)
			}
		}, "hitl.request.canceled", holdshort.RequestCanceled, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			b, h := newHooks(t)
			req := raise(b, c.raise)
			if stands := b.requestByID(req.ID); stands.CallbackURL == "" || stands.Fingerprint != req.Fingerprint {
				t.Errorf("stored %+v", stands)
			}
			if shown, err := json.Marshal(req); err != nil || strings.Contains(string(shown), "agent.example.org") {
				t.Errorf("everybody reads where it goes: %s %v", shown, err)
			}
			b.settle()
			if got := h.notices(t); len(got) != 0 {
				t.Fatalf("told of %v while it is open", types(got))
			}
			c.close(b, req)
			b.settle()
			h.mu.Lock()
			if len(h.got) != 1 || h.got[0].Key != "callback:"+string(req.ID) || h.got[0].Address != "https://agent.example.org/done?token=1" {
				t.Fatalf("sent %+v", h.got)
			}
			to, err := b.TargetOf(t.Context(), tenant, h.got[0])
			h.mu.Unlock()
			if err != nil || to.Secrets[0] != b.CallbackSecret(tenant, bot.ID) || to.Secrets[0] == b.CallbackSecret(tenant, "key_other") || to.Secrets[0] == b.CallbackSecret("rival", bot.ID) {
				t.Errorf("signed with %v: %v", to, err)
			}
			n := h.notices(t)[0]
			r := n.Data.Request
			if n.Type != c.kind || r.ID != req.ID || r.Status != c.status || r.Outcome != c.outcome || (r.Decision != nil) != c.decided || r.Question == "" {
				t.Errorf("told %+v", n)
			}
			if c.decided && r.Decision.Actor.ID != "ana" {
				t.Errorf("decided by %+v", r.Decision)
			}
			b.advance(48 * time.Hour)
			if got := h.notices(t); len(got) != 0 {
				t.Errorf("told again: %v", types(got))
			}
		})
	}
}

// TestCallbackEdges: a bad address is refused; one that closes with its session tells no text; what is large is named only.
func TestCallbackEdges(t *testing.T) {
	b, h := newHooks(t)
	for _, url := range []string{"agent", "ftp://agent.example.org", "https://", "https://a:b@agent.example.org"} {
		in := wantsRefund(1)
		in.CallbackURL = url
		_, err := b.Ask(t.Context(), tenant, in)
		var e *holdshort.Error
		if !errors.As(err, &e) || e.Code != holdshort.Invalid || e.Field != "callback_url" {
			t.Errorf("%q: %v", url, err)
		}
	}
	session, err := b.OpenSession(t.Context(), tenant, engine.OpenSessionInput{User: "ben"})
	if err != nil {
		t.Fatal(err)
	}
	in := wantsRefund(1)
	in.CallbackURL, in.Session = "https://agent.example.org", session.ID
	b.ask(in)
	if _, err := b.DeleteSession(t.Context(), tenant, session.ID, ops); err != nil {
		t.Fatal(err)
	}
	b.settle()
	got := h.notices(t)
	if len(got) != 1 || got[0].Data.Request.Status != holdshort.RequestCanceled || !got[0].Data.Request.Brief || got[0].Data.Request.Question != "" {
		t.Errorf("told %+v", got)
	}
	large := engine.AskInput{Kind: holdshort.Approval, Question: "many", Actor: bot, CallbackURL: "https://agent.example.org"}
	for range 3 {
		large.Actions = append(large.Actions, engine.AskAction{Tool: "shop.note", Args: fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("a", 100<<10))})
	}
	req := b.ask(large)
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: ana})
	got = h.notices(t)
	if len(got) != 1 || !got[0].Data.Request.Brief || got[0].Data.Request.Outcome != holdshort.Rejected {
		t.Errorf("told %+v", got)
	}
}

// TestNoWebhookReads: what needs no webhook costs nothing for there being some.
func TestNoWebhookReads(t *testing.T) {
	b, _ := newHooks(t)
	b.webhook()
	counting := &webhookReads{Store: b.store}
	e, err := engine.New(counting, engine.Config{Observer: b.facts, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.Ask(t.Context(), tenant, wantsRefund(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Decide(t.Context(), tenant, engine.DecideInput{Request: out.Request.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
		t.Fatal(err)
	}
	if counting.n != 0 {
		t.Errorf("webhooks were read %d times", counting.n)
	}
}

type webhookReads struct {
	store.Store
	n int
}

func (w *webhookReads) Keyring() *holdshort.Keyring {
	return w.Store.(interface{ Keyring() *holdshort.Keyring }).Keyring()
}

func (w *webhookReads) Update(ctx context.Context, t holdshort.TenantID, fn func(store.Tx) error, rows ...store.Row) error {
	return w.Store.Update(ctx, t, func(tx store.Tx) error { return fn(readingTx{tx, w}) }, rows...)
}

type readingTx struct {
	store.Tx
	w *webhookReads
}

func (r readingTx) Webhook(id holdshort.WebhookID) (holdshort.Webhook, error) {
	r.w.n++
	return r.Tx.Webhook(id)
}

func (r readingTx) Webhooks() ([]holdshort.Webhook, error) {
	r.w.n++
	return r.Tx.Webhooks()
}
