// Package wiretest is what the tests of every provider share: answers kept in files, and one suite of bad networks and bad providers.
// It may import model; only tests import it.
package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/model"
)

// Want is what is made of an answer: a response, or a kind of error.
type Want struct {
	model.Response
	Error model.Kind `json:"error"`
}

// Fixture is an answer as it is on the wire. name.want.json says what is made of it.
type Fixture struct {
	Name string
	Body []byte
	Want Want
}

// Load reads the fixtures of a folder, by the ending of their names.
func Load(t testing.TB, folder, ending string) []Fixture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"+ending))
	if err != nil {
		t.Fatal(err)
	}
	var all []Fixture
	for _, file := range files {
		if strings.HasSuffix(file, ".want.json") {
			continue
		}
		f := Fixture{Name: strings.TrimSuffix(filepath.Base(file), ending)}
		if f.Body, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(file, ending) + ".want.json")
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(bytes.NewReader(want))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&f.Want); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		t.Fatalf("no fixtures in %s", folder)
	}
	return all
}

// Serve answers every request on loopback by handler.
func Serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// Send writes body in pieces of so many bytes, each as its own packet.
func Send(w http.ResponseWriter, body []byte, piece int) {
	for len(body) > 0 {
		n := min(piece, len(body))
		if _, err := w.Write(body[:n]); err != nil {
			return // the other side has seen enough
		}
		body = body[n:]
		if f, ok := w.(http.Flusher); ok && len(body) > 0 {
			f.Flush()
		}
	}
}

// Check compares what came out. An id call_* stands for any that was made up; no two may be the same.
func Check(t testing.TB, got model.Response, err error, want Want) {
	t.Helper()
	if want.Error != "" {
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != want.Error {
			t.Errorf("error %v, want %s", err, want.Error)
		}
		return
	}
	if err != nil {
		t.Errorf("error %v", err)
		return
	}
	if got.Text != want.Text || got.Stop != want.Stop || got.Usage != want.Usage || got.Model != want.Model {
		t.Errorf("got  %+v\nwant %+v", got, want.Response)
	}
	if !equalJSON(got.Echo, want.Echo) {
		t.Errorf("echo %s, want %s", got.Echo, want.Echo)
	}
	if len(got.Calls) != len(want.Calls) {
		t.Fatalf("calls %+v, want %+v", got.Calls, want.Calls)
	}
	seen := map[string]bool{}
	for i, g := range got.Calls {
		w := want.Calls[i]
		if w.ID == "call_*" && strings.HasPrefix(g.ID, "call_") {
			w.ID = g.ID
		}
		if g.ID != w.ID || g.Tool != w.Tool || g.Malformed != w.Malformed || !equalJSON(g.Args, w.Args) || seen[g.ID] {
			t.Errorf("call %d is %+v (%s), want %+v (%s)", i, g, g.Args, w, w.Args)
		}
		seen[g.ID] = true
	}
}

func equalJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	first, err := json.Marshal(x)
	if err != nil {
		return false
	}
	second, err := json.Marshal(y)
	return err == nil && bytes.Equal(first, second)
}
