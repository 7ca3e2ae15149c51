package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/demo"
)

// machine is the desk in a process of its own, which the story kills.
type machine struct {
	dir, addr string
	slow      time.Duration
	running   *exec.Cmd
	stdin     io.Closer // its end is the child's end too
	last      handover
}

// Start implements demo.Machine.
func (m *machine) Start(ctx context.Context) (*demo.Cast, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.Internal, Op: "find this program", Err: err, Hint: "call it by its full path"}
	}
	cmd := exec.Command(self, "demo", "--child", "--addr", m.addr, "--data", m.dir, "--slow", m.slow.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	m.running, m.stdin = cmd, stdin
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &m.last) != nil {
		m.Kill()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("start the desk: %s", bytes.TrimSpace(stderr.Bytes()))
	}
	return m.cast()
}

// cast gives each of the story's people a client with their own key.
func (m *machine) cast() (cast *demo.Cast, err error) {
	cast = &demo.Cast{}
	if cast.Ana, err = client.New(m.last.URL, m.last.Token, client.Options{Agent: "holdshort-story"}); err != nil {
		return nil, err
	}
	if cast.Ben, err = client.New(m.last.URL, m.last.Second, client.Options{Agent: "holdshort-story"}); err != nil {
		return nil, err
	}
	cast.Customer, err = client.New(m.last.URL, m.last.Customer, client.Options{Agent: "holdshort-story", ForUser: demo.Customer})
	return cast, err
}

// Kill implements demo.Machine.
func (m *machine) Kill() error {
	if m.running == nil {
		return nil
	}
	err := m.running.Process.Kill()
	m.running.Wait() // it was killed: how it ended is no news
	m.stdin.Close()
	m.running = nil
	return err
}

// Effects implements demo.Machine.
func (m *machine) Effects() ([]demo.Effect, error) {
	shop, err := demo.OpenShop(m.dir)
	if err != nil {
		return nil, err
	}
	return shop.Effects(), nil
}

// freePort settles which port a machine comes back on.
func freePort(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", &usageError{Message: "--addr: " + addr + " is no address to listen on", Hint: "write 127.0.0.1:8080"}
	}
	if port != "0" {
		return addr, nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// tell tells the story over a machine that it kills, and leaves it running for whoever wants to look.
func (c *demoCommand) tell(ctx context.Context, out *console, dir string) error {
	addr, err := freePort(c.Addr)
	if err != nil {
		return err
	}
	m := &machine{dir: dir, addr: addr, slow: max(c.Pace, 300*time.Millisecond)}
	defer m.Kill()
	story := demo.Story{Machine: m, Pace: c.Pace, Say: func(format string, a ...any) { fmt.Fprintln(out, visible(fmt.Sprintf(format, a...))) }}
	if err := story.Tell(ctx); err != nil {
		return err
	}
	if c.Once {
		return nil
	}
	out.printf("\nThe desk stays open at %s\nlog in, once: %s\n", m.last.URL, m.last.Link)
	local := profile{URL: m.last.URL, Token: m.last.Token}
	if _, err := local.write(); err == nil {
		defer local.forget(c.Data == "")
		out.printf("Try in another terminal: %s chat, or %s inbox. Ctrl-C closes it.\n", calledAs(), calledAs())
	}
	ended := make(chan error, 1)
	child := m.running
	go func() { ended <- child.Wait() }()
	select {
	case <-ctx.Done():
		m.running = nil
		child.Process.Signal(os.Interrupt)
		m.stdin.Close()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			child.Process.Kill()
			<-ended
		}
		return nil
	case err := <-ended:
		m.running = nil
		return err
	}
}
