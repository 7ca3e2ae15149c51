package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

// row is one endpoint as the server's own document describes it: what is not tried here is not served.
type row struct {
	method, path string
	open         bool
	body         map[string]any // its properties; nil: it takes none
	query        []string
	once         bool
}

func (r row) String() string { return r.method + " " + r.path }

// rows reads the document.
func (d *door) rows(t *testing.T) []row {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Security   *[]any `json:"security"`
			Parameters []struct {
				Name, In string
			} `json:"parameters"`
			RequestBody *struct {
				Content map[string]struct {
					Schema map[string]any `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(d.get(t, "/openapi.json", 200), &doc); err != nil {
		t.Fatal(err)
	}
	var out []row
	for path, methods := range doc.Paths {
		for method, op := range methods {
			r := row{method: strings.ToUpper(method), path: path, open: op.Security != nil}
			for _, p := range op.Parameters {
				if p.In == "query" {
					r.query = append(r.query, p.Name)
				}
				r.once = r.once || p.Name == "Idempotency-Key"
			}
			if op.RequestBody != nil {
				schema := op.RequestBody.Content["application/json"].Schema
				if ref, ok := schema["$ref"].(string); ok {
					schema = doc.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]]
				}
				r.body, _ = schema["properties"].(map[string]any)
				if r.body == nil {
					r.body = map[string]any{}
				}
			}
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b row) int { return strings.Compare(a.String(), b.String()) })
	if len(out) < 45 {
		t.Fatalf("only %d rows", len(out))
	}
	return out
}

// rightBodies are what each call takes: enough to come past the checks of its shape.
var rightBodies = map[string]string{
	"POST /v1/sessions":                             `{}`,
	"POST /v1/sessions/{id}/handback":               `{}`,
	"POST /v1/sessions/{id}/say":                    `{"text":"hi"}`,
	"POST /v1/sessions/{id}/messages":               `{"text":"hi"}`,
	"POST /v1/sessions/{id}/messages/batch":         `{"messages":[{"text":"hi"}]}`,
	"POST /v1/runs":                                 `{"flow":"refund","input":{"order":"1","amount":1}}`,
	"POST /v1/runs/{id}/cancel":                     `{}`,
	"POST /v1/requests":                             `{"kind":"clarification","question":"Which?"}`,
	"POST /v1/requests/{id}/decision":               `{"action":"approve"}`,
	"POST /v1/requests/{id}/reply":                  `{"text":"yes"}`,
	"POST /v1/requests/{id}/claim":                  `{}`,
	"POST /v1/requests/{id}/outcome":                `{"claim_token":"t","status":"done"}`,
	"POST /v1/requests/{id}/extend":                 `{"claim_token":"t"}`,
	"POST /v1/requests/{id}/cancel":                 `{}`,
	"POST /v1/requests/{id}/assign":                 `{"to":"ana"}`,
	"POST /v1/requests/{id}/comment":                `{"text":"hm"}`,
	"POST /v1/requests/decisions":                   `{"items":[{"id":"req_unknown","action":"approve"}]}`,
	"POST /v1/escalations/resolve":                  `{"escalation_id":"req_unknown","approved":true}`,
	"POST /v1/resume/{request_id}":                  `{"action":"approve"}`,
	"POST /tealagents/v1alpha1/resume/{request_id}": `{"action":"approve"}`,
	"POST /v1/keys":                                 `{"name":"k","roles":["reviewer"]}`,
	"POST /v1/webhooks":                             `{"url":"https://hooks.example.org/x"}`,
}

// things are ids of the tenant "default".
type things struct {
	session, run, request, key, webhook, delivery, message string
}

func (d *door) things(t *testing.T) things {
	t.Helper()
	id := d.chat(t)
	var taken shownTaken
	d.call(t, "ben", "POST", "/v1/sessions/"+string(id)+"/messages?wait=10s", map[string]any{"text": "hello"}).into(t, &taken)
	run, req := d.starts(t, "refund", refund{"1", 1})
	var made, hook, sent struct {
		ID string `json:"id"`
	}
	d.call(t, "admin", "POST", "/v1/keys", map[string]any{"name": "spare"}).into(t, &made)
	d.call(t, "admin", "POST", "/v1/webhooks", map[string]any{"url": "https://hooks.example.org/x"}).into(t, &hook)
	d.call(t, "admin", "POST", "/v1/webhooks/"+hook.ID+"/test", nil).into(t, &sent)
	all := things{string(id), string(run.ID), string(req), made.ID, hook.ID, sent.ID, string(taken.Message.ID)}
	if slices.Contains([]string{all.key, all.webhook, all.delivery}, "") {
		t.Fatalf("%+v", all)
	}
	return all
}

// unknown are ids like these that nobody has.
var unknown = things{"ses_unknown", "run_unknown", "req_unknown", "key_unknown", "whk_unknown", "dlv_unknown", "msg_unknown"}

// fill puts ids into a path.
func (r row) fill(ids things) string {
	id := map[string]string{"sessions": ids.session, "runs": ids.run, "requests": ids.request, "keys": ids.key, "webhooks": ids.webhook}
	parts := strings.Split(r.path, "/")
	for i, p := range parts {
		switch p {
		case "{id}":
			parts[i] = id[parts[i-1]]
		case "{request_id}", "{request}":
			parts[i] = ids.request
		case "{msg}":
			parts[i] = ids.message
		case "{delivery}":
			parts[i] = ids.delivery
		}
	}
	return strings.Join(parts, "/")
}

func (r row) named() bool { return strings.Contains(r.path, "{") }

// streams never end by themselves; they are refused like any other call before they begin.
func (r row) streams() bool { return strings.HasSuffix(r.path, "/events") }

// page: people open these in a browser, and get pages.
func (r row) isPage() bool { return strings.HasPrefix(r.path, "/r/") || r.path == "/docs" }

// refused checks that an answer is a refusal with a code, and none of ours.
func refused(t *testing.T, what string, a answer, statuses ...int) {
	t.Helper()
	var p struct {
		Status int    `json:"status"`
		Code   string `json:"code"`
		Title  string `json:"title"`
	}
	if err := json.Unmarshal(a.body, &p); err != nil || a.status < 400 || a.status >= 500 || p.Code == "" || p.Status != a.status || p.Title == "" ||
		a.header.Get("Content-Type") != "application/problem+json" || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %d %.300s", what, a.status, a.body)
		return
	}
	if len(statuses) > 0 && !slices.Contains(statuses, a.status) {
		t.Errorf("%s: %d %s %.300s, want %v", what, a.status, p.Code, a.body, statuses)
	}
}

// TestEveryEndpointRefuses tries each row of the table with what is wrong.
func TestEveryEndpointRefuses(t *testing.T) {
	d := newHouse(t)
	ids := d.things(t)
	for _, who := range []string{"ana", "ben", "eve", "stranger"} {
		d.as(t, who)
	}
	for _, r := range d.rows(t) {
		var right any
		if r.body != nil {
			text, ok := rightBodies[r.String()]
			if !ok {
				t.Errorf("%s: no body is known that it takes", r)
				continue
			}
			right = text
		}
		if r.isPage() {
			continue // people open them in a browser: the pages are tried where they are served
		}
		t.Run(r.String(), func(t *testing.T) {
			if !r.open {
				a := d.call(t, "", r.method, r.fill(ids), right)
				refused(t, "no credentials", a, 401)
				if a.header.Get("WWW-Authenticate") == "" {
					t.Error("no WWW-Authenticate")
				}
				for _, header := range []string{"Bearer hs_nonsense", "Bearer ", "Basic YTpi", "hs_x", "Bearer a.b.c", "Bearer \u202e"} {
					refused(t, header, d.call(t, "", r.method, r.fill(ids), right, "Authorization", header), 401)
				}
			}
			if r.path != "/metrics" {
				refused(t, "unknown query", d.call(t, "admin", r.method, r.fill(ids)+"?nonsense=1", right), 400)
			}
			if r.named() {
				missing := d.call(t, "admin", r.method, r.fill(unknown), right)
				refused(t, "unknown id", missing, 404)
				other := d.call(t, "stranger", r.method, r.fill(ids), right)
				refused(t, "wrong tenant", other, 404)
				if forget(string(other.body), ids) != forget(string(missing.body), unknown) {
					t.Errorf("another tenant's thing can be told from none: %s, %s", other.body, missing.body)
				}
				refused(t, "wrong role", d.call(t, "eve", r.method, r.fill(ids), right), 403, 404)
			}
			if r.method == "GET" {
				return
			}
			wrong := map[string]string{"malformed": `{"a":`, "not an object": `[1,2]`, "a word": `yes`, "unknown field": `{"nonsense":1}`, "two values": `{} {}`, "a number": `7`,
				"not UTF-8": "{\"\xff\xfe\":1}", "deep": strings.Repeat("[", 20000)}
			for what, text := range wrong {
				refused(t, what, d.call(t, "admin", r.method, r.fill(ids), text), 400)
			}
			refused(t, "oversized", d.call(t, "admin", r.method, r.fill(ids), `{"a":"`+strings.Repeat("a", 2<<20)+`"}`), 413)
			refused(t, "not JSON", d.call(t, "admin", r.method, r.fill(ids), `{"a":1}`, "Content-Type", "text/plain"), 400)
			for name, schema := range r.body {
				for what, value := range wrongValues(schema) {
					refused(t, name+" "+what, d.call(t, "admin", r.method, r.fill(ids), fmt.Sprintf(`{%q:%s}`, name, value)), 400, 422)
				}
				refused(t, name+" twice", d.call(t, "admin", r.method, r.fill(ids), fmt.Sprintf(`{%q:null,%q:null}`, name, name)), 400, 422)
			}
			if r.once {
				for _, key := range []string{strings.Repeat("k", 256), "\u00fc"} {
					refused(t, "key "+key[:1], d.call(t, "admin", r.method, r.fill(ids), right, "Idempotency-Key", key), 400)
				}
			}
		})
	}
}

// forget takes out what differs because the ids do.
func forget(body string, ids things) string {
	for _, id := range []string{ids.session, ids.run, ids.request, ids.key, ids.webhook, ids.delivery, ids.message} {
		body = strings.ReplaceAll(body, id, "…")
	}
	return body
}

// wrongValues of a property, by its schema.
func wrongValues(schema any) map[string]string {
	s, _ := schema.(map[string]any)
	switch s["type"] {
	case "string":
		return map[string]string{"as a number": "7", "as a list": "[]", "as an object": "{}"}
	case "boolean":
		return map[string]string{"as a word": `"yes"`, "as a number": "1"}
	case "array":
		return map[string]string{"as a word": `"a"`, "as an object": "{}", "of wrong items": `[[[1]]]`}
	case "integer", "number":
		return map[string]string{"as a word": `"a"`}
	}
	return nil
}

var hostile = map[string]string{
	"control":     "a\x01b\x1b[31mc\x7f",
	"null":        "a\x00b",
	"bidi":        "abc\u202egnp.exe",
	"zero width":  "ad\u200bmin\u2060\ufeff",
	"confusables": "\u0430dm\u0456n",
	"html":        `"><script>alert(1)</script><img src=x onerror=alert(1)>`,
	"sql":         `'; DROP TABLE requests; --`,
	"format":      "%s%n%x{{.}}${jndi:ldap://x}",
	"path":        "../../etc/passwd",
	"newline":     "a\r\nSet-Cookie: x=y",
	"lone":        "\xed\xa0\x80",
	"tags":        "x\U000e0041\U000e0042",
	"long":        strings.Repeat("a", 1<<20),
	"space":       " \t\u00a0\u3000 ",
}

// TestHostileStrings puts what people should not send wherever a text goes. Some of it is a text like any other; nothing breaks.
func TestHostileStrings(t *testing.T) {
	d := newHouse(t)
	ids := d.things(t)
	for _, r := range d.rows(t) {
		if r.streams() || r.isPage() {
			continue
		}
		t.Run(r.String(), func(t *testing.T) {
			check := func(what string, a answer) {
				t.Helper()
				if a.status >= 500 && a.status != http.StatusServiceUnavailable {
					t.Errorf("%s: %d %.200s", what, a.status, a.body)
				}
				if a.status >= 400 {
					refused(t, what, a)
				}
				if strings.Contains(a.header.Get("Set-Cookie"), "x=y") {
					t.Errorf("%s: it writes headers", what)
				}
			}
			for what, text := range hostile {
				quoted, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				if what == "lone" {
					quoted = []byte(`"\ud800"`)
				}
				for name, schema := range r.body {
					value := string(quoted)
					if s, _ := schema.(map[string]any); s["type"] == "array" {
						value = "[" + value + "]"
					}
					body := fmt.Sprintf(`{%q:%s}`, name, value)
					if right := rightBodies[r.String()]; len(right) > 2 && !strings.Contains(right, `"`+name+`"`) {
						body = right[:len(right)-1] + "," + body[1:]
					}
					check(what+" in "+name, d.call(t, "admin", r.method, r.fill(ids), body))
				}
				if len(text) > 1000 {
					continue // an address of that length is the HTTP server's to refuse
				}
				for _, name := range r.query {
					check(what+" in ?"+name, d.call(t, "admin", r.method, r.fill(ids)+"?"+name+"="+url.QueryEscape(text), rightBody(r)))
				}
				if r.named() {
					odd := url.PathEscape(text)
					refused(t, what+" as id", d.call(t, "admin", r.method, r.fill(things{odd, odd, odd, odd, odd, odd, odd}), rightBody(r)), 400, 404)
				}
				if r.once {
					check(what+" as key", d.keyed(t, r.method, r.fill(unknown), rightBody(r), text))
				}
			}
		})
	}
}

func rightBody(r row) any {
	if r.body == nil {
		return nil
	}
	return rightBodies[r.String()]
}

// keyed makes a call with a key that may not even be a header.
func (d *door) keyed(t *testing.T, method, path string, body any, key string) answer {
	t.Helper()
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return answer{status: 400, header: http.Header{"Content-Type": {"application/problem+json"}, "Cache-Control": {"no-store"}}, body: []byte(`{"code":"invalid","status":400,"title":"Bad Request"}`)} // no client sends it
	}
	return d.call(t, "admin", method, path, body, "Idempotency-Key", key)
}

// TestClosedAndExpired: what is over is said to be over, by every call that could change it.
func TestClosedAndExpired(t *testing.T) {
	d := newHouse(t)
	closed := func() holdshort.RequestID {
		_, id := d.starts(t, "refund", refund{"1", 1})
		if a := d.call(t, "ana", "POST", "/v1/requests/"+string(id)+"/decision", map[string]any{"action": "reject"}); a.status != 200 {
			t.Fatalf("%s", a.body)
		}
		return id
	}()
	expired := func() holdshort.RequestID {
		a := d.call(t, "gate", "POST", "/v1/requests", map[string]any{"kind": "approval", "question": "Soon?", "expires_in": "1s", "audience": map[string]any{"roles": []string{"reviewer"}}})
		var req shownRequest
		a.into(t, &req)
		d.call(t, "gate", "GET", "/v1/requests/"+string(req.ID)+"?wait=10s", nil).into(t, &req)
		if req.Status != holdshort.RequestExpired {
			t.Fatalf("%d %s: %+v", a.status, a.body, req)
		}
		return req.ID
	}()
	for _, c := range []struct {
		who, path, body   string
		closed, expiredAs int
	}{
		{"ana", "/decision", `{"action":"approve"}`, 409, 410},
		{"ana", "/decision", `{"action":"cancel"}`, 409, 410},
		{"ana", "/reply", `{"text":"yes"}`, 409, 410},
		{"olga", "/cancel", `{}`, 409, 410},
		{"olga", "/assign", `{"to":"ana"}`, 409, 410},
		{"gate", "/claim", `{}`, 404, 410},
	} {
		refused(t, c.path+" of a closed one", d.call(t, c.who, "POST", "/v1/requests/"+string(closed)+c.path, c.body), c.closed)
		refused(t, c.path+" of an expired one", d.call(t, c.who, "POST", "/v1/requests/"+string(expired)+c.path, c.body), c.expiredAs)
	}
	for _, path := range []string{"/v1/resume/", "/tealagents/v1alpha1/resume/"} {
		a := d.call(t, "ana", "POST", path+string(closed), `{"action":"approve"}`)
		refused(t, "resume of a closed one", a, 409)
		if !strings.Contains(string(a.body), `"actor":{"id":"ana"`) {
			t.Errorf("the standing decision is missing: %s", a.body)
		}
		refused(t, "resume of an expired one", d.call(t, "ana", "POST", path+string(expired), `{"action":"approve"}`), 410)
	}
	if d.refunds.Load() != 0 {
		t.Error("something ran")
	}
}
