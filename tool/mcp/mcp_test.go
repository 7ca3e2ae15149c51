package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

func TestConnectRefuses(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		field  string
	}{
		{"no name", Config{Command: []string{"x"}}, "name"},
		{"a name with a slash", Config{Name: "a/b", Command: []string{"x"}}, "name"},
		{"neither", Config{Name: "a"}, "command"},
		{"both", Config{Name: "a", Command: []string{"x"}, URL: "https://a.example"}, "command"},
		{"an empty program", Config{Name: "a", Command: []string{""}}, "command"},
		{"headers of a program", Config{Name: "a", Command: []string{"x"}, Headers: map[string]string{"A": "b"}}, "headers"},
		{"the environment of an address", Config{Name: "a", URL: "https://a.example", Env: map[string]string{"A": "b"}}, "env"},
		{"an address that is none", Config{Name: "a", URL: "file:///x"}, "url"},
		{"an address with credentials", Config{Name: "a", URL: "https://user:pass@a.example"}, "url"},
		{"a header that is cut in two", Config{Name: "a", URL: "https://a.example", Headers: map[string]string{"A": "b\r\nC: d"}}, "headers"},
		{"a variable that is none", Config{Name: "a", Command: []string{"x"}, Env: map[string]string{"A=": "b"}}, "env"},
		{"too large an answer", Config{Name: "a", Command: []string{"x"}, MaxAnswer: 1 << 30}, "max_answer"},
		{"negative time", Config{Name: "a", Command: []string{"x"}, Timeout: -1}, "timeout"},
		{"an unknown effect", Config{Name: "a", Command: []string{"x"}, Effect: "reed"}, "effect"},
		{"a program that is not there", Config{Name: "a", Command: []string{"no-such-program-here"}}, ""},
		{"a program that says nothing", Config{Name: "a", Command: []string{"true"}}, ""},
		{"a program that says something else", Config{Name: "a", Command: []string{"sh", "-c", "while read line; do echo hello; done"}}, ""},
		{"a program that hangs", Config{Name: "a", Command: []string{"sh", "-c", "exec sleep 1000"}, Timeout: 300 * time.Millisecond}, ""},
	}
	for _, tt := range tests {
		s, err := Connect(t.Context(), tt.config)
		var e *holdshort.Error
		if !errors.As(err, &e) || e.Code != holdshort.Invalid || e.Field != tt.field || e.Hint == "" {
			t.Errorf("%s: %v", tt.name, err)
		}
		if s != nil {
			t.Errorf("%s: there is a server", tt.name)
		}
	}
}

// What the annotations say counts only as far as the server is trusted.
func TestDeclarations(t *testing.T) {
	type declared struct {
		effect     tool.Effect
		reversible tool.Reversible
		idempotent bool
		hints      tool.Hints
	}
	for _, trusted := range []bool{false, true} {
		c := child(t, t.TempDir())
		c.Trusted = trusted
		got := toolsOf(t, connect(t, c))
		want := map[string]declared{
			"refund": {hints: tool.Hints{Destructive: true}},
			"look":   {hints: tool.Hints{ReadOnly: true}},
			"put":    {},
			"plain":  {},
			"torn":   {hints: tool.Hints{Destructive: true}},
		}
		if trusted {
			want["look"] = declared{effect: tool.Read, hints: want["look"].hints}
			want["put"] = declared{reversible: tool.External, idempotent: true}
		}
		if len(got) != len(want) {
			t.Errorf("there are %d tools", len(got))
		}
		for name, w := range want {
			w.hints.Server, w.hints.Trusted = "shop", trusted
			g := got[name]
			if g.Name != "shop/"+name || g.Hints == nil || (declared{g.Effect, g.Reversible, g.Idempotent, *g.Hints}) != w {
				t.Errorf("trusted %v: %s is %+v, %+v; want %+v", trusted, name, g, g.Hints, w)
			}
			prepared, err := g.Prepare()
			if err != nil {
				t.Error(err)
			}
			if prepared.Validate(json.RawMessage(`{"text":1}`)) == nil {
				t.Errorf("%s takes a text that is a number", name)
			}
			if !g.Changed() {
				t.Errorf("%s has no pin, and is not changed", name)
			}
		}
	}
}

// The configuration has the last word about what a tool does: then an error of one that it calls a write proves nothing.
func TestDeclaredEffect(t *testing.T) {
	c := child(t, t.TempDir())
	c.Trusted, c.Effect = true, tool.Write
	made := toolsOf(t, connect(t, c))["look"]
	if _, err := callWith(t, made, `{"do":"error"}`); made.Effect != tool.Write || err == nil || made.IsDefinite(err) {
		t.Errorf("effect %s gives %v", made.Effect, err)
	}
}

func TestResults(t *testing.T) {
	t.Setenv("SECRET_KEY", "s3cret")
	t.Setenv("LISTED", "yes")
	dir := t.TempDir()
	c := child(t, dir)
	c.Pass = []string{"LISTED"}
	made := toolsOf(t, connect(t, c))["refund"]
	tests := []struct{ args, want string }{
		{`{"text":"<b>"}`, `"echo: <b>"`},
		{``, `"echo: "`},
		{`{"do":"structured"}`, `{"id":7}`},
		{`{"do":"nothing"}`, `null`},
		{`{"do":"key"}`, `"tr:run_1/do"`},
		{`{"do":"parts"}`, `[{"type":"text","text":"a"},{"type":"image","media_type":"image/png","binary":true,"bytes":5},{"type":"audio","media_type":"audio/wav","binary":true,"bytes":4},{"type":"link","uri":"file:///a","name":"a"},` +
			`{"type":"resource","text":"b","uri":"file:///b"},{"type":"resource","uri":"file:///c","binary":true,"bytes":2}]`},
		{`{"do":"environment"}`, `"GORACE=[secret]\nLISTED=yes\nPATH=` + os.Getenv("PATH") + `\nTEST_MCP_SERVER=` + dir + `"`},
	}
	for _, tt := range tests {
		if got, err := callWith(t, made, tt.args); err != nil || got != tt.want {
			t.Errorf("%s gives %s, %v", tt.args, got, err)
		}
	}
	got, err := callWith(t, made, `{"do":"huge"}`)
	var cut struct {
		Truncated bool
		Bytes     int
		Text      string
	}
	if json.Unmarshal([]byte(got), &cut) != nil || err != nil || !cut.Truncated || cut.Bytes != 10<<20 || len(cut.Text) != 256<<10 {
		t.Errorf("a huge result gives %d bytes, %v", len(got), err)
	}
}

// What the configuration holds that is secret does not come back.
func TestSecrets(t *testing.T) {
	c := child(t, t.TempDir())
	c.Env["API_KEY"] = "own-s3cret"
	made := toolsOf(t, connect(t, c))["refund"]
	if got, err := callWith(t, made, `{"do":"environment"}`); err != nil || strings.Contains(got, "s3cret") || !strings.Contains(got, "API_KEY=[secret]") {
		t.Errorf("gives %s, %v", got, err)
	}
	for _, do := range []string{"leak", "leak by error"} {
		if _, err := callWith(t, made, `{"do":"`+do+`","text":"own-s3cret"}`); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s gives %v", do, err)
		}
	}
}

// Errors: which prove that nothing was done.
func TestErrors(t *testing.T) {
	for _, definite := range []bool{false, true} {
		c := child(t, t.TempDir())
		c.Trusted, c.Definite = true, definite
		tools := toolsOf(t, connect(t, c))
		tests := []struct {
			tool, do string
			proof    bool
			fault    bool
		}{
			{"refund", "error", definite, definite},
			{"look", "error", true, true},
			{"refund", "refuse", true, true},
			{"refund", "break", false, false},
		}
		for _, tt := range tests {
			made := tools[tt.tool]
			_, err := callWith(t, made, `{"do":"`+tt.do+`","text":"c"}`)
			var f *tool.Fault
			if err == nil || made.IsDefinite(err) != tt.proof || errors.As(err, &f) != tt.fault {
				t.Errorf("%s %s: %v", tt.tool, tt.do, err)
			}
			if f != nil && (f.Class != tool.Validation || f.Field != "text" || len(f.Allowed) != 2 || string(f.Value) != `"c"`) {
				t.Errorf("%s %s: %+v", tt.tool, tt.do, f)
			}
		}
	}
}

// The server is killed in the middle of a call: nobody knows what became of it. The next call finds it up again.
func TestDeathDuringACall(t *testing.T) {
	dir := t.TempDir()
	s := connect(t, child(t, dir))
	made := toolsOf(t, s)["refund"]
	first := pidOf(t, dir)
	for range 2 {
		if _, err := callWith(t, made, `{"do":"die"}`); err == nil || made.IsDefinite(err) {
			t.Errorf("gives %v", err)
		}
		if got, err := callWith(t, made, `{"text":"again"}`); err != nil || got != `"echo: again"` {
			t.Errorf("the next call gives %s, %v", got, err)
		}
	}
	if pidOf(t, dir) == first || count(t, dir, "starts") != 3 || count(t, dir, "calls") != 4 {
		t.Errorf("it started %d times, for %d calls", count(t, dir, "starts"), count(t, dir, "calls"))
	}
}

// The server is killed between calls: nothing was sent to it, or the new one answers.
func TestDeathBetweenCalls(t *testing.T) {
	dir := t.TempDir()
	s := connect(t, child(t, dir))
	made := toolsOf(t, s)["refund"]
	if err := syscall.Kill(pidOf(t, dir), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	<-l.gone
	if got, err := callWith(t, made, `{"text":"x"}`); err != nil || got != `"echo: x"` {
		t.Errorf("gives %s, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := callWith(t, made, `{"do":"die"}`); err == nil {
		t.Fatal("it lives")
	}
	calls := count(t, dir, "calls")
	for range 2 {
		if _, err := callWith(t, made, `{}`); err == nil || !made.IsDefinite(err) {
			t.Errorf("a server that does not start gives %v", err)
		}
	}
	if count(t, dir, "calls") != calls {
		t.Error("it was called")
	}
	if err := os.Remove(filepath.Join(dir, "broken")); err != nil {
		t.Fatal(err)
	}
	if got, err := callWith(t, made, `{"text":"y"}`); err != nil || got != `"echo: y"` {
		t.Errorf("once it starts again: %s, %v", got, err)
	}
}

// A call that hangs ends at its deadline, and does not stop the others.
func TestHang(t *testing.T) {
	for _, do := range []string{"hang", "deaf"} {
		dir := t.TempDir()
		made := toolsOf(t, connect(t, child(t, dir)))["refund"]
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := made.Call(ctx, tool.Call{Args: json.RawMessage(`{"do":"` + do + `"}`)})
			ended <- err
		}()
		eventually(t, "it hangs", func() bool { return count(t, dir, "hangs") == 1 })
		if got, err := callWith(t, made, `{"text":"x"}`); err != nil || got != `"echo: x"` {
			t.Errorf("%s: meanwhile %s, %v", do, got, err)
		}
		cancel(context.DeadlineExceeded)
		if err := <-ended; err == nil || made.IsDefinite(err) {
			t.Errorf("%s: gives %v", do, err)
		}
		if got, err := callWith(t, made, `{"text":"y"}`); err != nil || got != `"echo: y"` {
			t.Errorf("%s: afterwards %s, %v", do, got, err)
		}
	}
}

// A message without end ends the connection, not this process's memory.
func TestEnormousMessage(t *testing.T) {
	dir := t.TempDir()
	c := child(t, dir)
	c.maxMessage = 100 << 10
	made := toolsOf(t, connect(t, c))["refund"]
	if _, err := callWith(t, made, `{"do":"large"}`); err == nil || made.IsDefinite(err) {
		t.Errorf("gives %v", err)
	}
	if got, err := callWith(t, made, `{"text":"x"}`); err != nil || got != `"echo: x"` {
		t.Errorf("afterwards %s, %v", got, err)
	}
}

// A server that is stuck, and may not even read what it gets, cannot hold a call beyond its deadline, and is started again.
func TestStuckServer(t *testing.T) {
	for _, size := range []int{1, 1 << 20} {
		dir := t.TempDir()
		s := connect(t, child(t, dir))
		s.patience = 100 * time.Millisecond
		made := toolsOf(t, s)["refund"]
		freeze(t, pidOf(t, dir))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		began := time.Now()
		_, err := made.Call(ctx, tool.Call{Args: json.RawMessage(`{"text":"` + strings.Repeat("x", size) + `"}`)})
		cancel()
		if err == nil || time.Since(began) > safetyLimit {
			t.Errorf("%d bytes: gives %v after %v", size, err, time.Since(began))
		}
		eventually(t, "it is started again", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			got, err := made.Call(ctx, tool.Call{Args: json.RawMessage(`{"text":"x"}`)})
			return err == nil && string(got.Value) == `"echo: x"` && count(t, dir, "starts") == 2
		})
	}
}

// Closing ends the program and everything that it started.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	c := child(t, dir)
	c.Command = []string{"sh", "-c", `sleep 1000 & echo $! > "$TEST_MCP_SERVER/sleeper"; "$0"`, c.Command[0]}
	s := connect(t, c)
	made := toolsOf(t, s)["refund"]
	raw, err := os.ReadFile(filepath.Join(dir, "sleeper"))
	if err != nil {
		t.Fatal(err)
	}
	sleeper := strings.TrimSpace(string(raw))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	eventually(t, "what it started is gone", func() bool {
		state, err := os.ReadFile("/proc/" + sleeper + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	})
	if _, err := callWith(t, made, `{}`); err == nil || !made.IsDefinite(err) {
		t.Errorf("a call afterwards gives %v", err)
	}
	if _, err := s.Tools(t.Context()); err == nil {
		t.Error("there are tools afterwards")
	}
}
