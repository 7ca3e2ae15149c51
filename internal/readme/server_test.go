package readme

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// binaries is the folder of the binary once somebody needed it.
var binaries string

// built is the binary, made once.
var built = sync.OnceValues(func() (dir string, err error) {
	dir, err = os.MkdirTemp("", "holdshort-readme-")
	if err != nil {
		return dir, err
	}
	binaries = dir
	cmd := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "holdshort"), "./cmd/holdshort")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0") // as released; the cache has its packages
	if said, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("build: %w\n%s", err, said)
	}
	if _, err := exec.LookPath("curl"); err == nil {
		return dir, nil
	}
	self, err := os.Executable() // a machine without curl has one that is good enough
	if err != nil {
		return dir, err
	}
	return dir, os.Symlink(self, filepath.Join(dir, "curl"))
})

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "curl" {
		os.Exit(curl(os.Args[1:]))
	}
	code := m.Run()
	if binaries != "" {
		os.RemoveAll(binaries)
	}
	os.Exit(code)
}

// curl is as much of curl as the README needs: -sS, -H, -d, -X, -o and an address.
func curl(args []string) int {
	method, address, body, file := "", "", "", ""
	header := http.Header{}
	for i := 0; i < len(args); i++ {
		value := func() string { i++; return args[i] }
		switch args[i] {
		case "-sS":
		case "-X":
			method = value()
		case "-H":
			name, text, _ := strings.Cut(value(), ":")
			header.Add(name, strings.TrimSpace(text))
		case "-d":
			body = value()
		case "-o":
			file = value()
		default:
			address = args[i]
		}
	}
	if method == "" {
		method = map[bool]string{true: "GET", false: "POST"}[body == ""]
	}
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		return 3
	}
	r.Header = header
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 7
	}
	defer answer.Body.Close()
	into := os.Stdout
	if file != "" {
		if into, err = os.Create(file); err != nil {
			return 23
		}
	}
	if _, err := io.Copy(into, answer.Body); err != nil {
		return 56
	}
	return 0
}

// server is a running holdshort with a home of its own.
type server struct {
	dir, url, link string
	env            []string
}

// start runs holdshort with these arguments until the test ends, and wants that an interrupt ends it in good order.
func start(t *testing.T, args ...string) server {
	t.Helper()
	return startIn(t, t.TempDir(), args...)
}

// startIn is start in a folder that has something in it.
func startIn(t *testing.T, dir string, args ...string) server {
	t.Helper()
	binaries, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := server{dir: dir}
	s.env = []string{"HOME=" + s.dir, "XDG_CONFIG_HOME=" + filepath.Join(s.dir, "config"), "PATH=" + binaries + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOLDSHORT_URL=", "HOLDSHORT_TOKEN=", "HOLDSHORT_ADMIN_KEY=", "HOLDSHORT_STORE=", "HOLDSHORT_KEYRING=", "NO_COLOR=1"}
	cmd := exec.Command(filepath.Join(binaries, "holdshort"), args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), s.env...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		go io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 130 {
			t.Errorf("%v ended with %v\n%s", args, err, complaints.String())
		}
	})
	lines := bufio.NewScanner(out)
	for s.link == "" || s.url == "" {
		if !lines.Scan() {
			t.Fatalf("%v ended before it was up:\n%s", args, complaints.String())
		}
		for _, word := range strings.Fields(lines.Text()) {
			switch {
			case strings.Contains(word, "/login?"):
				s.link = word
			case strings.HasPrefix(word, "http://"):
				s.url = word
			}
		}
		if strings.HasPrefix(lines.Text(), "other commands") {
			break
		}
	}
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "other commands") { // by then the profile is there
	}
	return s
}

// shell runs an example in the server's folder, with its address in place of the one that the README has.
func (s server) shell(t *testing.T, text string) string {
	t.Helper()
	const address = "http://127.0.0.1:8080"
	if !strings.Contains(text, address) {
		t.Fatalf("the example does not name %s", address)
	}
	return run(t, s.dir, s.env, "sh", "-eu", "-c", strings.ReplaceAll(text, address, s.url))
}

// TestServe: the commands of the README against the server of the README.
func TestServe(t *testing.T) {
	t.Parallel()
	s := start(t, "serve", "--addr", "127.0.0.1:0")
	said := s.shell(t, block(t, "serve"))
	if !strings.Contains(said, `"status":"ready"`) {
		t.Errorf("it says\n%s", said)
	}
	for _, file := range []string{"agent.key", "ana.key"} {
		if key, err := os.ReadFile(filepath.Join(s.dir, file)); err != nil || !strings.HasPrefix(string(key), "hs_") {
			t.Errorf("%s: %q, %v", file, key, err)
		}
	}
	if spec, err := os.ReadFile(filepath.Join(s.dir, "openapi.json")); err != nil || !strings.Contains(string(spec), `"/v1/requests/{id}/claim"`) {
		t.Errorf("openapi.json: %d bytes, %v", len(spec), err)
	}
}

// TestGate: an agent in a shell asks, waits, acts once and reports.
func TestGate(t *testing.T) {
	t.Parallel()
	said := start(t, "serve", "--addr", "127.0.0.1:0").shell(t, block(t, "gate"))
	for _, want := range []string{"is approved", `"outcome":"approved"`, `"args":{"amount":120,"order":"77"}`, `"status":"done"`, `"code":"decision_used"`} {
		if !strings.Contains(said, want) {
			t.Errorf("no %s in\n%s", want, said)
		}
	}
}

// TestDemo: the first command of the README is up, has something to decide, and its link opens.
func TestDemo(t *testing.T) {
	t.Parallel()
	if !strings.Contains(page(t), "go run ./cmd/holdshort demo\n") {
		t.Error("the README does not begin with the demo")
	}
	s := start(t, "demo", "--addr", "127.0.0.1:0")
	answer, err := http.Get(s.link)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("its link: %s", answer.Status)
	}
	if inbox := run(t, s.dir, s.env, "sh", "-c", "holdshort inbox"); strings.Count(inbox, "req_") < 6 {
		t.Errorf("the inbox has\n%s", inbox)
	}
}
