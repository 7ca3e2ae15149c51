package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// visit is a person at a pseudo-terminal, beside a demo that can be killed.
type visit struct {
	t      *testing.T
	ctx    context.Context
	home   string
	data   string
	addr   string
	demo   *exec.Cmd
	chat   *exec.Cmd
	person *os.File
	screen chan []byte
	seen   bytes.Buffer
}

func newVisit(t *testing.T) *visit {
	ctx, cancel := context.WithTimeout(t.Context(), safetyLimit)
	t.Cleanup(cancel)
	v := &visit{t: t, ctx: ctx, home: t.TempDir(), data: t.TempDir()}
	t.Setenv("XDG_CONFIG_HOME", v.home)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v.addr = l.Addr().String()
	l.Close()
	v.open()
	t.Cleanup(func() {
		v.demo.Process.Signal(os.Interrupt)
		v.demo.Wait()
	})
	return v
}

func (v *visit) start(setup func(*exec.Cmd), args ...string) *exec.Cmd {
	v.t.Helper()
	cmd := exec.CommandContext(v.ctx, "holdshort", args...)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+v.home, "TERM=xterm-256color", "HOLDSHORT_URL=", "HOLDSHORT_TOKEN=", "NO_COLOR=1")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = safetyLimit
	setup(cmd)
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	return cmd
}

// open begins the demo, or begins it again on the same folder and port, and waits until it answers.
func (v *visit) open() {
	v.demo = v.start(func(*exec.Cmd) {}, "demo", "--addr", v.addr, "--data", v.data)
	for v.ctx.Err() == nil {
		if p, _ := readProfile(); p.URL == "" {
			continue
		}
		if _, err := v.server().Me(v.ctx); err == nil {
			return
		}
	}
	v.t.Fatal("the demo never answered")
}

func (v *visit) kill() {
	v.demo.Process.Kill()
	v.demo.Wait()
}

func (v *visit) server() *client.Client {
	p, err := readProfile()
	if err != nil {
		v.t.Fatal(err)
	}
	c, err := client.New(p.URL, p.Token, client.Options{})
	if err != nil {
		v.t.Fatal(err)
	}
	return c
}

// talk begins a chat on a new terminal.
func (v *visit) talk(args ...string) {
	person, program := terminalPair(v.t)
	v.person, v.screen = person, make(chan []byte, 10000)
	v.seen.Reset()
	v.chat = v.start(func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, append([]string{"chat"}, args...)...)
	go func(screen chan []byte) {
		for {
			buffer := make([]byte, 32<<10)
			n, err := person.Read(buffer)
			if err != nil {
				return
			}
			screen <- buffer[:n]
		}
	}(v.screen)
}

// sees waits until words stand on the screen, and looks only at what comes after them from then on.
func (v *visit) sees(words string) {
	v.t.Helper()
	for {
		if i := strings.Index(v.seen.String(), words); i >= 0 {
			v.seen.Next(i + len(words))
			return
		}
		select {
		case part := <-v.screen:
			v.seen.Write(part)
		case <-v.ctx.Done():
			v.t.Fatalf("%q never came; the screen got %q", words, v.seen.String())
		}
	}
}

// reads takes the time that the chat gives people before a line that names nothing counts.
func (v *visit) reads() {
	select {
	case <-time.After(readingTime + 200*time.Millisecond):
	case <-v.ctx.Done():
	}
}

func (v *visit) types(text string) {
	v.t.Helper()
	if _, err := v.person.WriteString(text); err != nil {
		v.t.Fatal(err)
	}
}

// leaves presses Ctrl-C and gives the session that the chat says goes on.
func (v *visit) leaves() string {
	v.t.Helper()
	v.types("\x03")
	v.sees("Go on with: ")
	v.sees("chat --session ")
	v.sees("\n")
	if err := v.chat.Wait(); err != nil {
		v.t.Errorf("the chat ended with %v", err)
	}
	page, err := v.server().Runs(v.ctx, client.FindRuns{Agent: "desk", Limit: 1})
	if err != nil || len(page.Items) != 1 {
		v.t.Fatalf("%d runs, %v", len(page.Items), err)
	}
	return string(page.Items[0].SessionID)
}

// effects counts what the shop did.
func (v *visit) effects(tool string) int {
	raw, err := os.ReadFile(filepath.Join(v.data, "shop.json"))
	if err != nil {
		v.t.Fatal(err)
	}
	return len(regexp.MustCompile(`"tool": "`+regexp.QuoteMeta(tool)+`"`).FindAll(raw, -1))
}

// One run pauses three times; the server dies with kill -9 while the second and the third are open; a colleague decides; nothing is lost, and
// nothing happens twice.
func TestChatOnATerminal(t *testing.T) {
	v := newVisit(t)
	v.talk()
	v.sees("Talking to desk as ana@example.org")
	v.types("help\r")
	v.sees("two of finance have to")

	v.types("refund order 77 for 500\r")
	v.sees("runs if approved: orders.refund")
	v.sees(`"amount": 500`)
	v.sees("rule     large refunds")
	v.reads()
	v.types("yes\r")
	v.sees("approved by you")
	v.sees("error_recovery") // it cost 320: the shop refuses, and the same run asks how to put it right
	v.sees("write your answer")
	v.kill()
	v.sees("does not answer; trying again")
	v.reads()
	v.types("320\r")
	v.open()
	v.sees("answered by you: 320")
	v.sees(`"amount": 320`) // another amount, another approval
	v.sees("yes  no  /reject WHY")
	v.kill()
	v.reads()
	v.types("/edit amount=300 reason=as agreed -- a little less\r")
	v.open()
	v.sees("edited by you: a little less")
	v.sees(`+   "amount": 300,`)
	v.sees("Paid back. The receipt is rc-77.")
	if n := v.effects("orders.refund"); n != 1 {
		t.Errorf("paid back %d times", n)
	}

	v.types("refund order 81 for 100\r")
	v.sees("Refund 100 EUR for order 81?")
	v.sees("yes  no")
	ben, err := v.server().CreateKey(v.ctx, client.NewKeyInput{Name: "ben", User: "ben@example.org", Roles: []string{"finance", "reviewer"}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := client.New(v.server().URL(), ben.Secret, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open, err := other.Requests(v.ctx, client.Find{Status: holdshort.RequestOpen, Text: "order 81"})
	if err != nil || len(open.Items) != 1 {
		t.Fatalf("%d open, %v", len(open.Items), err)
	}
	if _, err := other.Decide(v.ctx, open.Items[0].ID, client.Choice{Action: holdshort.Reject, Message: "ask him first"}); err != nil {
		t.Fatal(err)
	}
	v.sees("rejected by ben@example.org: ask him first")
	v.sees("That was not done")

	v.types("refund order 79 for 890\r")
	v.sees("you asked for it, so your own word does not")
	v.types("is somebody there?\r")
	v.sees("kept: the run that is under way")
	v.types("yes\r")
	v.sees("is not yours to decide: it waits for role finance")
	session := v.leaves()

	v.talk("--session", session)
	v.sees("Paid back. The receipt is rc-77.")
	v.sees("is somebody there?")
	v.sees("Refund 890 EUR for order 79?")
	v.sees("waits for role finance")
	v.types("/quit\r")
	v.sees("still open: ")
	if err := v.chat.Wait(); err != nil {
		t.Errorf("the chat ended with %v", err)
	}
}
