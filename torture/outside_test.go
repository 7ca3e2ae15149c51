package torture_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/torture"
)

const adminKey = "torture-admin-0123456789abcdef"

// server is a holdshort serve that is killed and started again at the same address.
type server struct {
	t       *testing.T
	binary  string
	folder  string
	address string
	cmd     *exec.Cmd
}

func newServer(t *testing.T, binary string) *server {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return &server{t: t, binary: binary, folder: t.TempDir(), address: free.Addr().String()}
}

// start runs until it serves.
func (s *server) start() error {
	s.cmd = exec.Command(s.binary, "serve", "--addr", s.address, "--store", "sqlite:"+filepath.Join(s.folder, "holdshort.db"))
	s.cmd.Env = append(os.Environ(), "HOLDSHORT_ADMIN_KEY="+adminKey, "HOME="+s.folder, "XDG_CONFIG_HOME="+s.folder)
	s.cmd.Dir = s.folder
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	logs, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer logs.Close()
	s.cmd.Stderr = logs
	if err := s.cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "serves") {
			go func() {
				for lines.Scan() {
				}
			}()
			return nil
		}
	}
	text, _ := os.ReadFile(logs.Name())
	return fmt.Errorf("it does not serve: %s", text)
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // killed: that is how it ended
}

// liveKeys gives the names of keys that the torture made and that still open something.
func (s *server) liveKeys() (names []string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.address+"/v1/keys", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	var list struct{ Items []holdshort.Key }
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || len(list.Items) < 100 {
		s.t.Fatalf("%d keys: %v, want those that were made", len(list.Items), err)
	}
	for _, k := range list.Items {
		if strings.HasPrefix(k.Name, "torture-") && k.RevokedAt.IsZero() {
			names = append(names, k.Name)
		}
	}
	return names
}

// TestOutside tortures a server of its own over its public API while somebody kills it and starts it again.
func TestOutside(t *testing.T) {
	t.Parallel()
	s := newServer(t, binary(t))
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	ctx, done := context.WithCancel(t.Context())
	ended, working := make(chan struct{}), make(chan string, 10)
	var kills atomic.Int64
	go func() {
		select {
		case <-working:
		case <-ctx.Done():
		}
		tick := time.NewTicker(900 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				close(ended)
				return
			case <-tick.C:
			}
			if kills.Load() == 4 {
				continue // what is left comes to its end
			}
			s.kill()
			if err := s.start(); err != nil {
				t.Error(err)
			}
			kills.Add(1)
		}
	}()
	report, err := torture.Outside(t.Context(), torture.OutsideOptions{URL: "http://" + s.address, Token: adminKey, Duration: 5 * time.Second, Seed: earlyKills,
		Enough: func(a torture.Activity) bool {
			return kills.Load() >= 2 && a.Raised >= 10 && a.Decisions >= 6 && a.Conflicts > 0 && a.Claimed > 1 && a.Effects > 0
		},
		Progress: func(what string) { t.Log(what); working <- what }})
	done()
	<-ended
	defer s.kill()
	if err != nil {
		t.Fatal(err)
	}
	if left := s.liveKeys(); len(left) > 0 {
		t.Errorf("keys are left behind: %q", left)
	}
	var text shown
	if err := report.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	switch {
	case report.Broken() || len(report.Surprises) > 0:
		t.Errorf("a promise was broken, or somebody was answered what nobody expects:\n%s", text)
	case kills.Load() == 0 || report.Streams < 2 || report.Raised < 5 || report.Decisions < 3 || report.Conflicts == 0 || report.Claimed == 0 || report.Effects == 0:
		t.Errorf("too little happened to prove anything, %d kills:\n%s", kills.Load(), text)
	}
}

// TestOutsideRefuses: whoever may not make keys there is told so, and nothing is done.
func TestOutsideRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options torture.OutsideOptions
		code    holdshort.Code
	}{
		{"no address", torture.OutsideOptions{URL: "localhost", Token: adminKey}, holdshort.Invalid},
		{"no key", torture.OutsideOptions{URL: "http://127.0.0.1:1"}, holdshort.Unauthenticated},
		{"nobody there", torture.OutsideOptions{URL: "http://127.0.0.1:1", Token: adminKey}, holdshort.StoreUnavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := torture.Outside(t.Context(), tt.options); holdshort.CodeOf(err) != tt.code || holdshort.HintOf(err) == "" {
				t.Errorf("got %v, want %s with a hint", err, tt.code)
			}
		})
	}
}
