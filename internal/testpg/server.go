package testpg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// StopMode says how a server is asked to end.
type StopMode syscall.Signal

// The three shutdowns PostgreSQL knows.
const (
	Smart     = StopMode(syscall.SIGTERM) // waits for clients to leave
	Fast      = StopMode(syscall.SIGINT)  // disconnects clients, ends cleanly
	Immediate = StopMode(syscall.SIGQUIT) // ends at once; the next start recovers from the log
)

// Server is a private PostgreSQL server of one test. Its methods fail the test on trouble; they are not for concurrent use.
type Server struct {
	t    testing.TB
	bin  string
	dir  string // holds the data folder and the unix socket
	port int

	process *os.Process   // nil while stopped
	ended   chan struct{} // closed when the server and every process it forked are gone
	log     *lockedBuffer
}

// Cluster makes and starts a private server for a test that must stop or kill one. It syncs to disk like a production server.
// The server is ended and its folder removed when the test ends.
func Cluster(t testing.TB) *Server {
	t.Helper()
	skipIfAsked(t)
	ctx, cancel := context.WithTimeout(t.Context(), setupTimeout)
	defer cancel()
	bin, err := binaries(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, bin: bin, log: new(lockedBuffer)}
	t.Cleanup(s.remove)
	if err := s.makeFolder(ctx, os.TempDir(), "/tmp"); err != nil {
		t.Fatalf("make a folder for PostgreSQL: %v", err)
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"),
		"--pgdata", s.data(), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	if err := s.prepare(initdb); err != nil {
		t.Fatal(err)
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("make a PostgreSQL cluster: %v\n%s", err, out)
	}
	s.port = freePort(t)
	s.Start()
	return s
}

// URL names the server's default database over loopback TCP. It stays the same across restarts.
func (s *Server) URL() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// Start starts the stopped server and returns when it answers queries; recovery after Kill or Immediate is part of the wait.
func (s *Server) Start() {
	s.t.Helper()
	if s.process != nil {
		s.t.Fatal("start PostgreSQL: it is running")
	}
	if err := s.launch(); err != nil {
		s.t.Fatalf("start PostgreSQL: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		err := s.ping(ctx)
		if err == nil {
			return
		}
		select {
		case <-retry.C:
		case <-s.ended:
			s.process = nil
			s.t.Fatalf("start PostgreSQL: it ended at once; its log:\n%s", s.log)
		case <-ctx.Done():
			s.t.Fatalf("start PostgreSQL: no answer in %s: %v; its log:\n%s", setupTimeout, err, s.log)
		}
	}
}

// Stop asks the server to end and returns when all its processes have ended.
func (s *Server) Stop(mode StopMode) {
	s.t.Helper()
	s.end(syscall.Signal(mode))
}

// Kill ends the server as a crash does: SIGKILL, no clean-up, nothing flushed. It returns when all its processes have ended.
func (s *Server) Kill() {
	s.t.Helper()
	s.end(syscall.SIGKILL)
}

// Log returns what the server has written so far.
func (s *Server) Log() string { return s.log.String() }

// makeFolder makes the server's folder in the first parent where the server's user can work; root's TMPDIR may be closed to it.
// It is not t.TempDir: that one is closed too, and the path of a unix socket has room for 107 bytes only.
func (s *Server) makeFolder(ctx context.Context, parents ...string) error {
	var problems error
	for _, parent := range parents {
		dir, err := os.MkdirTemp(parent, "holdshort-pg-")
		if err != nil {
			problems = errors.Join(problems, err)
			continue
		}
		s.dir = dir
		if err := giveAway(dir); err != nil {
			return err
		}
		probe := exec.CommandContext(ctx, filepath.Join(s.bin, "postgres"), "--version")
		if err := s.prepare(probe); err != nil {
			return err
		}
		err = probe.Run()
		if err == nil {
			return nil
		}
		problems = errors.Join(problems, fmt.Errorf("run in %s: %w", dir, err))
		if err := os.Remove(dir); err != nil {
			return err
		}
		s.dir = ""
	}
	return problems
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// prepare makes a command run in the server's folder, as the server's user, untouched by the caller's PG… variables.
func (s *Server) prepare(cmd *exec.Cmd) error {
	attr, err := procAttr()
	if err != nil {
		return err
	}
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = attr
	return nil
}

func (s *Server) launch() error {
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data(),
		"-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories="+s.dir,
		"-c", "fsync=on", "-c", "synchronous_commit=on",
		// Shared memory as files in the data folder: a killed server leaves nothing in /dev/shm.
		"-c", "dynamic_shared_memory_type=mmap")
	if err := s.prepare(cmd); err != nil {
		return err
	}
	// Every process of the server inherits the log's pipe, and Wait returns when the last of them closed it:
	// that is how Kill knows that the orphans are gone too.
	cmd.Stdout, cmd.Stderr = s.log, s.log
	started, ended := make(chan error), make(chan struct{})
	go func() {
		// The kernel ends the server when the thread that started it ends, so that thread stays until then.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in the log
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.process, s.ended = cmd.Process, ended
	return nil
}

func (s *Server) end(signal syscall.Signal) {
	s.t.Helper()
	if s.process == nil {
		s.t.Fatal("stop PostgreSQL: it is not running")
	}
	if err := s.process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatalf("stop PostgreSQL: %v", err)
	}
	select {
	case <-s.ended:
		s.process = nil
	case <-time.After(setupTimeout):
		s.t.Fatalf("stop PostgreSQL: still running %s after %v; its log:\n%s", setupTimeout, signal, s.log)
	}
}

func (s *Server) ping(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.Ping(ctx)
}

func (s *Server) remove() {
	if s.process != nil {
		s.end(syscall.SIGQUIT)
	}
	if s.dir == "" {
		return
	}
	s.removeSharedMemory()
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Errorf("remove the server's folder: %v", err)
	}
}

// removeSharedMemory frees the System V segment that a killed server could not free. The seventh line of postmaster.pid,
// which only a killed server leaves behind, names it: key, then id. The next Start would have done the same.
func (s *Server) removeSharedMemory() {
	pid, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return
	}
	lines := strings.Split(string(pid), "\n")
	if len(lines) < 7 {
		return
	}
	if fields := strings.Fields(lines[6]); len(fields) == 2 {
		_ = exec.Command("ipcrm", "-m", fields[1]).Run() // some bytes of kernel memory: not worth failing a test
	}
}

// freePort picks a port below the range from which outgoing connections take theirs,
// so that nobody takes it by chance while the server is stopped.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10000 + rand.IntN(20000)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("find a free port on 127.0.0.1: a hundred tries were all taken")
	return 0
}
