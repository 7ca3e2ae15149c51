package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// terminalPair gives both ends of a pseudo-terminal of 100 columns and 40 lines.
func terminalPair(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100})
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// A person at a real terminal looks at the demo's inbox, answers a question and leaves.
func TestInboxOnATerminal(t *testing.T) {
	home := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), safetyLimit)
	defer cancel()
	start := func(setup func(*exec.Cmd), args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "holdshort", args...)
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+home, "TERM=xterm-256color", "HOLDSHORT_URL=", "HOLDSHORT_TOKEN=", "NO_COLOR=")
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = safetyLimit
		setup(cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	demo := start(func(cmd *exec.Cmd) {}, "demo", "--addr", "127.0.0.1:0")
	defer func() {
		demo.Process.Signal(os.Interrupt)
		demo.Wait()
	}()
	t.Setenv("XDG_CONFIG_HOME", home)
	var p profile
	for ctx.Err() == nil && p.URL == "" {
		p, _ = readProfile()
	}
	person, program := terminalPair(t)
	inbox := start(func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, "inbox")
	screen := make(chan []byte, 1000)
	go func() {
		for {
			buffer := make([]byte, 32<<10)
			n, err := person.Read(buffer)
			if err != nil {
				return
			}
			screen <- buffer[:n]
		}
	}()
	var seen bytes.Buffer
	await := func(words string) {
		t.Helper()
		for !strings.Contains(seen.String(), words) {
			select {
			case part := <-screen:
				seen.Write(part)
			case <-ctx.Done():
				t.Fatalf("%q never came; the screen got %q", words, seen.String())
			}
		}
		seen.Reset()
	}
	keys := func(text string) {
		if _, err := person.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	await("Cora wants to send")
	keys("jjj")
	await("still so?")
	keys("\r")
	await("your answer")
	keys("It ends on Monday\r")
	await("send this answer?")
	keys("y")
	await("is answered")
	keys("q")
	if err := inbox.Wait(); err != nil {
		t.Errorf("the inbox ended with %v", err)
	}
	c, err := client.New(p.URL, p.Token, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Requests(ctx, client.Find{Status: holdshort.RequestResolved})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d resolved, %v", len(page.Items), err)
	}
	req, err := c.Request(ctx, page.Items[0].ID)
	if err != nil || req.Decision == nil || string(req.Decision.Value) != `"It ends on Monday"` {
		t.Errorf("%+v, %v", req.Decision, err)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "holdshort", "profile-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
