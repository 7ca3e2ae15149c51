package main

import (
	"context"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

type runsShowCommand struct {
	runArg
	clientFlags
	jsonFlag
}

func (runsShowCommand) Help() string {
	return `Examples:

    holdshort runs show run_01jc8zv0q8f5tq2m9d4x7k3n1w`
}

func (c *runsShowCommand) Run(ctx context.Context, out *console) error {
	server, err := c.connect(out)
	if err != nil {
		return err
	}
	run, err := server.Run(ctx, holdshort.RunID(c.runArg.Run))
	if err != nil {
		return err
	}
	reasons, err := server.Why(ctx, run.ID)
	if err != nil {
		return err
	}
	operations, err := server.Operations(ctx, run.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return out.encode(map[string]any{"run": run, "why": list(reasons), "operations": list(operations)})
	}
	showRun(out, run)
	for _, r := range reasons {
		out.printf("%-12s %s\n", "why", oneLine(r.Text))
		if r.Hint != "" {
			out.printf("%-12s %s\n", "", "next: "+oneLine(r.Hint))
		}
	}
	for _, op := range operations {
		out.printf("%-12s %s, %s, attempt %d\n", "operation", oneLine(op.Capability), string(op.Status), op.Attempt)
	}
	return nil
}

func showRun(out *console, run client.Run) {
	status := string(run.Status)
	if run.Held != nil {
		status += ", held: " + string(run.Held.Code)
	}
	rows := [][2]string{{"id", string(run.ID)}, {"status", status}, {"flow", fmt.Sprintf("%s@%d", run.Flow, run.FlowVersion)}, {"on behalf of", run.User}, {"session", string(run.SessionID)},
		{"trace", run.TraceID}, {"created", run.CreatedAt.UTC().Format(time.RFC3339)}, {"updated", run.UpdatedAt.UTC().Format(time.RFC3339)}}
	if run.Error != nil {
		rows = append(rows, [2]string{"error", string(run.Error.Code) + ": " + run.Error.Message})
	}
	if len(run.Result) > 0 {
		rows = append(rows, [2]string{"result", string(run.Result)})
	}
	for _, row := range rows {
		if row[1] != "" {
			out.printf("%-12s %s\n", row[0], oneLine(row[1]))
		}
	}
}

type runsJournalCommand struct {
	runArg
	clientFlags
	jsonFlag
}

func (runsJournalCommand) Help() string {
	return `Examples:

    holdshort runs journal run_01jc8zv0q8f5tq2m9d4x7k3n1w`
}

func (c *runsJournalCommand) Run(ctx context.Context, out *console) error {
	server, err := c.connect(out)
	if err != nil {
		return err
	}
	entries, err := server.Journal(ctx, holdshort.RunID(c.runArg.Run))
	if err != nil {
		return err
	}
	if c.JSON {
		return out.encode(map[string]any{"items": list(entries)})
	}
	return table(out, []string{"STEP", "KIND", "ATTEMPT", "TOOK", "OUTCOME"}, len(entries), func(i int) []string {
		e := entries[i]
		outcome := string(e.Outcome)
		if e.Error != nil {
			outcome = string(e.Error.Code) + ": " + e.Error.Message
		}
		return []string{e.Key, e.Kind, fmt.Sprint(e.Attempt), e.Ended.Sub(e.Started).Round(time.Millisecond).String(), clip(outcome, 80)}
	})
}

type runsCancelCommand struct {
	runArg
	Reason string `short:"m" help:"Why."`
	clientFlags
	jsonFlag
}

func (runsCancelCommand) Help() string {
	return `Ends a run that has not ended, and what it asks. A call that is under way is not undone.

Examples:

    holdshort runs cancel run_01jc8zv0q8f5tq2m9d4x7k3n1w -m "not needed any more"`
}

func (c *runsCancelCommand) Run(ctx context.Context, out *console) error {
	return changeRun(ctx, out, c.clientFlags, c.JSON, func(s *client.Client) (client.Run, error) {
		return s.CancelRun(ctx, holdshort.RunID(c.runArg.Run), c.Reason)
	})
}

type runsRetryCommand struct {
	runArg
	clientFlags
	jsonFlag
}

func (runsRetryCommand) Help() string {
	return `Lets a failed or held run go on: it replays, and the step that failed is tried once more.

Examples:

    holdshort runs retry run_01jc8zv0q8f5tq2m9d4x7k3n1w`
}

func (c *runsRetryCommand) Run(ctx context.Context, out *console) error {
	return changeRun(ctx, out, c.clientFlags, c.JSON, func(s *client.Client) (client.Run, error) {
		return s.RetryRun(ctx, holdshort.RunID(c.runArg.Run))
	})
}

func changeRun(ctx context.Context, out *console, f clientFlags, asJSON bool, change func(*client.Client) (client.Run, error)) error {
	server, err := f.connect(out)
	if err != nil {
		return err
	}
	run, err := change(server)
	if err != nil {
		return err
	}
	if asJSON {
		return out.encode(run)
	}
	out.printf("%s is %s\n", string(run.ID), string(run.Status))
	return nil
}
