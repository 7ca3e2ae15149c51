package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/holdshort/holdshort/store"
)

// mostFaults is where the store stops counting.
const mostFaults = 100

type verifyCommand struct {
	storeFlags
	jsonFlag
}

func (verifyCommand) Help() string {
	return `Checks the chain of every stream, the root and signature of every seal, the digest of every body that was not erased, and the journals of runs that have not ended. Exit 0: the log is what was written. Exit 1: it is not, or it could not be read to its end.

Examples:

    holdshort audit verify
    holdshort audit verify --store postgres://holdshort@db/holdshort --keyring /etc/holdshort/keys --json`
}

// verified is the command's JSON.
type verified struct {
	Store string `json:"store"`
	OK    bool   `json:"ok"`
	store.Verdict
	RunFaults []store.RunFault `json:"run_faults,omitempty"` // runs that have not ended and whose rows are damaged
}

func (c *verifyCommand) Run(ctx context.Context, out *console) error {
	l, err := c.locate(out)
	if err != nil {
		return err
	}
	s, err := c.open(ctx, l, access{})
	if err != nil {
		return err
	}
	defer s.Close()
	v, err := s.System().Verify(ctx)
	if err != nil {
		return err
	}
	runs, err := s.System().ExamineRuns(ctx, mostExamined)
	if err != nil {
		return err
	}
	if c.JSON {
		if v.Faults == nil {
			v.Faults = []store.Fault{}
		}
		err = out.encode(verified{Store: l.String(), OK: len(v.Faults)+len(runs.Faults) == 0, Verdict: v, RunFaults: runs.Faults})
	} else {
		showVerdict(out, v)
		for _, f := range runs.Faults {
			out.printf("%s  %s of tenant %s: %s\n", out.status(statusFail), f.Run, f.Tenant, f.Problem)
		}
	}
	if len(v.Faults)+len(runs.Faults) > 0 {
		return verdict(exitFailed) // also when nobody read it to the end
	}
	return err
}

func showVerdict(out *console, v store.Verdict) {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, row := range []struct {
		name  string
		count int64
		note  string
	}{
		{"events", v.Events, ""}, {"streams", v.Streams, ""}, {"seals", v.Seals, ""},
		{"unsealed", v.Unsealed, "events since the last seal: only their chains vouch for them"},
		{"erased", v.Erased, "bodies: their digests stand"},
		{"pruned to", v.PrunedTo, "by retention, signed"},
	} {
		if row.count == 0 {
			row.note = ""
		}
		fmt.Fprintln(table, strings.TrimRight(fmt.Sprintf("%s\t%d\t%s", row.name, row.count, row.note), "\t"))
	}
	table.Flush()
	for _, f := range v.Faults {
		out.printf("%s  %s: %s\n", out.status(statusFail), place(f), f.Problem)
	}
	switch n := len(v.Faults); {
	case n == 0:
		out.printf("%s  the log is what was written\n", out.status(statusOK))
	case n >= mostFaults:
		out.printf("%d faults, and perhaps more: the log is not what was written. Keep the database as it is, and compare it with a backup or an export.\n", n)
	default:
		out.printf("%s: the log is not what was written. Keep the database as it is, and compare it with a backup or an export.\n", plural(n, "fault"))
	}
}

// place says where a fault is.
func place(f store.Fault) string {
	var parts []string
	if f.Seal != 0 {
		parts = append(parts, fmt.Sprintf("seal %d", f.Seal))
	}
	if f.Position != 0 {
		parts = append(parts, fmt.Sprintf("position %d", f.Position))
	}
	if f.Tenant != "" {
		parts = append(parts, "tenant "+string(f.Tenant))
	}
	if f.Stream != "" {
		parts = append(parts, "stream "+f.Stream)
	}
	if len(parts) == 0 {
		return "log"
	}
	return strings.Join(parts, ", ")
}

func plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
