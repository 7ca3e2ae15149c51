package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdshort/holdshort/tool"
)

// TestMain lets the test binary be the server: a real child that speaks over its standard input and output.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TEST_MCP_SERVER"); dir != "" {
		if err := serve(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serve(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "pid"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	note(dir, "starts")
	if _, err := os.Stat(filepath.Join(dir, "broken")); err == nil {
		return errors.New("it does not start")
	}
	if _, err := os.Stat(filepath.Join(dir, "noise")); err == nil {
		fmt.Println("this is no message")
	}
	return newServer(dir).Run(context.Background(), &mcp.StdioTransport{})
}

// note appends a word to a file of the folder: what really happened.
func note(dir, file string) {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.WriteString("x"); err != nil {
		panic(err)
	}
}

func count(t *testing.T, dir, file string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return len(raw)
}

type asked struct {
	Text string `json:"text,omitempty"`
	Do   string `json:"do,omitempty"`
}

// newServer makes the test's server of tools. The file "description" in its folder changes a definition.
func newServer(dir string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	yes, no := true, false
	about := "pays money back"
	if raw, err := os.ReadFile(filepath.Join(dir, "description")); err == nil {
		about = string(raw)
	}
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"do":{"type":"string"}}}`)
	refund := func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return behave(ctx, s, dir, r)
	}
	s.AddTool(&mcp.Tool{Name: "refund", Description: about, InputSchema: schema, Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes}}, refund)
	s.AddTool(&mcp.Tool{Name: "look", Description: "looks", InputSchema: schema, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, refund)
	s.AddTool(&mcp.Tool{Name: "put", InputSchema: schema, Annotations: &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: &no}}, refund)
	s.AddTool(&mcp.Tool{Name: "plain", InputSchema: schema}, refund)
	s.AddTool(&mcp.Tool{Name: "torn", InputSchema: schema, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes}}, refund)
	return s
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func behave(ctx context.Context, s *mcp.Server, dir string, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	note(dir, "calls")
	var in asked
	if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
		return nil, err
	}
	switch in.Do {
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "hang":
		note(dir, "hangs")
		<-ctx.Done()
		return nil, ctx.Err()
	case "deaf":
		note(dir, "hangs")
		select {}
	case "huge":
		return text(strings.Repeat("a", 10<<20)), nil
	case "large":
		return text(strings.Repeat("a", 1<<20)), nil
	case "error":
		out := text("'text' must be one of: a, b")
		out.IsError = true
		return out, nil
	case "refuse":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "'text' must be one of: a, b"}
	case "break":
		return nil, errors.New("something broke")
	case "leak":
		out := text("no access with " + in.Text)
		out.IsError = true
		return out, nil
	case "leak by error":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no access with " + in.Text}
	case "structured":
		return &mcp.CallToolResult{StructuredContent: map[string]any{"id": 7}, Content: []mcp.Content{&mcp.TextContent{Text: `{"id":7}`}}}, nil
	case "parts":
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a"}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG\x00")}, &mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("1234")},
			&mcp.ResourceLink{URI: "file:///a", Name: "a"}, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b", Text: "b"}}, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///c", Blob: []byte{0, 1}}}}}, nil
	case "nothing":
		return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
	case "key":
		return text(fmt.Sprint(r.Params.Meta[OperationKey])), nil
	case "environment":
		return text(strings.Join(os.Environ(), "\n")), nil
	case "change":
		s.AddTool(&mcp.Tool{Name: "refund", Description: in.Text, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return behave(ctx, s, dir, r)
		})
		return text("changed"), nil
	case "drop":
		s.RemoveTools("refund")
		return text("dropped"), nil
	}
	return text("echo: " + in.Text), nil
}

// safetyLimit ends a wait for another process that never answers. No test passes or fails by how long it takes.
const safetyLimit = 5 * time.Minute

// endAtOnce keeps a child with the race detector from sleeping for a second before it exits.
const endAtOnce = "atexit_sleep_ms=0"

// child is the configuration of a server in a child process.
func child(t *testing.T, dir string) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TEST_MCP_SERVER": dir, "GORACE": endAtOnce}
	return Config{Name: "shop", Command: []string{self}, Env: env, Timeout: safetyLimit, Logger: slog.New(slog.DiscardHandler)}
}

func connect(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func toolsOf(t *testing.T, s *Server) map[string]tool.Tool {
	t.Helper()
	list, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]tool.Tool{}
	for _, one := range list {
		named[strings.TrimPrefix(one.Name, s.config.Name+"/")] = one
	}
	return named
}

func callWith(t *testing.T, made tool.Tool, args string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), safetyLimit)
	defer cancel()
	result, err := made.Call(ctx, tool.Call{OperationID: "tr:run_1/do", Args: json.RawMessage(args)})
	return string(result.Value), err
}

// eventually waits for something that another process or goroutine does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(safetyLimit)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never happens that %s", what)
		}
	}
}

func pidOf(t *testing.T, dir string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// freeze stops a process. The signal only asks for that: a thread that is at work on another core goes on for a moment, and could still
// answer.
func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "every thread is stopped", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(threads) == 0 {
			t.Fatalf("no threads of process %d: %v", pid, err)
		}
		return !slices.ContainsFunc(threads, func(stat string) bool {
			raw, err := os.ReadFile(stat)
			return err == nil && !strings.Contains(string(raw), ") T ")
		})
	})
}
