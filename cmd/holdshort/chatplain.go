package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// plainChat is a conversation in lines: for scripts, pipes and programs. It reads a line, waits until the run rests, prints what came of it,
// and reads the next.
type plainChat struct {
	out      *console
	server   counterpart
	c        *conversation
	t        *teller
	json     bool
	patience time.Duration // with a server that does not answer
	worst    int           // the first exit code that is none of success
	failed   bool          // the run that answers failed
	quiet    bool          // the last look at the server showed nothing new
}

// longestLine of what is read, in bytes.
const longestLine = 1 << 20

func (p *plainChat) run(ctx context.Context, in io.Reader, wait time.Duration) error {
	if p.json {
		p.encode("session", "session", p.c.session)
	}
	if err := p.catchUp(ctx); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), longestLine)
	for ctx.Err() == nil && lines.Scan() {
		quit, err := p.line(ctx, lines.Text())
		if err != nil {
			return err
		}
		if quit {
			return p.leave()
		}
	}
	if err := lines.Err(); err != nil {
		return &usageError{Message: "read a line: " + err.Error(), Hint: "lines are text of at most 1 MiB"}
	}
	if err := p.stay(ctx, wait); err != nil {
		return err
	}
	return p.leave()
}

// catchUp tells what is new.
func (p *plainChat) catchUp(ctx context.Context) error {
	var g glance
	err := patiently(ctx, p.patience, p.away, func() (err error) {
		g, err = p.c.look(ctx)
		return err
	})
	if err != nil {
		return err
	}
	first := !p.c.begun
	news := p.c.take(g)
	p.quiet = len(news) == 0
	for _, h := range lastOf(news, first) {
		p.tell(h)
	}
	return nil
}

func (p *plainChat) away(err error) { p.out.notef("%s; trying again", heard(err)) }

func (p *plainChat) tell(h happening) {
	if h.ended != nil {
		p.failed = h.ended.Status == holdshort.RunFailed || h.ended.Held != nil
	}
	if !p.json {
		for _, line := range p.t.tell(h) {
			fmt.Fprintln(p.out, line)
		}
		return
	}
	switch {
	case h.message != nil:
		p.encode("message", "message", h.message)
	case h.opened != nil:
		p.encode("request", "request", h.opened, "may_decide", p.c.may(*h.opened))
	case h.voted != nil:
		p.encode("vote", "request", h.voted)
	case h.closed != nil:
		p.encode("closed", "request", h.closed)
	case h.unseen != "":
		p.encode("request", "request", map[string]any{"id": h.unseen}, "may_decide", false)
	case h.ended != nil:
		p.encode("run", "run", h.ended)
	}
}

// encode prints one JSON object on one line.
func (p *plainChat) encode(kind string, pairs ...any) {
	object := map[string]any{"type": kind}
	for i := 0; i+1 < len(pairs); i += 2 {
		object[pairs[i].(string)] = pairs[i+1]
	}
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil && p.out.lost() == nil {
		p.out.notef("encode %s: %s", kind, err.Error())
	}
}

// line does what a line says and waits for what comes of it. An error ends the chat; what a line alone did wrong is told.
func (p *plainChat) line(ctx context.Context, typed string) (quit bool, err error) {
	l, err := p.c.reader().read(typed)
	switch {
	case err != nil:
		p.trouble(err)
		return false, nil
	case l.wish == wishNothing:
		return false, nil
	case l.wish == wishQuit:
		return true, nil
	case l.wish == wishHelp:
		fmt.Fprintln(p.out, chatHelp)
		return false, nil
	case l.wish == wishShow && (l.req == nil || !p.c.reveals(*l.req)):
		p.show(l.req)
		return false, nil
	}
	d := p.c.deed(l)
	var got result
	err = patiently(ctx, p.patience, p.away, func() error {
		got = d.do(ctx, p.server, p.c.id)
		return got.err
	})
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case absent(err):
		return false, err
	case err != nil:
		p.trouble(err)
	}
	if got.shown != nil {
		p.show(got.shown)
	}
	for _, note := range got.notes {
		p.out.notef("%s", note)
	}
	var run holdshort.RunID
	if got.run != nil {
		run = got.run.ID
	}
	if err := p.settle(ctx, run); err != nil {
		return false, err
	}
	return false, p.catchUp(ctx)
}

// show prints cards once more.
func (p *plainChat) show(req *client.Request) {
	list := p.c.waiting()
	if req != nil {
		list = []client.Request{*req}
	}
	for _, r := range list {
		p.tell(happening{opened: &r})
	}
	if len(list) == 0 {
		p.out.notef("nothing is open")
	}
}

// trouble tells what is wrong with a line, and goes on.
func (p *plainChat) trouble(err error) {
	code := p.out.fail(err)
	if p.worst == exitOK {
		p.worst = code
	}
}

// settle waits until the session's run rests, whoever made it go on, and the one that began with what that left over.
func (p *plainChat) settle(ctx context.Context, run holdshort.RunID) error {
	for {
		if run != "" {
			if err := patiently(ctx, p.patience, p.away, func() error {
				_, err := p.server.AwaitRun(ctx, run)
				return err
			}); err != nil {
				return err
			}
		}
		var now client.Session
		if err := patiently(ctx, p.patience, p.away, func() (err error) {
			now, err = p.server.Session(ctx, p.c.id)
			return err
		}); err != nil {
			return err
		}
		if now.ActiveRun == run || now.ActiveRun == "" {
			return nil
		}
		run = now.ActiveRun
	}
}

// stay waits until other people have decided the open requests and their runs have ended, at most for the given time.
func (p *plainChat) stay(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for !p.settled() {
		if p.quiet {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Second):
			}
		}
		if err := p.catchUp(ctx); err != nil {
			if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
	return nil
}

// settled reports whether the conversation has come to rest. A look that showed news does not prove it: runs are read
// before requests, so a request that closed in between leaves its run looking as if it still waited.
func (p *plainChat) settled() bool {
	return p.quiet && len(p.c.waiting()) == 0 && !p.c.busy()
}

// leave says what stays open, and how it ended.
func (p *plainChat) leave() error {
	open := p.c.waiting()
	names := make([]string, len(open))
	for i, req := range open {
		names[i] = handle(req) + " for " + audience(req)
	}
	if len(open) > 0 {
		p.out.notef("still open: %s; %s chat --session %s goes on", strings.Join(names, "; "), calledAs(), string(p.c.id))
	}
	if p.worst != exitOK {
		return verdict(p.worst)
	}
	if p.failed {
		return verdict(exitFailed)
	}
	return nil
}
