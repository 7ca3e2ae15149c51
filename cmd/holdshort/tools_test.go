package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What servers offer is listed with its pins, and pinned by whoever looked at it; a check changes nothing.
func TestTools(t *testing.T) {
	t.Chdir(t.TempDir())
	library := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, nil)
	offer := func(name, description string) {
		library.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
	offer("lend", "Lends a book.")
	offer("burn", "Burns a book.")
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return library }, nil))
	defer server.Close()
	text := `
models: {m: {provider: openai, model: small}}
agents: {reader: {model: m, tools: [library/lend, shell]}, clerk: {model: m, tools: [library]}}
tools: {library: {mcp: {url: "` + server.URL + `"}}, shell: {command: {}}, "books.close": {builtin: true}}
`
	if err := os.WriteFile("holdshort.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	do := func(want int, args string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &console{stdout: &stdout, stderr: &stderr}, &grammar{}); code != want {
			t.Fatalf("%s: exit %d, %s%s", args, code, stdout.String(), stderr.String())
		}
		return stdout.String()
	}
	has := func(text string, lines ...string) {
		t.Helper()
		for _, want := range lines {
			found := false
			for line := range strings.Lines(text) {
				found = found || strings.Join(strings.Fields(line), " ") == want
			}
			if !found {
				t.Errorf("there is no %q in\n%s", want, text)
			}
		}
	}
	has(do(exitOK, "tools list"), "NAME KIND EFFECT PIN AGENTS", "books.close builtin write - -", "library/burn mcp write unpinned clerk", "library/lend mcp write unpinned clerk reader", "shell command write, asks - reader")
	has(do(exitRefused, "tools pin --check"), "library/burn is unpinned", "Burns a book.", `"type": "object"`, "library/lend is unpinned")
	if _, err := os.Stat("holdshort.tools.lock"); err == nil {
		t.Error("a check wrote the file")
	}
	has(do(exitOK, "tools pin library/lend"), "library/lend is unpinned")
	has(do(exitOK, "tools list"), "library/burn mcp write unpinned clerk", "library/lend mcp write pinned clerk reader")
	do(exitOK, "tools pin")
	has(do(exitOK, "tools pin --check"), "everything is pinned as it is")
	offer("lend", "Lends a book, and another.")
	library.RemoveTools("burn")
	has(do(exitRefused, "tools pin --check library"), "library/lend is changed", "Lends a book, and another.", "library/burn is gone")
	var listed struct {
		Items []toolLine `json:"items"`
	}
	if err := json.Unmarshal([]byte(do(exitOK, "tools list --json")), &listed); err != nil || len(listed.Items) != 4 {
		t.Errorf("%+v, %v", listed, err)
	}
	do(exitOK, "tools pin")
	has(do(exitOK, "tools pin --check"), "everything is pinned as it is")
	do(exitFailed, "tools pin nobody")
}
