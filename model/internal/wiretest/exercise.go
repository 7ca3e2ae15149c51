package wiretest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort/model"
)

// Key, Header and Prompt must never show in an error.
const (
	Key    = "sk-test-0123456789abcdefSECRET"
	Header = "header-secret-0123456789"
	Prompt = "the words of ana that nobody else may read"
)

// Setup is the part of a configuration that all providers have.
type Setup struct {
	BaseURL   string
	Timeout   time.Duration
	MaxAnswer int64
	Client    *http.Client
}

// Provider is what the suite needs to know of one.
type Provider struct {
	// New makes a model with Key as its key and Header in a header.
	New func(Setup) (model.Model, error)
	// Whole and Stream are answers that say a text. Stream ends as the protocol ends.
	Whole, Stream func(text string) string
	// Half is the beginning of a stream: it says a text and a part of a call.
	Half string
	// Call is a stream with one call that has these arguments, which are no JSON.
	Call func(arguments string) string
	// Calls is a stream with so many calls of orders_list, all under one id.
	Calls func(n int) string
	// Fault is an error object of the protocol as an event in the middle of a stream, with these words in its message.
	Fault func(words string) string
}

// Exercise runs the suite.
func Exercise(t *testing.T, p Provider) {
	t.Run("statuses", p.statuses)
	t.Run("secrets", p.secrets)
	t.Run("cancellation", p.cancellation)
	t.Run("silence", p.silence)
	t.Run("death", p.death)
	t.Run("size", p.size)
	t.Run("calls", p.calls)
	t.Run("redirect", p.redirect)
	t.Run("unexpected form", p.form)
	t.Run("retries", p.retries)
	t.Run("crowd", p.crowd)
}

func (p Provider) model(t *testing.T, s Setup) model.Model {
	t.Helper()
	m, err := p.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func asked() model.Request {
	return model.Request{System: Prompt, Messages: []model.Message{{Role: model.User, Text: Prompt}}}
}

func kind(t *testing.T, err error, want model.Kind) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v, want %s", err, want)
	}
	if e.Kind != want {
		t.Errorf("%v, want %s", err, want)
	}
	return e
}

// modes runs a test for an answer that streams and for one that does not.
func modes(t *testing.T, fn func(t *testing.T, say func(string))) {
	t.Run("whole", func(t *testing.T) { fn(t, nil) })
	t.Run("stream", func(t *testing.T) { fn(t, func(string) {}) })
}

func stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
}

func document(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json") }

// drained reads the body of requests first: before that a server does not notice that a client is gone.
func drained(t *testing.T, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		handler(w, r)
	}
}

// hang waits until the client is gone.
func hang(r *http.Request) { <-r.Context().Done() }

func (p Provider) cancellation(t *testing.T) {
	reached := make(chan struct{}, 1)
	hangs := Serve(t, drained(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case reached <- struct{}{}:
		default:
		}
		hang(r)
	}))
	modes(t, func(t *testing.T, say func(string)) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-reached
			cancel()
		}()
		if _, err := p.model(t, Setup{BaseURL: hangs}).Generate(ctx, asked(), say); !errors.Is(err, context.Canceled) {
			t.Errorf("before the answer: %v", err)
		}
	})
	t.Run("in the middle", func(t *testing.T) {
		halves := Serve(t, drained(t, func(w http.ResponseWriter, r *http.Request) {
			stream(w)
			Send(w, []byte(p.Half+" "), len(p.Half))
			hang(r)
		}))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := p.model(t, Setup{BaseURL: halves}).Generate(ctx, asked(), func(string) { cancel() })
		if !errors.Is(err, context.Canceled) || model.Retryable(err) {
			t.Errorf("%v", err)
		}
	})
	t.Run("deadline of the caller", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := p.model(t, Setup{BaseURL: hangs}).Generate(ctx, asked(), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
	t.Run("before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		never := Serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked all the same") })
		if _, err := p.model(t, Setup{BaseURL: never}).Generate(ctx, asked(), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func (p Provider) silence(t *testing.T) {
	modes(t, func(t *testing.T, say func(string)) {
		hangs := Serve(t, drained(t, func(_ http.ResponseWriter, r *http.Request) { hang(r) }))
		_, err := p.model(t, Setup{BaseURL: hangs, Timeout: 20 * time.Millisecond}).Generate(t.Context(), asked(), say)
		kind(t, err, model.Timeout)
	})
	t.Run("in the middle", func(t *testing.T) {
		halves := Serve(t, drained(t, func(w http.ResponseWriter, r *http.Request) {
			stream(w)
			Send(w, []byte(p.Half+" "), len(p.Half))
			hang(r)
		}))
		var heard strings.Builder
		_, err := p.model(t, Setup{BaseURL: halves, Timeout: time.Second}).Generate(t.Context(), asked(), func(text string) { heard.WriteString(text) })
		kind(t, err, model.Timeout)
		if heard.Len() == 0 {
			t.Error("heard nothing of the beginning")
		}
	})
}

func (p Provider) crowd(t *testing.T) {
	echoes := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "text/event-stream" {
			stream(w)
			Send(w, []byte(p.Stream("hello")), 9)
			return
		}
		document(w)
		Send(w, []byte(p.Whole("hello")), 1<<20)
	})
	m := p.model(t, Setup{BaseURL: echoes})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			var heard strings.Builder
			say := func(text string) { heard.WriteString(text) }
			if i%2 == 0 {
				say = nil
			}
			got, err := m.Generate(t.Context(), asked(), say)
			if err != nil || got.Text != "hello" || say != nil && heard.String() != "hello" {
				t.Errorf("%q, heard %q, %v", got.Text, heard.String(), err)
			}
		})
	}
	all.Wait()
}

// calls: many of the same are for the agent to judge, each by an id of its own; beyond all measure they are no answer.
func (p Provider) calls(t *testing.T) {
	for _, n := range []int{1, 50, 1000, 1001, 20000} {
		url := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			stream(w)
			Send(w, []byte(p.Calls(n)), 1<<16)
		})
		req := asked()
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "call_same", Tool: "orders.list"}}})
		got, err := p.model(t, Setup{BaseURL: url}).Generate(t.Context(), req, func(string) {})
		if n > 1000 {
			kind(t, err, model.TooLarge)
			continue
		}
		ids := map[string]bool{"call_same": true}
		for _, c := range got.Calls {
			ids[c.ID] = true
		}
		if err != nil || len(got.Calls) != n || len(ids) != n+1 {
			t.Errorf("%d calls: %d with %d ids, %v", n, len(got.Calls), len(ids)-1, err)
		}
	}
}

// retries: asked again after a limit, half a call and a broken connection, it answers; what was heard of the half counts for nothing.
func (p Provider) retries(t *testing.T) {
	var times atomic.Int32
	url := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch times.Add(1) {
		case 1:
			w.Header().Set("Retry-After-Ms", "2")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			stream(w)
			Send(w, []byte(p.Half), 1<<16)
		case 3:
			panic(http.ErrAbortHandler)
		default:
			stream(w)
			Send(w, []byte(p.Stream("hello")), 1<<16)
		}
	})
	m := model.Retrying(p.model(t, Setup{BaseURL: url}), model.Retry{Wait: time.Millisecond})
	heard, voids := "", 0
	ctx := model.WithRestart(t.Context(), func() {
		heard = ""
		voids++
	})
	got, err := m.Generate(ctx, asked(), func(text string) { heard += text })
	if err != nil || got.Text != "hello" || heard != "hello" || voids != 3 || times.Load() != 4 {
		t.Errorf("%q, heard %q after %d voids and %d requests, %v", got.Text, heard, voids, times.Load(), err)
	}
}
