package wiretest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort/model"
)

func (p Provider) statuses(t *testing.T) {
	const plain = `{"error":{"type":"some_error","message":"words"}}`
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		kind   model.Kind
		after  time.Duration
		says   string
	}{
		"limit":                  {429, nil, plain, model.RateLimited, 0, "some_error"},
		"limit with seconds":     {429, map[string]string{"Retry-After": "12"}, plain, model.RateLimited, 12 * time.Second, ""},
		"limit with a fraction":  {429, map[string]string{"Retry-After": "0.5"}, plain, model.RateLimited, 500 * time.Millisecond, ""},
		"limit with thousandths": {429, map[string]string{"Retry-After": "3", "Retry-After-Ms": "2500"}, plain, model.RateLimited, 2500 * time.Millisecond, ""},
		"limit with a date":      {429, map[string]string{"Date": "Mon, 02 Mar 2026 10:00:00 GMT", "Retry-After": "Mon, 02 Mar 2026 10:00:20 GMT"}, plain, model.RateLimited, 20 * time.Second, ""},
		"limit with a past date": {429, map[string]string{"Retry-After": "Mon, 02 Mar 2020 10:00:20 GMT"}, plain, model.RateLimited, 0, ""},
		"limit with nonsense":    {429, map[string]string{"Retry-After": "soon"}, plain, model.RateLimited, 0, ""},
		"limit below zero":       {429, map[string]string{"Retry-After": "-4"}, plain, model.RateLimited, 0, ""},
		"limit without end":      {429, map[string]string{"Retry-After": "1e300"}, plain, model.RateLimited, 0, ""},
		"limit of money":         {429, map[string]string{"Retry-After": "1"}, `{"error":{"type":"insufficient_quota","code":"credit_balance_exhausted"}}`, model.Rejected, time.Second, "credit_balance_exhausted"},
		"limit of the month":     {429, nil, `{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}`, model.Rejected, 0, "enforced_spend_limit_reached"},
		"trouble":                {500, nil, plain, model.Overloaded, 0, "some_error"},
		"bad gateway":            {502, nil, "<html>", model.Overloaded, 0, "status 502"},
		"unavailable":            {503, map[string]string{"Retry-After": "1"}, "", model.Overloaded, time.Second, ""},
		"overloaded":             {529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, model.Overloaded, 0, "overloaded_error"},
		"slow":                   {408, nil, "", model.Timeout, 0, ""},
		"slow behind it":         {504, nil, "", model.Timeout, 0, ""},
		"bad request":            {400, nil, `{"error":{"type":"invalid_request_error","param":"messages[0].content","code":null}}`, model.Rejected, 0, "messages[0].content"},
		"key":                    {401, nil, `{"error":{"code":"invalid_api_key","message":"Incorrect API key provided"}}`, model.Rejected, 0, "api_key"},
		"money":                  {402, nil, "", model.Rejected, 0, "spend"},
		"forbidden":              {403, nil, "[]", model.Rejected, 0, ""},
		"no such model":          {404, nil, `{"error":{"code":"model_not_found"}}`, model.Rejected, 0, "base_url"},
		"too long":               {413, nil, `{"error":"a text"}`, model.Rejected, 0, ""},
		"unprocessable":          {422, nil, `{"detail":[]}`, model.Rejected, 0, ""},
		"numbers for names":      {400, nil, `{"error":{"code":17,"type":["x"],"param":{}}}`, model.Rejected, 0, ""},
		"a novel":                {400, nil, strings.Repeat("x", 3<<20), model.Rejected, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			url := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
				document(w)
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.status)
				Send(w, []byte(c.body), 1<<20)
			})
			_, err := p.model(t, Setup{BaseURL: url}).Generate(t.Context(), asked(), nil)
			e := kind(t, err, c.kind)
			if e.Status != c.status || e.After != c.after || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, status %d, after %v; want %d, %v, %q", err, e.Status, e.After, c.status, c.after, c.says)
			}
		})
	}
}

// secrets has the provider send back all that it got, in every place that could reach an error.
func (p Provider) secrets(t *testing.T) {
	everything := func(r *http.Request) string {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(body), Prompt) {
			t.Error("the prompt did not come")
		}
		words := fmt.Sprint(string(body), r.Header, r.URL)
		if !strings.Contains(words, Key) || !strings.Contains(words, Header) {
			t.Error("the key or the header did not come")
		}
		return words
	}
	quoted := func(words string) string { return strings.Trim(strconv.Quote(words), `"`) }
	for name, handler := range map[string]http.HandlerFunc{
		"in the message": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":{"message":%s,"type":%s,"code":%s}}`, strconv.Quote(everything(r)), strconv.Quote(Prompt), strconv.Quote(Key))
		},
		"as the body": func(w http.ResponseWriter, r *http.Request) {
			words := everything(r)
			w.WriteHeader(500)
			fmt.Fprint(w, words)
		},
		"as an answer": func(w http.ResponseWriter, r *http.Request) {
			words := everything(r)
			document(w)
			fmt.Fprint(w, "{"+words)
		},
		"in headers": func(w http.ResponseWriter, r *http.Request) {
			words := strings.NewReplacer("\r", "", "\n", "").Replace(everything(r))
			w.Header().Set("Location", "http://["+words)
			w.Header().Set("Content-Type", words)
			w.WriteHeader(307)
		},
		"in the middle": func(w http.ResponseWriter, r *http.Request) {
			words := everything(r)
			stream(w)
			fmt.Fprint(w, p.Half+p.Fault(quoted(words)))
		},
		"as an event": func(w http.ResponseWriter, r *http.Request) {
			words := strings.ReplaceAll(everything(r), "\n", " ")
			stream(w)
			fmt.Fprint(w, "event: "+words+"\ndata: "+words+"\n\n")
		},
		"as no HTTP": func(w http.ResponseWriter, r *http.Request) {
			words := everything(r)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			fmt.Fprint(conn, words, "\r\n\r\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := p.model(t, Setup{BaseURL: Serve(t, handler)})
			_, err := m.Generate(t.Context(), asked(), func(string) {})
			if err == nil {
				t.Fatal("no error")
			}
			hidden(t, err)
			hidden(t, m)
		})
	}
	t.Run("in the address", func(t *testing.T) {
		m := p.model(t, Setup{BaseURL: closedAddress(t) + "/x?key=" + Key})
		_, err := m.Generate(t.Context(), asked(), nil)
		kind(t, err, model.Unreachable)
		hidden(t, err)
	})
	t.Run("in the configuration", func(t *testing.T) {
		for _, url := range []string{"http://ana:" + Key + "@127.0.0.1", "://" + Key, "ftp://" + Key, ""} {
			if _, err := p.New(Setup{BaseURL: url, Timeout: -1}); err == nil {
				t.Errorf("%q is taken", url)
			} else {
				hidden(t, err)
			}
		}
	})
}

func hidden(t *testing.T, value any) {
	t.Helper()
	texts := []string{fmt.Sprintf("%v", value), fmt.Sprintf("%+v", value), fmt.Sprintf("%#v", value), fmt.Sprintf("%s", value)}
	if err, ok := value.(error); ok {
		for ; err != nil; err = errors.Unwrap(err) {
			texts = append(texts, err.Error(), fmt.Sprintf("%#v", err))
		}
	}
	for _, text := range texts {
		for _, secret := range []string{Key, Header, Prompt, "nobody else may read"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q shows in %q", secret, text)
			}
		}
	}
}

// closedAddress is one where nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return "http://" + listener.Addr().String()
}

// death: connections that are refused, or break at some point.
func (p Provider) death(t *testing.T) {
	modes(t, func(t *testing.T, say func(string)) {
		_, err := p.model(t, Setup{BaseURL: closedAddress(t)}).Generate(t.Context(), asked(), say)
		if kind(t, err, model.Unreachable); !model.Retryable(err) {
			t.Error("not retryable")
		}
	})
	whole := p.Whole("hello")
	for name, c := range map[string]struct {
		head, body string
		kind       model.Kind
	}{
		"before anything":           {"", "", model.Unreachable},
		"within the head":           {"HTTP/1.1 200 OK\r\nContent-Ty", "", model.Unreachable},
		"within a document":         {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n", whole[:len(whole)/2], model.Truncated},
		"a document that is short":  {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(whole)/2) + "\r\n\r\n", whole[:len(whole)/2], model.Truncated},
		"within a chunk":            {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", "fff\r\n" + p.Half, model.Truncated},
		"between chunks":            {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", strconv.FormatInt(int64(len(p.Half)), 16) + "\r\n" + p.Half + "\r\n", model.Truncated},
		"half a call, end":          {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", p.Half, model.Truncated},
		"within the text of a fail": {"HTTP/1.1 500 No\r\nContent-Length: 5000\r\n\r\n", "{", model.Overloaded},
	} {
		t.Run(name, func(t *testing.T) {
			url := Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Error(err)
				}
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				fmt.Fprint(conn, c.head, c.body)
			})
			_, err := p.model(t, Setup{BaseURL: url}).Generate(t.Context(), asked(), func(string) {})
			if kind(t, err, c.kind); !model.Retryable(err) {
				t.Errorf("%v is not retryable", err)
			}
		})
	}
}

// size: answers larger than anybody wants, in every shape.
func (p Provider) size(t *testing.T) {
	const large = 10 << 20
	text := strings.Repeat("0123456789abcdef", large/16)
	for name, c := range map[string]struct {
		kind string
		body string
		max  int64
	}{
		"a document":          {"application/json", p.Whole(text), 0},
		"one event":           {"text/event-stream", p.Stream(text), 0},
		"one call":            {"text/event-stream", p.Call(text), 0},
		"a line without end":  {"text/event-stream", "data: " + text, 0},
		"a name without end":  {"text/event-stream", "event: " + text, 0},
		"data without end":    {"text/event-stream", strings.Repeat("data: 0123456789abcdef0123456789abcdef\n", large/32), 0},
		"comments, no end":    {"text/event-stream", strings.Repeat(": "+text[:1<<16]+"\n\n", 20*16), 1 << 20},
		"an unfinished quote": {"application/json", `{"id":"` + text, 0},
	} {
		t.Run(name, func(t *testing.T) {
			url := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				Send(w, []byte(c.body), 1<<20)
			})
			_, err := p.model(t, Setup{BaseURL: url, MaxAnswer: c.max}).Generate(t.Context(), asked(), func(string) {})
			if kind(t, err, model.TooLarge); model.Retryable(err) {
				t.Error("retryable")
			}
			if len(err.Error()) > 300 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
	t.Run("exactly", func(t *testing.T) {
		const limit = 1 << 18
		for _, n := range []int{limit, limit + 1} {
			url := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
				stream(w)
				Send(w, []byte(p.Stream(text[:n])), 1<<16)
			})
			got, err := p.model(t, Setup{BaseURL: url, MaxAnswer: limit}).Generate(t.Context(), asked(), func(string) {})
			if n > limit {
				kind(t, err, model.TooLarge)
			} else if err != nil || got.Text != text[:n] {
				t.Errorf("%d bytes of %d, %v", len(got.Text), n, err)
			}
		}
	})
	// Arguments that are none are kept for the model to see, but not all of them.
	t.Run("arguments", func(t *testing.T) {
		url := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			stream(w)
			Send(w, []byte(p.Call(strings.Repeat("é", 1<<17))), 1<<20)
		})
		got, err := p.model(t, Setup{BaseURL: url}).Generate(t.Context(), asked(), func(string) {})
		if err != nil || len(got.Calls) != 1 || len(got.Calls[0].Malformed) > 5000 || len(got.Calls[0].Args) > 0 || !strings.HasPrefix(got.Calls[0].Malformed, "éé") {
			t.Errorf("%v, %d calls", err, len(got.Calls))
		}
	})
}

// redirect: the key and the conversation go nowhere else, whatever client is configured.
func (p Provider) redirect(t *testing.T) {
	other := Serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s came to another address", r.Method) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		url := Serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, status) })
		for _, client := range []*http.Client{nil, {}, httptest.NewUnstartedServer(nil).Client()} {
			_, err := p.model(t, Setup{BaseURL: url, Client: client}).Generate(t.Context(), asked(), nil)
			if e := kind(t, err, model.Rejected); e != nil && !strings.Contains(e.Message, "base_url") {
				t.Errorf("%v does not say what to do", e)
			}
		}
	}
}

// form: an answer of another kind than was asked for.
func (p Provider) form(t *testing.T) {
	t.Run("a document for a stream", func(t *testing.T) {
		url := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			document(w)
			Send(w, []byte(p.Whole("hello")), 1<<20)
		})
		heard := ""
		got, err := p.model(t, Setup{BaseURL: url}).Generate(t.Context(), asked(), func(text string) { heard += text })
		if err != nil || got.Text != "hello" || heard != "hello" {
			t.Errorf("%q, heard %q, %v", got.Text, heard, err)
		}
	})
	t.Run("a stream for a document", func(t *testing.T) {
		url := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			stream(w)
			Send(w, []byte(p.Stream("hello")), 1<<20)
		})
		got, err := p.model(t, Setup{BaseURL: url}).Generate(t.Context(), asked(), nil)
		if err != nil || got.Text != "hello" {
			t.Errorf("%q, %v", got.Text, err)
		}
	})
	for name, body := range map[string]string{"a page": "<html>welcome</html>", "a word": `"hello"`, "a number": "7", "null": "null", "a list": "[]", "an object": "{}"} {
		t.Run(name, func(t *testing.T) {
			url := Serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
			modes(t, func(t *testing.T, say func(string)) {
				_, err := p.model(t, Setup{BaseURL: url}).Generate(t.Context(), asked(), say)
				kind(t, err, model.Malformed)
			})
		})
	}
}
