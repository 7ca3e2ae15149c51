package web

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

// Redirects are followed by reads on the same host, and by nobody else.
func TestRedirects(t *testing.T) {
	other := newFar(t, answers(200, "text/plain", "other"))
	tests := []struct {
		name, to string
		method   string
		effect   tool.Effect
		follow   bool
	}{
		{"a read, same host", "/done", "GET", tool.Read, true},
		{"a read, HEAD", "/done", "HEAD", tool.Read, true},
		{"a read, by POST", "/done", "POST", tool.Read, false},
		{"a write, same host", "/done", "GET", tool.Write, false},
		{"a write, by POST", "/done", "POST", tool.Write, false},
		{"a read, another host", other.URL + "/done", "GET", tool.Read, false},
		{"a read, another scheme", "ftp://a.example/", "GET", tool.Read, false},
		{"a read, with credentials", "http://user:pass@SELF/done", "GET", tool.Read, false},
		{"a read, round and round", "/start", "GET", tool.Read, false},
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, tt := range tests {
			var f *far
			f = newFar(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/start") {
					w.Header().Set("Location", strings.ReplaceAll(tt.to, "SELF", r.Host))
					w.WriteHeader(status)
				}
			})
			made := newTool(t, Config{Method: tt.method, URL: f.URL + "/start", Effect: tt.effect, Headers: map[string]string{"Authorization": "Bearer s3cret"}})
			_, err := callWith(t, made, `{}`)
			took := f.took()
			done := len(took) > 0 && took[len(took)-1].uri == "/done"
			if done != tt.follow || (err == nil) != tt.follow || len(took) > 6 {
				t.Errorf("%d, %s: %v, %d requests", status, tt.name, err, len(took))
			}
			if tt.effect == tool.Write && made.IsDefinite(err) {
				t.Errorf("%d, %s: %v proves nothing", status, tt.name, err)
			}
		}
	}
	if took := other.took(); len(took) != 0 {
		t.Errorf("the other host got %+v", took)
	}
}

// resolver answers every name with one address after the other, as one does that rebinds.
func resolver(t *testing.T, addresses ...string) *net.Resolver {
	t.Helper()
	var n atomic.Int64
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			size, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			query := buffer[:size]
			end := 12
			for end < size && query[end] != 0 {
				end += int(query[end]) + 1
			}
			end += 5 // the zero, type and class
			if end > size {
				continue
			}
			answer := append([]byte{}, query[:end]...)
			answer[2], answer[3] = 0x81, 0x80
			answer[6], answer[7], answer[8], answer[9], answer[10], answer[11] = 0, 0, 0, 0, 0, 0
			if query[end-3] == 1 { // type A
				ip := net.ParseIP(addresses[int(n.Add(1)-1)%len(addresses)]).To4()
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				answer = append(answer, ip...)
			}
			_, _ = server.WriteTo(answer, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// A host that an argument has a part in leads nowhere inside, whatever its name means.
func TestTemplatedHostsArePublic(t *testing.T) {
	f := newFar(t, answers(200, "text/plain", "inside"))
	_, port, err := net.SplitHostPort(strings.TrimPrefix(f.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, url, args string
		outgoing        []string
		reaches         bool
	}{
		{"a label", "http://{r}.example.com:" + port + "/", `{"r":"a"}`, nil, false},
		{"a host", "http://{h}:" + port + "/", `{"h":"evil.example"}`, nil, false},
		{"a number", "http://{h}:" + port + "/", `{"h":"2130706433"}`, nil, false},
		{"a host that is an address", "http://{h}:" + port + "/", `{"h":"127.0.0.1"}`, nil, false},
		{"an address", "{u}", `{"u":"http://evil.example:` + port + `/"}`, nil, false},
		{"an address in other clothes", "{u}", `{"u":"http://[::ffff:127.0.0.1]:` + port + `/"}`, nil, false},
		{"a network that is allowed", "http://{r}.example.com:" + port + "/", `{"r":"a"}`, []string{"127.0.0.0/8"}, true},
		{"a network and a host that are allowed", "http://{r}.example.com:" + port + "/", `{"r":"a"}`, []string{"127.0.0.0/8", "*.example.com"}, true},
		{"a network that is allowed, and another host", "{u}", `{"u":"http://evil.example:` + port + `/"}`, []string{"127.0.0.0/8", "*.example.com"}, false},
		{"only a host that is allowed", "http://{r}.example.com:" + port + "/", `{"r":"a"}`, []string{"a.example.com"}, false},
		{"a host that is written out", "http://inside.example:" + port + "/{r}", `{"r":"a"}`, nil, true},
	}
	for _, tt := range tests {
		made := newTool(t, Config{URL: tt.url, Outgoing: tt.outgoing, Resolver: resolver(t, "127.0.0.1")})
		_, err := callWith(t, made, tt.args)
		if took := f.took(); (err == nil) != tt.reaches || (len(took) == 1) != tt.reaches {
			t.Errorf("%s: %v, %d requests", tt.name, err, len(took))
		}
		if !tt.reaches && (!errors.Is(err, holdshort.Forbidden) && tt.name != "a number" || !made.IsDefinite(err)) {
			t.Errorf("%s: %v is no refusal", tt.name, err)
		}
	}
}

// A name that is public when it is looked at and private when it is dialed does not exist: there is one look-up, and the dialed address counts.
func TestRebinding(t *testing.T) {
	f := newFar(t, answers(200, "text/plain", "inside"))
	_, port, err := net.SplitHostPort(strings.TrimPrefix(f.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	made := newTool(t, Config{Method: "GET", Effect: tool.Read, URL: "http://{h}:" + port + "/", Resolver: resolver(t, "127.0.0.1", "169.254.169.254", "10.0.0.1")})
	for range 6 {
		if _, err := callWith(t, made, `{"h":"rebind.example"}`); !errors.Is(err, holdshort.Forbidden) {
			t.Errorf("gives %v", err)
		}
	}
	if took := f.took(); len(took) != 0 {
		t.Errorf("inside got %+v", took)
	}
}

// Proxies of the environment are not used: they would look names up behind the guard's back.
func TestNoProxy(t *testing.T) {
	proxy := newFar(t, answers(200, "text/plain", "proxied"))
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	made := newTool(t, Config{URL: "http://{h}/", Resolver: resolver(t, "127.0.0.1")})
	if _, err := callWith(t, made, `{"h":"a.example"}`); err == nil {
		t.Error("it is called")
	}
	if took := proxy.took(); len(took) != 0 {
		t.Errorf("the proxy got %+v", took)
	}
}

func TestReconcile(t *testing.T) {
	f := newFar(t, nil)
	part := func(c Reconcile) Reconcile { c.Part = "state"; return c }
	words := func(c Reconcile) Reconcile {
		c.Part, c.Happened, c.NotHappened = "state", []string{"paid", "true"}, []string{"new"}
		return c
	}
	tests := []struct {
		name   string
		change func(Reconcile) Reconcile
		status int
		body   string
		want   tool.State
		fails  bool
	}{
		{"it is there", nil, 200, `{"id":"re_1"}`, tool.Happened, false},
		{"it is not there", nil, 404, ``, tool.NotHappened, false},
		{"it is gone", nil, 410, ``, tool.NotHappened, false},
		{"nobody knows", nil, 500, ``, tool.Unclear, true},
		{"one may not ask", nil, 403, ``, tool.Unclear, true},
		{"a redirect", nil, 302, ``, tool.Unclear, true},
		{"a part that is there", part, 200, `{"state":"x","id":"re_1"}`, tool.Happened, false},
		{"a part that is empty", part, 200, `{"state":[]}`, tool.NotHappened, false},
		{"a part that is null", part, 200, `{"state":null}`, tool.NotHappened, false},
		{"a part that is false", part, 200, `{"state":false}`, tool.NotHappened, false},
		{"a part that is 0", part, 200, `{"state":0}`, tool.NotHappened, false},
		{"a part that is an empty object", part, 200, `{"state":{}}`, tool.NotHappened, false},
		{"a part that is missing", part, 200, `{}`, tool.NotHappened, false},
		{"a part of what was not found", part, 404, `{}`, tool.NotHappened, false},
		{"a word for yes", words, 200, `{"state":"paid","id":"re_1"}`, tool.Happened, false},
		{"another word for yes", words, 200, `{"state":true,"id":"re_1"}`, tool.Happened, false},
		{"a word for no", words, 200, `{"state":"new"}`, tool.NotHappened, false},
		{"another word", words, 200, `{"state":"pending"}`, tool.Unclear, false},
		{"no word", words, 200, `{}`, tool.Unclear, false},
		{"no object", words, 200, `hello`, tool.Unclear, false},
		{"too much", part, 200, `{"state":"` + strings.Repeat("x", 5000) + `"}`, tool.Unclear, true},
	}
	for _, tt := range tests {
		f.then = answers(tt.status, "application/json", tt.body)
		c := Reconcile{URL: f.URL + "/refunds/{order}", Query: map[string]string{"key": "{@operation_id}"}, Headers: map[string]string{"X-Key": "k"}}
		if tt.change != nil {
			c = tt.change(c)
		}
		made := newTool(t, Config{URL: "https://a.example/refunds", Reconcile: &c, MaxAnswer: 4096, Response: "id", ExternalIDs: map[string]string{"refund": "id"}})
		got, err := made.Reconcile(t.Context(), tool.Call{OperationID: "op_1", Args: json.RawMessage(`{"order":"77"}`)})
		if got.State != tt.want || (err != nil) != tt.fails {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
		if got.State == tool.Happened && (string(got.Result.Value) != `"re_1"` || got.Result.ExternalIDs["refund"][0] != "re_1") {
			t.Errorf("%s: the result is %s", tt.name, got.Result.Value)
		}
		if other, err := made.Reconcile(t.Context(), tool.Call{OperationID: "op_1", Args: json.RawMessage(`{"order":"7/7"}`)}); err == nil || other.State != tool.Unclear {
			t.Errorf("%s: an argument that does not fit gives %v, %v", tt.name, other, err)
		}
		if took := f.took(); len(took) != 1 || took[0].method != "GET" || took[0].uri != "/refunds/77?key=op_1" || took[0].header.Get("X-Key") != "k" {
			t.Errorf("%s: arrives as %+v", tt.name, took)
		}
	}
}
