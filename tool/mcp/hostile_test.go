package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort/tool"
)

// answersOf are what a well-behaved server says, as text, by method.
var answersOf = map[string]string{
	"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}`,
	"tools/list": `{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`,
	"tools/call": `{"content":[{"type":"text","text":"ok"}]}`,
}

// nasty are what no server should say.
var nasty = []string{`null`, `7`, `"text"`, `[]`, `[[]]`, `{}`, `{"tools":null}`, `{"tools":[null]}`, `{"tools":[{}]}`, `{"tools":[{"name":null}]}`, `{"tools":{"a":1}}`, `{"tools":[{"name":"x","inputSchema":null}]}`,
	`{"tools":[{"name":"x","inputSchema":7}]}`, `{"tools":[{"name":"x","inputSchema":{"type":["object",7]}}]}`, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"annotations":[]}]}`, `{"tools":[],"nextCursor":7}`,
	`{"content":null}`, `{"content":[null]}`, `{"content":[{}]}`, `{"content":[{"type":"nonsense"}]}`, `{"content":[{"type":"image","data":"not base64!"}]}`, `{"content":[{"type":"resource"}]}`, `{"content":{"type":"text"}}`,
	`{"content":[{"type":"text","text":7}]}`, `{"structuredContent":null}`, `{"structuredContent":"x","isError":"yes"}`, `{"content":[],"isError":true}`, `{"inputRequests":{"a":{"method":"elicitation/create"}},"resultType":"input_required"}`,
	`{"protocolVersion":"1"}`, `{"protocolVersion":7}`, `{"protocolVersion":"2025-06-18","capabilities":null,"serverInfo":null}`, strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000)}

// rude answers by hand: what for one method, and what is right for the others.
func rude(t *testing.T, method, what string) Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || len(m.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result, known := answersOf[m.Method]
		if m.Method == method {
			result, known = what, true
		}
		w.Header().Set("Content-Type", "application/json")
		if !known {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		go server.Close()
	})
	return Config{Name: "rude", URL: server.URL, Timeout: 5 * time.Second}
}

// Whatever a server says: an error or a result, never a panic, and a result is JSON.
func TestNastyAnswers(t *testing.T) {
	for _, what := range nasty {
		for _, method := range []string{"server/discover", "initialize", "tools/list", "tools/call"} {
			s, err := Connect(t.Context(), rude(t, method, what))
			if err != nil {
				if method == "tools/call" {
					t.Errorf("%.60s for %s: %v", what, method, err)
				}
				continue
			}
			tools, err := s.Tools(t.Context())
			if err != nil {
				t.Errorf("%.60s for %s: %v", what, method, err)
			}
			for _, made := range tools {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				result, err := made.Call(ctx, tool.Call{Args: json.RawMessage(`{}`)})
				cancel()
				if err == nil && !json.Valid(result.Value) {
					t.Errorf("%.60s for %s gives %q", what, method, result.Value)
				}
				if err != nil && method == "tools/call" && made.IsDefinite(err) {
					t.Errorf("%.60s: %v proves nothing", what, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A program that mixes other things into its output: requests of its own, answers to nobody, junk. It gets nothing for its requests, and the
// calls get their answers, or an error where the output is no longer the protocol.
func TestNastyLines(t *testing.T) {
	const script = `while read -r m; do
id=$(printf '%s' "$m" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
case $m in
*'"method":"notifications/'*) continue;;
*'"result":'*) echo "$m" >> "$1/given"; continue;;
*'"error":'*) continue;;
esac
cat "$1/line"
case $m in
*'"initialize"'*) name=initialize;;
*'"tools/list"'*) name=list;;
*'"tools/call"'*) name=call;;
*) name=error;;
esac
sed "s/ID/$id/" "$1/$name"
done`
	lines := map[string]bool{ // whether the server can still be used
		`{"jsonrpc":"2.0","id":999,"result":{}}`:                                                               true,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`:                                        true,
		`{"jsonrpc":"2.0","method":"notifications/nonsense"}`:                                                  true,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"\u001b[31m"}}`:     true,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":[]}`:                                      true,
		`{"jsonrpc":"2.0","method":"notifications/cancel` + `led","params":{"requestId":1}}`:                   true,
		`{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`: true,
		`{"jsonrpc":"2.0","id":"s3","method":"elicitation/create","params":{"message":"your password?"}}`:      true,
		`{"jsonrpc":"2.0","id":"s4","method":"tools/call"}`:                                                    true,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`:                                         false,
		`{"jsonrpc":"1.0"}`:                    false,
		`{}`:                                   false,
		`[{}]`:                                 false,
		`7`:                                    false,
		`null`:                                 false,
		`junk`:                                 false,
		`{"jsonrpc":"2.0","id":{},"result":1}`: false,
		strings.Repeat(`[`, 20000) + strings.Repeat(`]`, 20000): false,
	}
	for line, usable := range lines {
		dir := t.TempDir()
		for name, text := range map[string]string{"line": line, "error": `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}`,
			"initialize": `{"jsonrpc":"2.0","id":ID,"result":` + answersOf["initialize"] + `}`, "list": `{"jsonrpc":"2.0","id":ID,"result":` + answersOf["tools/list"] + `}`,
			"call": `{"jsonrpc":"2.0","id":ID,"result":` + answersOf["tools/call"] + `}`} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := func() string {
			s, err := Connect(t.Context(), Config{Name: "rude", Command: []string{"sh", "-c", script, "sh", dir}, Timeout: 5 * time.Second})
			if err != nil {
				return ""
			}
			defer s.Close()
			tools, err := s.Tools(t.Context())
			if err != nil || len(tools) != 1 {
				return ""
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			result, err := tools[0].Call(ctx, tool.Call{Args: json.RawMessage(`{}`)})
			if err != nil {
				return ""
			}
			return string(result.Value)
		}()
		if got != "" && got != `"ok"` || usable && got == "" {
			t.Errorf("%.80s: gives %q", line, got)
		}
		if given, err := os.ReadFile(filepath.Join(dir, "given")); err == nil {
			t.Errorf("%.80s: the server was given %s", line, given)
		}
	}
}

// Many calls at once, and deaths among them: each has one outcome of its own.
func TestManyCalls(t *testing.T) {
	dir := t.TempDir()
	made := toolsOf(t, connect(t, child(t, dir)))["refund"]
	var wg sync.WaitGroup
	var mu sync.Mutex
	wrong := []string{}
	for i := range 40 {
		wg.Go(func() {
			args, want := fmt.Sprintf(`{"text":"%d"}`, i), fmt.Sprintf(`"echo: %d"`, i)
			if i == 20 {
				args = `{"do":"die"}`
			}
			got, err := callWith(t, made, args)
			if err == nil && got != want {
				mu.Lock()
				wrong = append(wrong, got+" for "+want)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(wrong) > 0 {
		t.Errorf("calls get others' answers: %v", wrong)
	}
	if got, err := callWith(t, made, `{"text":"x"}`); err != nil || got != `"echo: x"` {
		t.Errorf("afterwards %s, %v", got, err)
	}
}
