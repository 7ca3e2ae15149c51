package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

const agentFile = `
server: {addr: "127.0.0.1:0"}
stores: {main: {url: "sqlite:./holdshort.db"}}
models:
  desk:
    provider: script
    rules:
      - when: {user: "refund order (\\S+) for (\\d+)"}
        call: [{tool: orders.refund, args: {order: "$1", amount: $2}}]
      - when: {tool: orders.refund, result: "one"}
        call: [{tool: orders.refund, args: {order: "two", amount: 2}}]
      - when: {tool: orders.refund}
        say: "Done: {result}"
      - say: "I can look up, refund and cancel orders."
agents:
  refunds: {model: desk, session_store: main, tools: [orders.refund]}
tools:
  orders.refund: {http: {method: POST, url: "${SHOP}/refunds"}, schema: {type: object, properties: {order: {type: string}, amount: {type: number}}, required: [order, amount]}}
`

// server is holdshort serve in a process of its own.
type server struct {
	*exec.Cmd
	url string
	log bytes.Buffer
	mu  sync.Mutex
}

func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

func (s *server) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

const testAdminKey = "an-administrators-key-0123456789abcdef"

// serveIn starts a server in a folder and waits until it says where it is.
func serveIn(t *testing.T, dir, shop string, args ...string) *server {
	t.Helper()
	s := &server{Cmd: exec.CommandContext(t.Context(), "holdshort", append([]string{"serve"}, args...)...)}
	s.Dir = dir
	s.Env = append(os.Environ(), "HOLDSHORT_ADMIN_KEY="+testAdminKey, "SHOP="+shop, "XDG_CONFIG_HOME="+filepath.Join(dir, "home"), "HOME="+filepath.Join(dir, "home"))
	s.Stderr = s
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "holdshort serves "); ok {
			s.url, _, _ = strings.Cut(rest, " ")
			go io.Copy(io.Discard, out)
			return s
		}
	}
	s.kill()
	t.Fatalf("it did not come up: %s", s.said())
	return nil
}

// kill ends it as a machine that loses power would.
func (s *server) kill() {
	s.Process.Kill()
	s.Wait()
}

func (s *server) as(t *testing.T, token string) *client.Client {
	t.Helper()
	c, err := client.New(s.url, token, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// From a file to the money on a real server, which dies at each pause: what waits is there again, is what it was, and runs once.
func TestServeAgentThroughCrashes(t *testing.T) {
	var mu sync.Mutex
	var told []string
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		told = append(told, string(body))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	}))
	defer shop.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "holdshort.yaml"), []byte(agentFile), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveIn(t, dir, shop.URL)
	admin := s.as(t, testAdminKey)
	made, err := admin.CreateKey(t.Context(), client.NewKeyInput{Name: "ana", User: "ana", Roles: []string{"reviewer"}})
	if err != nil {
		t.Fatal(err)
	}
	session, err := admin.OpenSession(t.Context(), client.OpenSession{Agent: "refunds"})
	if err != nil {
		t.Fatal(err)
	}
	taken, err := admin.Send(t.Context(), session.ID, client.Send{Text: "please refund order one for 120", Wait: 30 * time.Second})
	if err != nil || taken.Request == nil {
		t.Fatalf("%+v, %v", taken, err)
	}
	before := *taken.Request
	for i, want := range []string{`{"amount":120,"order":"one"}`, `{"amount":2,"order":"two"}`} {
		s.kill()
		s = serveIn(t, dir, shop.URL)
		run, err := s.as(t, testAdminKey).Run(t.Context(), taken.Run.ID)
		if err != nil || run.Status != holdshort.RunWaiting || run.Request == nil || run.Request.ID != before.ID || run.Request.Fingerprint != before.Fingerprint || string(run.Request.Actions[0].Args) != want {
			t.Fatalf("pause %d: %+v %+v, %v", i, run.Run, run.Request, err)
		}
		mu.Lock()
		if len(told) != i {
			t.Errorf("pause %d: %q", i, told)
		}
		mu.Unlock()
		soonLogs(t, s, `"waiting_runs":1`)
		if _, err := s.as(t, made.Secret).Decide(t.Context(), before.ID, client.Choice{Action: holdshort.Approve, Fingerprint: before.Fingerprint}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), safetyLimit)
		defer cancel()
		next, err := s.as(t, testAdminKey).AwaitRun(ctx, taken.Run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if next.Request == nil || next.Request.ID == before.ID {
				t.Fatalf("%+v", next)
			}
			before = *next.Request
		} else if next.Status != holdshort.RunCompleted || !strings.Contains(string(next.Result), "Done: ") {
			t.Errorf("%s %s %+v", next.Status, next.Result, next.Error)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 2 {
		t.Errorf("%q", told)
	}
}

// soonLogs waits until the server's log has a text in it.
func soonLogs(t *testing.T, s *server, want string) {
	t.Helper()
	late := time.After(safetyLimit)
	for !strings.Contains(s.said(), want) {
		select {
		case <-late:
			t.Fatalf("the log does not say %s:\n%s", want, s.said())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A configuration that cannot run stops the start with its place, and leaves no store behind that was not there.
func TestServeRefusesWhatCannotRun(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(agentFile, `{user: "refund order (\\S+) for (\\d+)"}`, `{user: "refund (order"}`, 1)
	if err := os.WriteFile(filepath.Join(dir, "holdshort.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve"}, {"config", "check"}} {
		cmd := exec.CommandContext(t.Context(), "holdshort", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOLDSHORT_ADMIN_KEY="+testAdminKey, "SHOP=http://127.0.0.1:1", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(out), "holdshort.yaml:8:16: models.desk.rules[0].when.user: not a regular expression") || !strings.Contains(string(out), "hint: ") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// The doctor says which open requests the configuration of now would break: without its agent, with other arguments, or with a stricter rule.
func TestPendingOfAgents(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("SHOP", "http://127.0.0.1:1")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile("holdshort.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(agentFile)
	s := serveIn(t, dir, "http://127.0.0.1:1")
	session, err := s.as(t, testAdminKey).OpenSession(t.Context(), client.OpenSession{Agent: "refunds"})
	if err != nil {
		t.Fatal(err)
	}
	taken, err := s.as(t, testAdminKey).Send(t.Context(), session.ID, client.Send{Text: "refund order one for 120", Wait: 30 * time.Second})
	if err != nil || taken.Request == nil {
		t.Fatalf("%+v, %v", taken, err)
	}
	s.kill()
	for name, tt := range map[string]struct{ text, want string }{
		"as it was":      {agentFile, "1 open request, this build can carry on each"},
		"no such agent":  {strings.Replace(agentFile, "  refunds: {model: desk", "  payments: {model: desk", 1), "this build has no flow agent.refunds@1"},
		"other schema":   {strings.Replace(agentFile, "required: [order, amount]", "required: [order, amount, reason]", 1), "orders.refund takes other arguments now"},
		"stricter rule":  {agentFile + "policies: [{name: two, when: 'true', ask: {roles: [finance], quorum: 2}}]\n", "needs more people by the rule two now"},
		"denied by rule": {agentFile + "policies: [{name: never, when: 'true', deny: true}]\n", "is denied by the rule never now"},
		"does not build": {strings.Replace(agentFile, "refund order (", "refund order ((", 1), "what holdshort.yaml says cannot be had"},
	} {
		write(tt.text)
		var stdout, stderr bytes.Buffer
		run(t.Context(), []string{"doctor", "--pending", "--store", "sqlite:holdshort.db"}, &console{stdout: &stdout, stderr: &stderr}, &grammar{})
		if !strings.Contains(stdout.String(), tt.want) {
			t.Errorf("%s: there is no %q in\n%s%s", name, tt.want, stdout.String(), stderr.String())
		}
	}
}
