package main

import (
	"context"
	"os"
	"time"

	"github.com/holdshort/holdshort/bench"
)

type benchCommand struct {
	Store    string        `help:"An empty store: sqlite:PATH or postgres://… Default: a temporary SQLite file." env:"HOLDSHORT_BENCH_STORE"`
	Folder   string        `help:"Folder for temporary files: name one on the disk that you want to measure." type:"path"`
	Duration time.Duration `help:"How long each row of the table runs." default:"2s"`
	Callers  []int         `help:"How many callers at once." default:"1,16,64,256"`
	Cycle    bool          `help:"Also measure whole lives of runs, from start over a durable pause and a decision to the end, beside the same rows in raw SQL."`
	Parked   int           `help:"Also park this many runs and put an engine beside them (1000000 takes some minutes and 4 GiB)."`
	Due      int           `help:"Also let this many requests expire at one moment while somebody decides others."`
	Sleeps   int           `help:"Also let this many runs sleep on an idle engine and see how late they wake."`
	Door     bool          `help:"Also measure the HTTP API beside the same calls in the process."`
	Pollers  int           `help:"With --door: this many callers wait for a decision."`
	Waiters  int           `help:"With --door: this many connections only wait."`
	Open     int           `help:"Also park this many open requests through the HTTP API and compare starting a run with none open."`
	Agents   bool          `help:"Also measure runs of an agent whose model costs nothing, beside flows that do the same."`
	Rules    bool          `help:"Also measure how long a policy of 200 rules takes to judge a call."`
	Inbox    int           `help:"Also open this many requests and measure people's lists, counts and searches (1000000 takes some minutes and 3 GiB)."`
	Only     bool          `help:"Leave the commit table out."`
	JSON     bool          `name:"json" help:"Print JSON."`

	Idle  string `hidden:""` // this process is the one that is measured
	Looks int    `hidden:""`
	Hold  int    `hidden:""` // this process holds connections open
	Watch int    `hidden:""` // this process has pages open
}

func (benchCommand) Help() string {
	return `Measures durable commits, alone and in groups, on this machine, and on request the engine: whole lives of runs, timers, a mass
expiry, a million parked runs. Every figure stands beside another of the same run. What --store names serves the commit table; the other
parts make files of their own in --folder, or schemas of their own, and remove them.

Example:
  holdshort bench --duration 5s
  holdshort bench --only --cycle --sleeps 200
  holdshort bench --only --door --pollers 1000 --waiters 10000
  holdshort bench --only --open 100000 --folder .
  holdshort bench --only --agents --callers 1,16,64
  holdshort bench --only --rules
  holdshort bench --only --inbox 1000000 --folder .
  holdshort bench --only --parked 1000000 --due 100000 --folder .`
}

// progress says what is being measured, to somebody who looks.
func progress(out *console) func(string) {
	if state, err := os.Stderr.Stat(); err != nil || state.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(what string) { out.notef("%s", what) }
}

func (c *benchCommand) Run(ctx context.Context, out *console) error {
	if c.Idle != "" {
		return bench.Idle(ctx, c.Idle, c.Looks, out)
	}
	if c.Watch > 0 {
		return bench.WatchInbox(ctx, c.Watch, os.Stdin, out)
	}
	if c.Hold > 0 {
		return bench.Hold(ctx, c.Hold, os.Stdin, out)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	report, err := bench.Run(ctx, bench.Options{Store: c.Store, Folder: c.Folder, Duration: c.Duration, Callers: c.Callers, Cycle: c.Cycle, Parked: c.Parked, Due: c.Due, Sleeps: c.Sleeps,
		Door: c.Door, Pollers: c.Pollers, IdleConnections: c.Waiters, Open: c.Open, Agents: c.Agents, Rules: c.Rules, Inbox: c.Inbox, NoCommits: c.Only, Self: self, Progress: progress(out)})
	if err != nil {
		return err
	}
	if c.JSON {
		return report.WriteJSON(out)
	}
	return report.WriteTable(out)
}
