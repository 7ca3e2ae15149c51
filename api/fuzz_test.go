package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/status"
)

// FuzzDecode gives any bytes to every type that comes in over HTTP, as body and as query. What cannot be read is refused with a code that is
// the caller's to mend; what can be read is an object whose every field was known.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{}`, ``, `{"action":"approve","args":{"a":1}}`, `{"action":"approve","action":"reject"}`, `{"items":[{"id":"req_1","action":"x"}]}`, `{"lease":"5m"}`,
		`{"expires_in":-1}`, `{"expires_in":1e309}`, `{"messages":[{"at":"yesterday"}]}`, `{"a":{"b":{"c":[{}]}}}`, `[[[[`, "\xff", `{"\ud800":1}`, `{"text":"\u0000"}`, `null`, `{"approved":null}`,
		"wait=30s&limit=7", "limit=99999999999999999999", "wait=-1s&wait=1s", "include_system=maybe", "%zz=1", strings.Repeat("[", 5000)} {
		f.Add([]byte(seed))
	}
	s := &Server{options: Options{}.withDefaults()}
	var table []endpoint // one of each shape
	seen := map[reflect.Type]bool{}
	for _, e := range s.endpoints() {
		if !seen[e.in] || e.method != http.MethodGet && e.in == reflect.TypeFor[none]() {
			table, seen[e.in] = append(table, e), true
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := httptest.NewRecorder()
		for _, e := range table {
			for _, as := range []string{"body", "query"} {
				r := &http.Request{Method: e.method, URL: &url.URL{Path: "/"}, Header: http.Header{}, Body: http.NoBody}
				switch {
				case as == "query":
					r.URL.RawQuery = string(raw)
				case e.method == http.MethodGet:
					continue
				default:
					r.Body = io.NopCloser(bytes.NewReader(raw))
				}
				in := reflect.New(e.in)
				c := &call{Server: s, w: w, r: r, ctx: t.Context(), about: e.about}
				err := c.decode(in.Interface())
				if err != nil {
					var coded *holdshort.Error
					if status := status.Of(holdshort.CodeOf(err)); !errors.As(err, &coded) || status < 400 || status >= 500 || coded.Message == "" {
						t.Fatalf("%s %s: %v", e.method, e.path, err)
					}
					continue
				}
				if as == "body" && len(bytes.TrimSpace(raw)) > 0 && !json.Valid(raw) {
					t.Fatalf("%s %s takes %q", e.method, e.path, raw)
				}
			}
		}
	})
}

// FuzzVisible: nothing that a stranger writes is HTML on a page, and nothing in it is invisible.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"plain", "<b>", "a\u202eb", "\u200b", "p\u0430y", "\xff\xfe", "&amp;", "line\nbreak", "שלום", "e\u0301", "\U0001f469\u200d\U0001f680", "\u3164"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if raw, err := json.Marshal(text); err == nil { // written by its numbers it is the same text
			var one, two string
			if json.Unmarshal(raw, &one) != nil || json.Unmarshal([]byte(spelled(string(raw))), &two) != nil || one != two {
				t.Fatalf("%q becomes %q", one, two)
			}
		}
		shown := string(visible(text))
		rest := shown
		for { // what is left without our own marks
			before, after, found := strings.Cut(rest, `<span class="odd" title="`)
			if strings.ContainsAny(before, "<>\"'") {
				t.Fatalf("%q is shown as %q", text, shown)
			}
			if strings.ContainsFunc(before, odd) {
				t.Fatalf("%q hides something: %q", text, shown)
			}
			if !found {
				return
			}
			_, after, ok := strings.Cut(after, "</span>")
			if !ok {
				t.Fatalf("%q breaks the mark: %q", text, shown)
			}
			rest = after
		}
	})
}

// FuzzDecisionForm: whatever a form says, it is a decision only if it names one and what was seen.
func FuzzDecisionForm(f *testing.F) {
	for _, seed := range []string{"action=approve&fingerprint=f", "action=edit&fingerprint=f&args.0={}", "action=each&fingerprint=f&call.0=approve", "action=answer&fingerprint=f&field.n=1", "action=&fingerprint=", "%"} {
		f.Add(seed)
	}
	req := holdshort.Request{ExpectedInput: holdshort.Form, Schema: json.RawMessage(`{"properties":{"n":{"type":"number"},"s":{"enum":["a",1]}},"required":["n"]}`), Fingerprint: "f",
		Actions: []holdshort.Action{{CallID: "a", Tool: "t", NeedsApproval: true}, {CallID: "b", Tool: "t"}}, Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Reject, holdshort.Edit, holdshort.Answer}}
	f.Fuzz(func(t *testing.T, raw string) {
		form, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		in, err := decisionForm(form, req)
		if err != nil {
			if status := status.Of(holdshort.CodeOf(err)); status < 400 || status >= 500 {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if _, err := holdshort.ParseVerb(string(in.Action)); err != nil || in.Fingerprint == "" || len(in.Value) > 0 && !json.Valid(in.Value) || len(in.Args) > 0 && !json.Valid(in.Args) {
			t.Fatalf("%q is %+v", raw, in)
		}
	})
}
