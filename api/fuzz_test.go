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
