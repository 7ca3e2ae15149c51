package sdkcheck

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/model"
)

// reading is what somebody makes of an answer.
type reading struct {
	Text     string
	Calls    []call
	Stop     model.Stop
	Usage    model.Usage
	Thinking []string
}

type call struct {
	ID, Name, Args string // Args without spaces where they are JSON
}

var offered = []model.Tool{
	{Name: "orders.refund", Description: "Pays money back.", Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"},"amount":{"type":"number"}},"required":["order","amount"]}`)},
	{Name: "orders.cancel", Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string","enum":["A-7","B-9"]}},"additionalProperties":false}`)},
	{Name: "orders.find"}, {Name: "orders.list"},
}

// serve answers with a file.
func serve(t *testing.T, kind, file string) string {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		if _, err := w.Write(body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func files(t *testing.T, pattern string) map[string]string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]string{}
	for _, file := range all {
		if !strings.HasSuffix(file, ".want.json") {
			name := filepath.Base(file)
			byName[strings.TrimSuffix(name, filepath.Ext(name))] = file
		}
	}
	if len(byName) == 0 {
		t.Fatalf("no fixtures at %s", pattern)
	}
	return byName
}

// ours is what our provider makes of an answer.
func ours(t *testing.T, m model.Model, stream bool) (reading, error) {
	t.Helper()
	var say func(string)
	if stream {
		say = func(string) {}
	}
	r, err := m.Generate(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Text: "Hello"}}, Tools: offered}, say)
	if err != nil {
		return reading{}, err
	}
	aliases := model.AliasesOf(offered)
	out := reading{Text: r.Text, Stop: r.Stop, Usage: r.Usage}
	for _, c := range r.Calls {
		args := string(c.Args)
		if len(c.Args) == 0 {
			args = c.Malformed
		}
		out.Calls = append(out.Calls, call{c.ID, aliases.Alias(c.Tool), compact(args)})
	}
	var echoes []struct {
		Thinking struct{ Thinking, Signature, Data string }
	}
	if len(r.Echo) > 0 {
		if err := json.Unmarshal(r.Echo, &echoes); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range echoes {
		if text := e.Thinking.Thinking + "|" + e.Thinking.Signature + "|" + e.Thinking.Data; text != "||" {
			out.Thinking = append(out.Thinking, text)
		}
	}
	return out, nil
}

func compact(args string) string {
	if strings.TrimSpace(args) == "" {
		return "{}"
	}
	var out bytes.Buffer
	if json.Compact(&out, []byte(args)) != nil {
		return args
	}
	return out.String()
}

// compare wants both to find the same, or both to find no answer. differs lists by name where they part, and why: an entry that is not needed any
// more is an error too.
func compare(t *testing.T, name string, differs map[string]string, mine reading, mineErr error, theirs reading, theirsErr error) {
	t.Helper()
	same := (mineErr == nil) == (theirsErr == nil) && (mineErr != nil || reflect.DeepEqual(mine, theirs))
	if why, listed := differs[name]; listed == same {
		t.Errorf("same %v, listed as different: %q\nours   %+v, %v\ntheirs %+v, %v", same, why, mine, mineErr, theirs, theirsErr)
	}
}

// sent gives the body that a model puts on the wire.
func sent(t *testing.T, make func(url string) (model.Model, error), req model.Request, say func(string)) []byte {
	t.Helper()
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	m, err := make(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), req, say); err == nil {
		t.Error("an answer from a teapot")
	}
	return body
}

// fits decodes a body into params and encodes that again: what comes out must be what went in, besides stream, which their clients add later.
func fits(t *testing.T, body []byte, params any) {
	t.Helper()
	if err := json.Unmarshal(body, params); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	again, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	var before, after map[string]any
	if err := json.Unmarshal(body, &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(again, &after); err != nil {
		t.Fatal(err)
	}
	delete(before, "stream")
	before, _ = normal(before).(map[string]any)
	if !reflect.DeepEqual(before, after) {
		t.Errorf("sent   %s\nread as %s", body, again)
	}
}

// normal writes what both protocols let one write in two ways as their types do: null as nothing, and the text of a system prompt or of a tool's result
// in the messages protocol as a list of one block.
func normal(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for name, inner := range v {
			text, isText := inner.(string)
			switch {
			case inner == nil:
				delete(v, name)
			case isText && (name == "system" || name == "content" && v["type"] == "tool_result"):
				v[name] = []any{map[string]any{"type": "text", "text": text}}
			default:
				v[name] = normal(inner)
			}
		}
	}
	return value
}

// requests are what agents send.
func requests() map[string]model.Request {
	warm := 0.2
	return map[string]model.Request{
		"a question":  {Messages: []model.Message{{Role: model.User, Text: "Hello"}}},
		"system":      {System: "Be kind. <&>", Messages: []model.Message{{Role: model.User, Text: "Hello"}}, MaxTokens: 300, Temperature: &warm},
		"tools":       {Messages: []model.Message{{Role: model.User, Text: "Hello"}}, Tools: offered},
		"a structure": {Messages: []model.Message{{Role: model.User, Text: "Hello"}}, Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)},
		"a batch": {Tools: offered, Messages: []model.Message{
			{Role: model.User, Text: "Refund A-7 and list"},
			{Role: model.Assistant, Text: "Both.", Calls: []model.Call{{ID: "call_1", Tool: "orders.refund", Args: json.RawMessage(`{"order":"A-7","amount":120}`)}, {ID: "call_2", Tool: "orders.list", Malformed: "nope"}}},
			{Role: model.ToolRole, CallID: "call_1", Tool: "orders.refund", Text: "refunded", Untrusted: true},
			{Role: model.ToolRole, CallID: "call_2", Tool: "orders.list", Text: "that was no JSON", Failed: true},
			{Role: model.Assistant, Text: "Done."},
			{Role: model.User, Text: "Thanks"},
		}},
		"reasoning": {Tools: offered, Messages: []model.Message{
			{Role: model.User, Text: "List"},
			{Role: model.Assistant, Calls: []model.Call{{ID: "call_1", Tool: "orders.list", Args: json.RawMessage(`{}`)}},
				Echo: json.RawMessage(`[{"thinking":{"type":"thinking","thinking":"Hm.","signature":"EqoB"}},{"thinking":{"type":"redacted_thinking","data":"EmwK"}},{"call":"call_1"}]`)},
			{Role: model.ToolRole, CallID: "call_1", Tool: "orders.list", Text: "[]"},
		}},
	}
}
