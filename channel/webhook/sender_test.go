package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// house stands in for the engine: one target, and a note of who was said to be gone.
type house struct {
	target engine.Target
	err    error
	gone   []holdshort.WebhookID
}

func (h *house) TargetOf(context.Context, holdshort.TenantID, holdshort.Delivery) (engine.Target, error) {
	return h.target, h.err
}

func (h *house) WebhookGone(_ context.Context, _ holdshort.TenantID, id holdshort.WebhookID) error {
	h.gone = append(h.gone, id)
	return nil
}

// receiver is somebody's server.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	got   []*http.Request
	texts []string
}

func receive(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.got, r.texts = append(r.got, q), append(r.texts, string(body))
		r.mu.Unlock()
		answer(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// safetyLimit ends a wait for a signal that never comes. No test passes or fails by how long it takes.
const safetyLimit = 5 * time.Minute

var local = Options{AllowHTTP: true, AllowPrivate: true, Timeout: safetyLimit}

func sender(o Options, h *house) *Sender {
	s := New(o)
	s.kernel = h
	return s
}

var letter = holdshort.Delivery{ID: "dlv_1", Key: "whk_1:evt_1", Channel: engine.WebhookChannel, Address: "whk_1", Body: []byte(`{"type":"run.completed","data":{"x":"<&>"}}`)}

func TestSendSigned(t *testing.T) {
	r := receive(t, status(204))
	h := &house{target: engine.Target{URL: r.URL + "/in?x=1", Secrets: []string{secretTwo, secretOne}, Webhook: "whk_1"}}
	if err := sender(local, h).Send(t.Context(), "acme", letter); err != nil {
		t.Fatal(err)
	}
	if len(r.got) != 1 || r.texts[0] != string(letter.Body) || r.got[0].Method != "POST" || r.got[0].URL.String() != "/in?x=1" {
		t.Fatalf("got %v %q", r.got, r.texts)
	}
	header := r.got[0].Header
	if header.Get("Content-Type") != "application/json" || header.Get(IDHeader) != letter.Key {
		t.Errorf("headers %v", header)
	}
	for _, secret := range []string{secretOne, secretTwo} {
		if err := Verify(secret, header, letter.Body, time.Now()); err != nil {
			t.Error(err)
		}
	}
}

// TestAnswers: what each answer means for what is tried next.
func TestAnswers(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		status int
		after  string
		sent   bool
		final  bool
		gone   bool
		pause  time.Duration
	}{
		"200":                          {status: 200, sent: true},
		"202":                          {status: 202, sent: true},
		"299":                          {status: 299, sent: true},
		"301":                          {status: 301},
		"400":                          {status: 400},
		"401":                          {status: 401},
		"404":                          {status: 404},
		"410":                          {status: 410, final: true, gone: true},
		"429":                          {status: 429},
		"429 with seconds":             {status: 429, after: "120", pause: 2 * time.Minute},
		"503 with a date":              {status: 503, after: "Mon, 02 Mar 2026 09:10:00 GMT", pause: 10 * time.Minute},
		"503 with a date that is past": {status: 503, after: "Mon, 02 Mar 2026 08:10:00 GMT"},
		"503 with too much":            {status: 503, after: "999999999", pause: 24 * time.Hour},
		"503 with nonsense":            {status: 503, after: "soon"},
		"503 with less than nothing":   {status: 503, after: "-5"},
		"500 may not say when":         {status: 500, after: "120"},
	} {
		t.Run(name, func(t *testing.T) {
			r := receive(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				if c.status == 301 {
					w.Header().Set("Location", "/elsewhere")
				}
				w.WriteHeader(c.status)
			})
			o := local
			o.Now = func() time.Time { return now }
			h := &house{target: engine.Target{URL: r.URL, Secrets: []string{secretOne}, Webhook: "whk_1"}}
			err := sender(o, h).Send(t.Context(), "acme", letter)
			if (err == nil) != c.sent {
				t.Fatalf("got %v", err)
			}
			if len(r.got) != 1 {
				t.Errorf("%d requests", len(r.got))
			}
			if (len(h.gone) == 1) != c.gone {
				t.Errorf("gone: %v", h.gone)
			}
			if err == nil {
				return
			}
			var told interface{ Status() int }
			if !errors.As(err, &told) || told.Status() != c.status {
				t.Errorf("%v does not tell the status", err)
			}
			again, more := engine.NextAttempt(sender(o, h), err, now)
			if more == c.final {
				t.Errorf("tried again: %v", more)
			}
			if more && (again.Sub(now) < max(c.pause, 5*time.Second) || again.Sub(now) > max(c.pause, 6*time.Second)) {
				t.Errorf("tried again after %v, want %v", again.Sub(now), c.pause)
			}
		})
	}
}

// TestSchedule: the specification's, with up to a fifth more.
func TestSchedule(t *testing.T) {
	s := New(Options{})
	want := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	alike := 0
	for attempt, least := range want {
		first, ok := s.Pause(attempt + 1)
		second, _ := s.Pause(attempt + 1)
		if !ok || first < least || first > least+least/5 {
			t.Errorf("after attempt %d: %v %v, want %v", attempt+1, first, ok, least)
		}
		if first == second {
			alike++
		}
	}
	if alike > 1 {
		t.Error("the pauses do not differ")
	}
	if _, ok := s.Pause(10); ok {
		t.Error("an eleventh attempt")
	}
}

// TestNoRedirects: a signed body is not taken elsewhere.
func TestNoRedirects(t *testing.T) {
	elsewhere := receive(t, status(200))
	for _, code := range []int{301, 302, 303, 307, 308} {
		r := receive(t, func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, elsewhere.URL, code) })
		h := &house{target: engine.Target{URL: r.URL, Secrets: []string{secretOne}}}
		if err := sender(local, h).Send(t.Context(), "acme", letter); err == nil {
			t.Errorf("%d counts as sent", code)
		}
	}
	if len(elsewhere.got) != 0 {
		t.Errorf("%d requests went elsewhere", len(elsewhere.got))
	}
}

// TestInside: nothing is sent to where it must not go, and it is not tried again.
func TestInside(t *testing.T) {
	r := receive(t, status(200))
	port := r.URL[strings.LastIndex(r.URL, ":"):]
	for _, url := range []string{r.URL, "http://localhost" + port, "http://[::1]" + port, "http://[::ffff:127.0.0.1]" + port, "http://0.0.0.0" + port, "http://0" + port, "http://127.1" + port,
		"http://2130706433" + port, "http://0x7f000001" + port, "gopher://127.0.0.1" + port} {
		h := &house{target: engine.Target{URL: url, Secrets: []string{secretOne}}}
		err := sender(Options{AllowHTTP: true}, h).Send(t.Context(), "acme", letter)
		if err == nil {
			t.Errorf("%s was sent to", url)
		}
	}
	h := &house{target: engine.Target{URL: r.URL, Secrets: []string{secretOne}}}
	if err := sender(Options{AllowPrivate: true}, h).Send(t.Context(), "acme", letter); holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("without TLS: %v", err)
	}
	if len(r.got) != 0 {
		t.Errorf("%d requests arrived", len(r.got))
	}
}

// TestRebinding: a name that leads outside when it is checked and inside when it is used leads nowhere.
func TestRebinding(t *testing.T) {
	r := receive(t, status(200))
	port := r.URL[strings.LastIndex(r.URL, ":"):]
	var asked atomic.Int64
	names := nameserver(t, func(int64) [4]byte { asked.Add(1); return [4]byte{127, 0, 0, 1} })
	h := &house{target: engine.Target{URL: "http://rebind.example.org" + port, Secrets: []string{secretOne}}}
	s := sender(Options{AllowHTTP: true, Resolver: names, Timeout: safetyLimit}, h)
	if err := s.CheckAddress(h.target.URL); err != nil {
		t.Fatalf("the name alone says nothing: %v", err)
	}
	err := s.Send(t.Context(), "acme", letter)
	if holdshort.CodeOf(err) != holdshort.Forbidden {
		t.Errorf("got %v", err)
	}
	if _, more := engine.NextAttempt(s, err, time.Now()); more {
		t.Error("it would be tried again")
	}
	if asked.Load() == 0 || len(r.got) != 0 {
		t.Errorf("the name was looked up %d times, %d requests arrived", asked.Load(), len(r.got))
	}
	o := local
	o.Resolver = names
	if err := sender(o, h).Send(t.Context(), "acme", letter); err != nil || len(r.got) != 1 {
		t.Errorf("where it is allowed: %v, %d requests", err, len(r.got))
	}
}

// nameserver answers every question with an address.
func nameserver(t *testing.T, address func(n int64) [4]byte) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		var n int64
		question := make([]byte, 1500)
		for {
			size, from, err := server.ReadFrom(question)
			if err != nil {
				return
			}
			n++
			_, _ = server.WriteTo(dnsAnswer(question[:size], address(n)), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", server.LocalAddr().String())
	}}
}

// dnsAnswer repeats the one question and, if it asks for an IPv4 address, answers it.
func dnsAnswer(q []byte, ip [4]byte) []byte {
	end := 12
	for q[end] != 0 {
		end += int(q[end]) + 1
	}
	end += 5
	out := append([]byte{}, q[:end]...)
	binary.BigEndian.PutUint16(out[2:], 0x8180) // an answer, recursion was possible
	binary.BigEndian.PutUint16(out[4:], 1)
	binary.BigEndian.PutUint16(out[8:], 0)
	binary.BigEndian.PutUint16(out[10:], 0)
	kind := binary.BigEndian.Uint16(q[end-4:])
	if kind != 1 {
		binary.BigEndian.PutUint16(out[6:], 0)
		return out
	}
	binary.BigEndian.PutUint16(out[6:], 1)
	out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
	return append(out, ip[:]...)
}

// TestSlowAndLarge: a receiver that does not answer, or does not stop, costs no more than the time and the bytes that it may.
func TestSlowAndLarge(t *testing.T) {
	o := local
	o.Timeout = 200 * time.Millisecond
	hold := make(chan struct{})
	slow := receive(t, func(http.ResponseWriter, *http.Request) { <-hold })
	t.Cleanup(func() { close(hold) })
	h := &house{target: engine.Target{URL: slow.URL, Secrets: []string{secretOne}}}
	s := sender(o, h)
	if err := s.Send(t.Context(), "acme", letter); holdshort.CodeOf(err) != holdshort.TimedOut {
		t.Errorf("a silent receiver: %v", err)
	}
	if s.Timeout() <= o.Timeout {
		t.Error("the engine would give up before the client")
	}
	const bound = 256 << 20 // far above what the buffers of a connection hold
	var written atomic.Int64
	endless := receive(t, func(w http.ResponseWriter, q *http.Request) {
		w.WriteHeader(500)
		for block := make([]byte, 64<<10); q.Context().Err() == nil && written.Load() < bound; {
			n, err := w.Write(block)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	o.Timeout = safetyLimit
	h.target.URL = endless.URL
	if err := sender(o, h).Send(t.Context(), "acme", letter); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("a receiver without an end: %v", err)
	}
	if n := written.Load(); n >= bound {
		t.Errorf("a receiver without an end was read for %d bytes", n)
	}
	large := letter
	large.Body = []byte(`"` + strings.Repeat("a", mostBody) + `"`)
	if err := sender(o, h).Send(t.Context(), "acme", large); holdshort.CodeOf(err) != holdshort.TooLarge {
		t.Errorf("a large body: %v", err)
	}
}

// TestNowhere: what has no target any more is final; a store that is away is not.
func TestNowhere(t *testing.T) {
	for code, final := range map[holdshort.Code]bool{holdshort.NotFound: true, holdshort.WrongState: true, holdshort.StoreUnavailable: false} {
		s := sender(local, &house{err: code})
		err := s.Send(t.Context(), "acme", letter)
		if _, more := engine.NextAttempt(s, err, time.Now()); holdshort.CodeOf(err) != code || more == final {
			t.Errorf("%s: %v, tried again %v", code, err, more)
		}
	}
	if err := New(local).Send(t.Context(), "acme", letter); err == nil {
		t.Error("sent without an engine")
	}
	closed := httptest.NewServer(status(200))
	closed.Close()
	s := sender(local, &house{target: engine.Target{URL: closed.URL, Secrets: []string{secretOne}}})
	err := s.Send(t.Context(), "acme", letter)
	if _, more := engine.NextAttempt(s, err, time.Now()); err == nil || !more {
		t.Errorf("a closed port: %v, tried again %v", err, more)
	}
}
