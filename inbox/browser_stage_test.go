package inbox_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdshort/holdshort/internal/browser"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browser.Stop()
	if binary.dir != "" {
		os.RemoveAll(binary.dir)
	}
	os.Exit(code)
}

// binary is the program, built once. It is built with the environment of the tests, so that the packages of go build ./... are not compiled
// a second time.
var binary struct {
	sync.Once
	dir, path string
	err       error
}

func program(t testing.TB) string {
	t.Helper()
	binary.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "holdshort-pages-"); binary.err != nil {
			return
		}
		binary.path = filepath.Join(binary.dir, "holdshort")
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary.path, "github.com/holdshort/holdshort/cmd/holdshort")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as released; the cache has its packages
		if said, err := build.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("build the program: %w\n%s", err, said)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.path
}

// stage is the demo as a process of its own: an agent, a small shop, and requests that wait.
type stage struct {
	testing.TB
	dir, addr string
	URL       string
	Link      string // logs Ana in, once
	Second    string // logs Ben in, once
	token     string // of Ana
	benToken  string
	process   *exec.Cmd
}

// open starts the demo on a port of its own.
func open(t testing.TB) *stage {
	t.Helper()
	browser.Start(t) // where there is no browser, the program need not be built
	s := &stage{TB: t, dir: t.TempDir(), addr: "127.0.0.1:0"}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *stage) start() {
	s.Helper()
	s.process = exec.Command(program(s), "demo", "--addr", s.addr, "--data", filepath.Join(s.dir, "data"))
	s.process.Env = append(os.Environ(), "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "NO_COLOR=1")
	out, err := s.process.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	var said, complaints bytes.Buffer
	s.process.Stderr = &complaints // written by another goroutine: read only once the process has ended
	if err := s.process.Start(); err != nil {
		s.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { s.process.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewScanner(out)
	s.Link = ""
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		fmt.Fprintln(&said, line)
		switch {
		case strings.HasPrefix(line, "The order desk is open at "):
			s.URL = strings.TrimPrefix(line, "The order desk is open at ")
			s.addr = strings.TrimPrefix(s.URL, "http://")
		case strings.HasPrefix(line, "log in, once: "):
			s.Link = strings.TrimPrefix(line, "log in, once: ")
		case strings.HasPrefix(line, "http://") && s.Link != "":
			s.Second = line
		case strings.HasPrefix(line, "HOLDSHORT_TOKEN="):
			s.benToken, _, _ = strings.Cut(strings.TrimPrefix(line, "HOLDSHORT_TOKEN="), " ")
		}
		if strings.HasPrefix(line, "Ctrl-C closes it") {
			break
		}
	}
	if s.Second == "" || s.benToken == "" {
		s.process.Process.Kill()
		s.process.Wait()
		s.Fatalf("the demo did not start:\n%s%s", said.String(), complaints.String())
	}
	go io.Copy(io.Discard, out)
	raw, err := os.ReadFile(filepath.Join(s.dir, "holdshort", "profile.json"))
	var profile struct{ Token string }
	if err != nil || json.Unmarshal(raw, &profile) != nil || profile.Token == "" {
		s.Fatalf("no profile: %v %s", err, raw)
	}
	s.token = profile.Token
}

// kill ends the process as a power cut does.
func (s *stage) kill() {
	if s.process == nil {
		return
	}
	s.process.Process.Signal(syscall.SIGKILL)
	s.process.Wait()
	s.process = nil
}

// restart starts another process over the same folder, at the same address.
func (s *stage) restart() { s.Helper(); s.start() }

// call asks the API as Ana, or with another key.
func (s *stage) call(token, method, path string, body, into any) int {
	s.Helper()
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		sent = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(s.Context(), method, s.URL+path, sent)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		s.Fatalf("%s %s: %v\n%s", method, path, err, raw)
	}
	return answer.StatusCode
}

// asked is a request as the API shows it.
type asked struct {
	ID, Kind, Question, Status, Outcome string
	RunID                               string `json:"run_id"`
	Decision                            *struct {
		Action  string
		Message string
		Actor   struct{ ID, Name string }
	}
	Votes []any
}

func (s *stage) request(id string) (r asked) {
	s.Helper()
	s.call(s.token, "GET", "/v1/requests/"+id, nil, &r)
	return r
}

// waiting finds the open request whose question contains a text.
func (s *stage) waiting(text string) asked {
	s.Helper()
	var page struct{ Items []asked }
	s.call(s.token, "GET", "/v1/requests?status=open&limit=200", nil, &page)
	for _, r := range page.Items {
		if strings.Contains(r.Question, text) {
			return r
		}
	}
	s.Fatalf("nothing asks %q", text)
	return asked{}
}

// enter opens a tab and logs in there.
func (s *stage) enter(link string, look browser.Look) *browser.Tab {
	s.Helper()
	tab := browser.Start(s).Tab(s.TB, look)
	tab.Open(link)
	tab.Click("form button")
	tab.Wait(`!location.pathname.startsWith("/login") && document.readyState === "complete"`)
	return tab
}
