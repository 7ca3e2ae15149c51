package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

type inboxCommand struct {
	All      bool   `help:"Also what is closed."`
	Kind     string `help:"Only requests of this kind: approval, clarification, disambiguation, confirmation, escalation …"`
	Priority string `help:"Only requests of this priority: low, normal, high or critical."`
	Mine     bool   `help:"Only what is assigned to me."`
	Search   string `short:"q" placeholder:"TEXT" help:"Only requests whose question holds this."`
	Limit    int    `default:"200" help:"How many at most."`
	Table    bool   `help:"Print a table on a terminal too."`
	clientFlags
	jsonFlag
}

func (inboxCommand) Help() string {
	return `On a terminal a live list with everything that a decision needs, driven by the keyboard: a approves, r rejects, e edits, Enter answers, ? shows the other keys. Piped, or with --table, a plain table; with --json all of it.

Examples:

    holdshort inbox
    holdshort inbox --kind approval --table
    holdshort inbox --json | jq -r '.items[].question'`
}

func (c *inboxCommand) find() client.Find {
	f := client.Find{Status: holdshort.RequestOpen, Kind: holdshort.Kind(c.Kind), Priority: holdshort.Priority(c.Priority), Text: c.Search}
	if c.All {
		f.Status = ""
	}
	if c.Mine {
		f.Assignee = "me"
	}
	return f
}

func (c *inboxCommand) Run(ctx context.Context, out *console) error {
	if c.Limit < 1 {
		return &usageError{Message: "--limit: less than one is none", Hint: "write a number from 1 on"}
	}
	server, err := c.connect(out)
	if err != nil {
		return err
	}
	if !c.JSON && !c.Table && onTerminal(os.Stdin) && onTerminal(os.Stdout) {
		return c.live(ctx, out, server)
	}
	items, err := gather(ctx, server, c.find(), c.Limit)
	if err != nil {
		return err
	}
	if c.JSON {
		return out.encode(map[string]any{"items": list(items)})
	}
	now := time.Now()
	return table(out, []string{"ID", "KIND", "PRIORITY", "STATUS", "AGE", "DUE", "QUESTION"}, len(items), func(i int) []string {
		req := items[i]
		return []string{string(req.ID), string(req.Kind), string(req.Priority), string(req.Status), age(now.Sub(req.CreatedAt)), dueIn(req, now), clip(oneLine(req.Question), 100)}
	})
}

func dueIn(req client.Request, now time.Time) string {
	if at := req.Due(); !at.IsZero() && req.Status == holdshort.RequestOpen {
		return age(at.Sub(now))
	}
	return "-"
}

// lister is what a list of requests comes from.
type lister interface {
	Requests(ctx context.Context, f client.Find) (client.Page[client.Request], error)
}

// gather reads pages until it has enough.
func gather(ctx context.Context, from lister, f client.Find, most int) ([]client.Request, error) {
	var all []client.Request
	for len(all) < most {
		f.Limit = min(most-len(all), 200)
		page, err := from.Requests(ctx, f)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	return all, nil
}

func onTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// live runs the inbox on the terminal until the person leaves it.
func (c *inboxCommand) live(ctx context.Context, out *console, server *client.Client) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newInbox(ctx, server, c.find(), c.Limit)
	m.colour = out.colour
	if _, err := gather(ctx, server, c.find(), 1); err != nil { // say what is wrong before the screen is taken
		return err
	}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(os.Stdin), tea.WithOutput(os.Stdout), tea.WithoutSignalHandler())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		err := server.Watch(ctx, client.Watching{Types: []string{"hitl.*"}, Connected: func() { p.Send(connectedMsg(true)) }}, func(holdshort.Event) error {
			p.Send(changedMsg{})
			return nil
		})
		if ctx.Err() == nil {
			p.Send(brokenMsg{err})
		}
	}()
	_, err := p.Run()
	cancel()
	<-watched
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, context.Canceled) || errors.Is(err, tea.ErrProgramKilled) {
		return nil
	}
	return err
}

// firstLine is the part of a question that fits into a list.
func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += " …"
	}
	return oneLine(line)
}
