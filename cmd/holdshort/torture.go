package main

import (
	"context"
	"os"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/torture"
)

type tortureCommand struct {
	Store    string        `placeholder:"URL" help:"An empty store: sqlite:PATH or postgres://… Default: a temporary SQLite file."`
	Duration time.Duration `default:"1m" help:"How long processes are killed."`
	Workers  int           `placeholder:"N" help:"Processes that run the engine. Default: 3 on PostgreSQL; SQLite has one."`
	Clients  int           `placeholder:"N" help:"Clients that start runs and decide; with --url agents that raise. Default: 32; with --url 16."`
	URL      string        `placeholder:"URL" help:"Torture a server that runs, through its gate, and nothing else of it. Needs HOLDSHORT_TOKEN: an administrator's key."`
	Token    string        `env:"HOLDSHORT_TOKEN" hidden:""`
	HTTP     bool          `help:"Let every client speak the public HTTP API, with agents outside at the gate."`
	Seed     uint64        `help:"Seed of the moments of killing, as a report gives it. Default: a new one."`
	jsonFlag
}

func (tortureCommand) Help() string {
	return `Proves the promises on this machine: worker processes of this binary run flows while clients start, decide, edit, reject, cancel and expire all at once, and are killed at random moments, frozen and started again. Tools do what they do in another process, which counts. In the end three things are compared that know nothing of one another: what clients were told, what happened, and what the store holds. Exit 0: no promise was broken. Exit 1: one was; store and logs are kept and named.

It refuses a store that is not empty, and it fills the one it gets.

With --http everything that clients do goes through the public API of the workers. With --url it is a server that runs: agents raise, claim and report, a hundred people decide at once, and what can be seen from outside is compared. It may be killed and started again meanwhile. Keys are made for all of them and revoked in the end; the requests stay in its audit log.

Examples:

    holdshort torture
    holdshort torture --duration 10m --store postgres://holdshort@localhost/empty --workers 3
    holdshort torture --http
    HOLDSHORT_TOKEN=… holdshort torture --url http://127.0.0.1:8080 --duration 30s`
}

// Grace: the children die at once, their files take a moment.
func (tortureCommand) Grace() time.Duration { return 10 * time.Second }

func (c *tortureCommand) Run(ctx context.Context, out *console) error {
	switch {
	case c.Duration <= 0:
		return &usageError{Message: "--duration: it must be longer than nothing", Hint: "write 30s, 1m or 10m"}
	case c.Workers < 0 || c.Clients < 0:
		return &usageError{Message: "--workers and --clients: less than one is none", Hint: "leave them out for the defaults"}
	}
	if c.URL != "" {
		return c.outside(ctx, out)
	}
	o := torture.RealOptions{Store: c.Store, Duration: c.Duration, Workers: c.Workers, Clients: c.Clients, HTTP: c.HTTP, Seed: c.Seed, Progress: progress(out)}
	if c.Store != "" {
		l, err := storeFlags{Store: c.Store}.locate(out)
		if err != nil {
			return err
		}
		if o.Store = l.URL; l.Driver == sqliteDriver {
			o.Store = "sqlite:" + l.Path
		}
	}
	self, err := os.Executable()
	if err != nil {
		return &holdshort.Error{Code: holdshort.Internal, Op: "find this program", Err: err, Hint: "call it by its full path"}
	}
	o.Worker, o.Counter = []string{self, "torture-worker"}, []string{self, "torture-counter"}
	report, err := torture.Real(ctx, o)
	if err != nil {
		return err
	}
	return c.tell(out, report)
}

// outside tortures a server that is not ours.
func (c *tortureCommand) outside(ctx context.Context, out *console) error {
	if c.Store != "" || c.Workers != 0 || c.HTTP {
		return &usageError{Message: "--url: a server that runs has its own store and processes", Hint: "leave --store, --workers and --http out"}
	}
	if c.Token != "" {
		out.secrets = append(out.secrets, c.Token)
	}
	report, err := torture.Outside(ctx, torture.OutsideOptions{URL: c.URL, Token: c.Token, Duration: c.Duration, Agents: c.Clients, Seed: c.Seed, Progress: progress(out)})
	if err != nil {
		return err
	}
	return c.tell(out, report)
}

func (c *tortureCommand) tell(out *console, report torture.RealReport) (err error) {
	if c.JSON {
		err = report.WriteJSON(out)
	} else {
		err = report.WriteTable(out)
	}
	if report.Broken() {
		return verdict(exitFailed)
	}
	return err
}

// tortureWorkerCommand is one of the processes that get killed. Its parent speaks to it through its standard input.
type tortureWorkerCommand struct{}

func (tortureWorkerCommand) Grace() time.Duration { return 20 * time.Second }

func (tortureWorkerCommand) Run(ctx context.Context) error {
	return torture.RunWorker(ctx, os.Stdin, os.Stdout, os.Stderr)
}

// tortureCounterCommand is the world in which tools take effect.
type tortureCounterCommand struct{}

func (tortureCounterCommand) Run(ctx context.Context) error {
	return torture.RunCounter(ctx, os.Stdin, os.Stdout)
}
