package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// childVar makes this test binary a second process on a database: what it is to do, and the path.
const childVar = "HOLDSHORT_SQLITE_CHILD"

func TestMain(m *testing.M) {
	if task, path, ok := strings.Cut(os.Getenv(childVar), " "); ok {
		os.Exit(child(task, path))
	}
	os.Exit(m.Run())
}

// child opens the database and says how that went: "open", or the code and the text of the refusal.
func child(task, path string) int {
	s, err := Open(context.Background(), path, Options{Logger: quiet})
	if err != nil {
		fmt.Printf("%s\t%s\t%s\n", holdshort.CodeOf(err), holdshort.HintOf(err), strings.ReplaceAll(err.Error(), "\n", " "))
		return 0
	}
	fmt.Println("open")
	if task == "write" { // until it is killed; each number is printed once it was acknowledged
		for n := 1; ; n++ {
			err := s.Update(context.Background(), "acme", func(tx store.Tx) error {
				run := holdshort.Run{ID: holdshort.RunID(fmt.Sprint("run_", n)), Status: holdshort.RunQueued, Flow: "refund", CreatedAt: tx.Now()}
				return errors.Join(tx.PutRun(run), tx.AddEvent(holdshort.Event{Type: "run.created", Run: run.ID}))
			})
			if err != nil {
				fmt.Println(err)
				return 1
			}
			fmt.Println(n)
		}
	}
	if err := s.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// process is a child under way.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
}

// startChild runs this binary as a second process, as another user when uid is not 0.
func startChild(t *testing.T, uid int, task, path string) *process {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if uid != 0 {
		binary = copyBinary(t, binary)
	}
	p := &process{Cmd: exec.Command(binary)}
	p.Env = []string{childVar + "=" + task + " " + path, "TMPDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0"}
	p.Stderr = os.Stderr
	p.Dir = "/"
	if uid != 0 {
		p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatalf("start a second process: %v", err)
	}
	p.lines = bufio.NewScanner(out)
	t.Cleanup(func() {
		p.Process.Kill() // its own id: it may have ended already
		p.Wait()
	})
	return p
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the second process ended: %v", p.lines.Err())
	}
	return p.lines.Text()
}

// copyBinary puts it where other users can run it.
func copyBinary(t *testing.T, binary string) string {
	t.Helper()
	content, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(openFolder(t), "child")
	// A process that another test forks during the write would share the open file, and an open file cannot be executed.
	syscall.ForkLock.RLock()
	err = os.WriteFile(to, content, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// openFolder is a folder that every user can enter; t.TempDir is closed to others.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "holdshort-sqlite-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
