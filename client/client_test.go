package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// A run from its start over a decision to its end, and what can be asked about it.
func TestRun(t *testing.T) {
	d := newDoor(t)
	ctx := t.Context()
	ops, ana := d.as(t, "olga", []string{"operator"}, nil), d.ana(t)
	run, err := ops.Start(ctx, client.Start{Flow: "refund", Input: json.RawMessage(`{"order":"77","amount":120}`)})
	if err != nil {
		t.Fatal(err)
	}
	if run, err = ops.AwaitRun(ctx, run.ID); err != nil || run.Status != holdshort.RunWaiting || len(run.OpenRequests) != 1 {
		t.Fatalf("%+v, %v", run, err)
	}
	why, err := ops.Why(ctx, run.ID)
	if err != nil || len(why) == 0 || why[0].Code != "request" {
		t.Errorf("why: %+v, %v", why, err)
	}
	req, err := ana.Request(ctx, run.OpenRequests[0])
	if err != nil || req.Actions[0].Tool != "orders.refund" || req.Fingerprint == "" {
		t.Fatalf("%+v, %v", req, err)
	}
	decided, err := ana.Decide(ctx, req.ID, client.Choice{Action: holdshort.Approve, Message: "fine", Fingerprint: req.Fingerprint})
	if err != nil || decided.Request.Outcome != holdshort.Approved || decided.Request.Decision.Message != "fine" || decided.Request.Decision.At.IsZero() {
		t.Fatalf("%+v, %v", decided, err)
	}
	if run, err = ops.AwaitEnd(ctx, run.ID); err != nil || run.Status != holdshort.RunCompleted || string(run.Result) != `"re_1"` || d.refunds.Load() != 1 {
		t.Errorf("%+v, %v, %d refunds", run, err, d.refunds.Load())
	}
	journal, err := ops.Journal(ctx, run.ID)
	operations, opsErr := ops.Operations(ctx, run.ID)
	if err != nil || opsErr != nil || len(journal) == 0 || len(operations) != 1 {
		t.Errorf("journal %+v, %v; operations %+v, %v", journal, err, operations, opsErr)
	}
	list, err := ops.Runs(ctx, client.FindRuns{Status: holdshort.RunCompleted, Flow: "refund", Limit: 1})
	if err != nil || len(list.Items) != 1 || list.Items[0].ID != run.ID {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := ops.CancelRun(ctx, run.ID, "too late"); !errors.Is(err, holdshort.WrongState) {
		t.Errorf("canceled what is over: %v", err)
	}
}

// A run that failed over a no can be tried again: it asks anew.
func TestRetryRun(t *testing.T) {
	d := newDoor(t)
	ctx := t.Context()
	ops, ana := d.as(t, "olga", []string{"operator"}, nil), d.ana(t)
	run, err := ops.Start(ctx, client.Start{Flow: "refund", Input: json.RawMessage(`{"order":"77","amount":120}`), Key: "once"})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := ops.Start(ctx, client.Start{Flow: "refund", Input: json.RawMessage(`{"order":"77","amount":120}`), Key: "once"}); err != nil || same.ID != run.ID {
		t.Errorf("the same start again: %s, %v", same.ID, err)
	}
	if run, err = ops.AwaitRun(ctx, run.ID); err != nil || len(run.OpenRequests) != 1 {
		t.Fatalf("%+v, %v", run, err)
	}
	if _, err := ana.Decide(ctx, run.OpenRequests[0], client.Choice{Action: holdshort.Reject}); err != nil {
		t.Fatal(err)
	}
	if run, err = ops.AwaitEnd(ctx, run.ID); err != nil || run.Status != holdshort.RunFailed || run.Error.Code != holdshort.Denied {
		t.Fatalf("%+v, %v", run, err)
	}
	if run, err = ops.RetryRun(ctx, run.ID); err != nil || run.Status.Ended() {
		t.Fatalf("%+v, %v", run, err)
	}
	if run, err = ops.CancelRun(ctx, run.ID, "enough"); err != nil || run.Status != holdshort.RunCanceled || d.refunds.Load() != 0 {
		t.Errorf("%+v, %v, %d refunds", run, err, d.refunds.Load())
	}
}

// A refusal is the error that the kernel gave, with what stands instead.
func TestRefusals(t *testing.T) {
	d := newDoor(t)
	ctx := t.Context()
	agent, ana, eve := d.agent(t), d.ana(t), d.as(t, "eve", nil, nil)
	req, err := agent.Raise(ctx, payBack)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ana.Decide(ctx, req.ID, client.Choice{Action: holdshort.Reject, Message: "no"}); err != nil {
		t.Fatal(err)
	}
	_, err = ana.Decide(ctx, req.ID, client.Choice{Action: holdshort.Approve})
	refused, ok := errors.AsType[*client.Refusal](err)
	if !ok || refused.Status != http.StatusConflict || !errors.Is(err, holdshort.Closed) || refused.Decision == nil || refused.Decision.Message != "no" || refused.Request.ID != req.ID {
		t.Errorf("%+v, %v", refused, err)
	}
	if known, ok := errors.AsType[*holdshort.Error](err); !ok || known.Message == "" || known.Hint == "" {
		t.Errorf("%+v", known)
	}
	for name, tt := range map[string]struct {
		err  error
		code holdshort.Code
	}{
		"unknown id":      {second(ana.Request(ctx, "req_01jc8zv0q8f5tq2m9d4x7k3n1w")), holdshort.NotFound},
		"not for eve":     {second(eve.Request(ctx, req.ID)), holdshort.NotFound},
		"no credentials":  {second(d.with(t, "").Me(ctx)), holdshort.Unauthenticated},
		"wrong key":       {second(d.with(t, "hs_nonsense").Me(ctx)), holdshort.Unauthenticated},
		"unknown action":  {second(ana.Decide(ctx, req.ID, client.Choice{Action: "bless"})), holdshort.Invalid},
		"agents decide":   {second(agent.Decide(ctx, req.ID, client.Choice{Action: holdshort.Approve})), holdshort.Forbidden},
		"bad JSON inside": {second(ana.Decide(ctx, req.ID, client.Choice{Action: holdshort.Answer, Value: json.RawMessage("{")})), holdshort.Invalid},
	} {
		if !errors.Is(tt.err, tt.code) {
			t.Errorf("%s: %v, want %s", name, tt.err, tt.code)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestMany(t *testing.T) {
	d := newDoor(t)
	ctx := t.Context()
	agent, ana := d.agent(t), d.ana(t)
	var items []client.One
	for range 3 {
		req, err := agent.Raise(ctx, payBack)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, client.One{ID: req.ID, Choice: client.Choice{Action: holdshort.Approve, Fingerprint: req.Fingerprint}})
	}
	items[1].Fingerprint = strings.Repeat("0", 64)
	results, err := ana.DecideMany(ctx, items)
	if err != nil || len(results) != 3 || results[0].Status != 200 || results[1].Problem == nil || results[1].Problem.Code != holdshort.FingerprintMismatch || results[2].Request.Outcome != holdshort.Approved {
		t.Errorf("%+v, %v", results, err)
	}
	page, err := ana.Requests(ctx, client.Find{Status: holdshort.RequestResolved, Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	if page, err = ana.Requests(ctx, client.Find{Status: holdshort.RequestResolved, Limit: 1, Cursor: page.Next}); err != nil || len(page.Items) != 1 {
		t.Errorf("second page: %+v, %v", page, err)
	}
	if err := ana.Comment(ctx, items[1].ID, "who wrote this?"); err != nil {
		t.Error(err)
	}
	if req, err := ana.Assign(ctx, items[1].ID, "ben"); err != nil || req.Assignee != "ben" {
		t.Errorf("%+v, %v", req, err)
	}
	if decided, err := ana.Reply(ctx, items[1].ID, "yes"); err != nil || decided.Request.Outcome != holdshort.Approved {
		t.Errorf("%+v, %v", decided, err)
	}
}

func TestKeys(t *testing.T) {
	d := newDoor(t)
	ctx := t.Context()
	admin := d.as(t, "ada", []string{"admin"}, nil)
	made, err := admin.CreateKey(ctx, client.NewKeyInput{Name: "laptop", User: "ben", Roles: []string{"reviewer"}, ExpiresIn: "24h"})
	if err != nil || made.Secret == "" || made.ExpiresAt.IsZero() {
		t.Fatalf("%+v, %v", made, err)
	}
	ben := d.with(t, made.Secret)
	if me, err := ben.Me(ctx); err != nil || me.Actor.ID != "ben" || me.Tenant != "default" {
		t.Errorf("%+v, %v", me, err)
	}
	keys, err := admin.Keys(ctx)
	if err != nil || len(keys) != 2 {
		t.Errorf("%+v, %v", keys, err)
	}
	if err := admin.RevokeKey(ctx, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := ben.Keys(ctx); !errors.Is(err, holdshort.Unauthenticated) && !errors.Is(err, holdshort.Forbidden) {
		t.Errorf("a revoked key: %v", err)
	}
}

// Calls are made again where that is safe, and only there.
func TestRetries(t *testing.T) {
	problem := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			json.NewEncoder(w).Encode(map[string]any{"code": code, "title": "x"})
		}
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			c.Close()
		}
	}
	tests := []struct {
		name  string
		fail  http.HandlerFunc
		call  func(context.Context, *client.Client) error
		calls int64
	}{
		{"a read, cut off", cut, func(ctx context.Context, c *client.Client) error { return second(c.Me(ctx)) }, 3},
		{"a read, 503", problem(503, "store_unavailable"), func(ctx context.Context, c *client.Client) error { return second(c.Me(ctx)) }, 3},
		{"a decision, cut off", cut, func(ctx context.Context, c *client.Client) error {
			return second(c.Decide(ctx, "req_1", client.Choice{}))
		}, 3},
		{"a new key, cut off", cut, func(ctx context.Context, c *client.Client) error {
			return second(c.CreateKey(ctx, client.NewKeyInput{Name: "x"}))
		}, 1},
		{"a new key, too many calls", problem(429, "rate_limited"), func(ctx context.Context, c *client.Client) error {
			return second(c.CreateKey(ctx, client.NewKeyInput{Name: "x"}))
		}, 3},
		{"a conflict", problem(409, "closed"), func(ctx context.Context, c *client.Client) error {
			return second(c.Decide(ctx, "req_1", client.Choice{}))
		}, 1},
		{"a fault", problem(500, "internal"), func(ctx context.Context, c *client.Client) error { return second(c.Me(ctx)) }, 1},
		{"a quarantine", problem(503, "quarantined"), func(ctx context.Context, c *client.Client) error { return second(c.Me(ctx)) }, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int64
			var keys []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				if calls.Add(1) < 3 || tt.calls == 1 {
					tt.fail(w, r)
					return
				}
				w.Write([]byte("{}"))
			}))
			defer server.Close()
			c, err := client.New(server.URL, "", client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			err = tt.call(t.Context(), c)
			if calls.Load() != tt.calls || (err == nil) != (tt.calls == 3) {
				t.Errorf("%d calls, %v", calls.Load(), err)
			}
			for _, k := range keys {
				if k != keys[0] {
					t.Errorf("keys %v: a repeated call has the key of the first", keys)
				}
			}
		})
	}
}

// What answers is not always our server.
func TestStrangers(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		code   holdshort.Code
	}{
		"a proxy's 502":       {502, "<html>bad gateway</html>", client.Unreachable},
		"a login page":        {302, "", holdshort.Internal},
		"somebody else's 404": {404, "not here", holdshort.NotFound},
		"HTML with 200":       {200, "<html>", holdshort.Internal},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			w.Write([]byte(tt.body))
		}))
		c, err := client.New(server.URL, "secret-token", client.Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Me(t.Context())
		if holdshort.CodeOf(err) != tt.code || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
		if _, err = c.Me(t.Context()); holdshort.CodeOf(err) != client.Unreachable {
			t.Errorf("nobody there: %v", err)
		}
	}
	for _, address := range []string{"", "127.0.0.1:8080", "ftp://x", "http://", "http://ana:pw@host", "http://host?x"} {
		if _, err := client.New(address, "", client.Options{}); holdshort.CodeOf(err) != holdshort.Invalid {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := client.New("http://127.0.0.1", "two words", client.Options{}); holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("a token with a space: %v", err)
	}
}

// A wait outlasts several long polls, and ends with its context.
func TestAwait(t *testing.T) {
	d := newDoor(t)
	agent := d.agent(t)
	req, err := agent.Raise(t.Context(), payBack)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var polls atomic.Int64
	third := func(w http.ResponseWriter, r *http.Request, door http.Handler) {
		if polls.Add(1) == 3 {
			cancel()
		}
		door.ServeHTTP(w, r)
	}
	d.broken.Store(&third)
	now, err := agent.AwaitRequest(ctx, req.ID)
	if !errors.Is(err, context.Canceled) || polls.Load() != 3 || now.ID != req.ID || now.Status != holdshort.RequestOpen {
		t.Errorf("%s %s, %v", now.ID, now.Status, err)
	}
}
