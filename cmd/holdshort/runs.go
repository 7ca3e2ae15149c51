package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

type runsCommand struct {
	List    runsListCommand    `cmd:"" default:"withargs" help:"List runs, newest first."`
	Show    runsShowCommand    `cmd:"" help:"Show a run and say why it stands where it stands."`
	Journal runsJournalCommand `cmd:"" help:"Show what a run recorded, step by step."`
	Cancel  runsCancelCommand  `cmd:"" help:"Call a run off."`
	Retry   runsRetryCommand   `cmd:"" help:"Let a failed or held run go on."`
}

func (runsCommand) Help() string {
	return `Examples:

    holdshort runs
    holdshort runs --status waiting
    holdshort runs show run_01jc8zv0q8f5tq2m9d4x7k3n1w`
}

// runArg names a run.
type runArg struct {
	Run string `arg:"" help:"The run's id."`
}

type runsListCommand struct {
	Status  string `enum:",queued,running,waiting,completed,failed,canceled" default:"" help:"Only runs of this status: queued, running, waiting, completed, failed or canceled."`
	Flow    string `help:"Only runs of this flow."`
	Session string `help:"Only runs of this session."`
	Held    bool   `help:"Only runs that are held."`
	Limit   int    `default:"50" help:"How many at most."`
	clientFlags
	jsonFlag
}

func (runsListCommand) Help() string {
	return `Examples:

    holdshort runs list --status failed
    holdshort runs list --held --json`
}

func (c *runsListCommand) Run(ctx context.Context, out *console) error {
	server, err := c.connect(out)
	if err != nil {
		return err
	}
	if c.Limit < 1 {
		return &usageError{Message: "--limit: less than one is none", Hint: "write a number from 1 on"}
	}
	var all []client.Run
	for cursor := ""; len(all) < c.Limit; {
		page, err := server.Runs(ctx, client.FindRuns{Status: holdshort.RunStatus(c.Status), Flow: c.Flow, Session: holdshort.SessionID(c.Session), Held: c.Held, Limit: min(c.Limit-len(all), 200), Cursor: cursor})
		if err != nil {
			return err
		}
		all = append(all, page.Items...)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if c.JSON {
		return out.encode(map[string]any{"items": list(all)})
	}
	return table(out, []string{"ID", "STATUS", "FLOW", "AGE", "WAITS FOR"}, len(all), func(i int) []string {
		r := all[i]
		status := string(r.Status)
		if r.Held != nil {
			status += " (held: " + string(r.Held.Code) + ")"
		}
		waits := make([]string, len(r.OpenRequests))
		for i, id := range r.OpenRequests {
			waits[i] = string(id)
		}
		return []string{string(r.ID), status, fmt.Sprintf("%s@%d", r.Flow, r.FlowVersion), age(time.Since(r.CreatedAt)), strings.Join(waits, " ")}
	})
}

// list keeps an empty list from becoming null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// table prints rows in columns. Cells are made visible.
func table(out *console, head []string, n int, row func(int) []string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for i := range n {
		cells := row(i)
		for j := range cells {
			if cells[j] = oneLine(cells[j]); cells[j] == "" {
				cells[j] = "-"
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}
