package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdshort/holdshort/tool/internal/answer"
)

// process is a server that runs as a child, in a group of its own.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	once   sync.Once

	maxMessage int

	mu    sync.Mutex
	ended bool // it is, or will at once be, reaped: its id may become somebody else's
}

// start starts the program of c.
func (c Config) start() (*process, error) {
	cmd := exec.Command(c.Command[0], c.Command[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go logLines(stderr, c.Logger, c.hide)
	return &process{cmd: cmd, stdin: stdin, stdout: stdout, maxMessage: c.maxMessage}, nil
}

// environment of the program: nothing that is not listed.
func (c Config) environment() []string {
	list := map[string]string{}
	for _, name := range append([]string{"PATH"}, c.Pass...) {
		if value, ok := os.LookupEnv(name); ok {
			list[name] = value
		}
	}
	maps.Copy(list, c.Env)
	env := make([]string, 0, len(list))
	for _, name := range slices.Sorted(maps.Keys(list)) {
		env = append(env, name+"="+list[name])
	}
	return env
}

// logLines writes what a server says on its standard error to the log, each line shortened.
func logLines(r io.Reader, log *slog.Logger, hide answer.Secrets) {
	lines := bufio.NewReaderSize(r, 4096)
	for {
		line, more, err := lines.ReadLine()
		if err != nil {
			return
		}
		log.Debug("the server writes", "text", strings.ToValidUTF8(string(hide.HideCut(line)), "\uFFFD"))
		for more && err == nil {
			_, more, err = lines.ReadLine()
		}
	}
}

// patience is how long a program may take to end by itself once its input is closed.
const patience = 2 * time.Second

// end closes the program's input, waits for it a little, and kills its whole group.
func (p *process) end() {
	p.once.Do(func() {
		_ = p.stdin.Close()
		silent := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, p.stdout)
			close(silent)
		}()
		wait := time.NewTimer(patience)
		defer wait.Stop()
		select {
		case <-silent:
		case <-wait.C:
		}
		p.kill()
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
		_ = p.cmd.Wait()
	})
}

// kill ends the program and everything in its group.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// Connect speaks the protocol with the program.
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) {
	inner := &mcp.IOTransport{Reader: io.NopCloser(p.stdout), Writer: input{p.stdin}, MaxLineLength: p.maxMessage}
	c, err := inner.Connect(ctx)
	return pipe{c}, err
}

// pipe notes which messages may have reached the program: all but those of which not a byte was taken.
type pipe struct{ mcp.Connection }

func (p pipe) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sent := sentOf(ctx)
	sent.begin()
	err := p.Connection.Write(ctx, m)
	if errors.Is(err, errNothingWritten) {
		sent.undo()
	}
	return err
}

var errNothingWritten = errors.New("the server takes nothing")

type input struct{ io.WriteCloser }

func (i input) Write(b []byte) (int, error) {
	n, err := i.WriteCloser.Write(b)
	if err != nil && n == 0 {
		err = fmt.Errorf("%w: %w", errNothingWritten, err)
	}
	return n, err
}
