package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/holdshort/holdshort/model"
)

// Canned is a client whose answer is always the same bytes, one read at a time. It is for fuzzing, where a connection for each try takes too long.
func Canned(kind string, body []byte, slow bool) *http.Client {
	return &http.Client{Transport: canned(func(r *http.Request) (*http.Response, error) {
		var from io.Reader = bytes.NewReader(body)
		if slow {
			from = iotest.OneByteReader(from)
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(from), Request: r}, nil
	})}
}

type canned func(*http.Request) (*http.Response, error)

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// FuzzStream looks at what a provider makes of any stream: a response that can be used, or an error of its own; the same however the bytes come.
func FuzzStream(f *testing.F, folder string, make func(*http.Client) (model.Model, error)) {
	for _, fixture := range Load(f, folder, ".sse") {
		f.Add(fixture.Body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		first, heard, err := once(t, body, false, make)
		second, _, again := once(t, body, true, make)
		if !bytes.HasPrefix(body, []byte{0xef}) && (!reflect.DeepEqual(first, second) || (err == nil) != (again == nil)) {
			t.Errorf("%+v, %v; byte by byte %+v, %v", first, err, second, again)
		}
		if err != nil {
			var known *model.Error
			if !errors.As(err, &known) || known.Kind == "" {
				t.Errorf("error %v", err)
			}
			return
		}
		if heard != first.Text || !utf8.ValidString(first.Text) {
			t.Errorf("heard %q of %q", heard, first.Text)
		}
		usable(t, first)
	})
}

func once(t *testing.T, body []byte, slow bool, make func(*http.Client) (model.Model, error)) (model.Response, string, error) {
	m, err := make(Canned("text/event-stream", body, slow))
	if err != nil {
		t.Fatal(err)
	}
	var heard strings.Builder
	r, err := m.Generate(t.Context(), model.Request{Tools: []model.Tool{{Name: "orders.refund"}}}, func(text string) { heard.WriteString(text) })
	return r, heard.String(), err
}

func usable(t *testing.T, r model.Response) {
	switch {
	case r.Stop == "":
		t.Error("it does not say why it stopped")
	case (r.Stop == model.StopCalls) != (len(r.Calls) > 0):
		t.Errorf("%s with %d calls", r.Stop, len(r.Calls))
	}
	if u := r.Usage; u.Input < 0 || u.Output < 0 || u.Cached < 0 || u.Cached > u.Input || u.Cost < 0 {
		t.Errorf("usage %+v", u)
	}
	seen := map[string]bool{}
	for _, c := range r.Calls {
		var object map[string]json.RawMessage
		if c.ID == "" || seen[c.ID] || c.Malformed == "" && json.Unmarshal(c.Args, &object) != nil || c.Malformed != "" && len(c.Args) > 0 || !utf8.ValidString(c.Malformed) {
			t.Errorf("call %+v", c)
		}
		seen[c.ID] = true
	}
	if len(r.Echo) > 0 && !json.Valid(r.Echo) {
		t.Errorf("echo %s", r.Echo)
	}
}
