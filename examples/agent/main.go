// Command agent is a refund agent inside a program of its own: type to it, and decide in the same terminal what it may do. The same agent without
// Go is holdshort.yaml in this folder. It may import the library's own packages.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	file := "refunds.db"
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	if err := run(ctx, file, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// ben talks to the agent, ana decides. In a program of yours they are whoever logged in.
var (
	ben = "ben"
	ana = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"finance"}, Assurance: holdshort.AssuranceLogin}
)

const tenant = "acme"

// run is the whole program: a store, an engine with the agent in it, and a conversation.
func run(ctx context.Context, file string, in io.Reader, out io.Writer) error {
	db, err := sqlite.Open(ctx, file, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer db.Close()
	desk, err := newDesk(&shop{paid: func(order string, amount float64) {
		fmt.Fprintf(out, "  (the shop pays %v for order %s)\n", amount, order)
	}})
	if err != nil {
		return err
	}
	rules, err := rules()
	if err != nil {
		return err
	}
	e, err := engine.New(db, engine.Config{Flows: []flow.Flow{desk.Flow()}, Agents: map[string]string{desk.Name(): desk.Flow().Name}, Tools: desk.Tools(), Policy: rules,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }() // timers, claims, deliveries
	err = talk(ctx, e, desk, in, out)
	stop()
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}

// talk hands lines to the agent and decides what it stops for. The session has an id of its own: after a restart it is the same conversation.
func talk(ctx context.Context, e *engine.Engine, desk *agent.Agent, in io.Reader, out io.Writer) error {
	session, err := e.OpenSession(ctx, tenant, engine.OpenSessionInput{ID: "ses_00000000000000000000000001", User: ben, Agent: desk.Name()})
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	waiting, err := e.Requests(ctx, tenant, engine.RequestQuery{Session: session.ID, Status: holdshort.RequestOpen})
	if err != nil {
		return err
	}
	for _, req := range waiting.Items { // of last time: the process ended, the question did not
		if err := follow(ctx, e, req.RunID, lines, out); err != nil {
			return err
		}
	}
	for lines.Scan() {
		if lines.Text() == "" {
			continue
		}
		got, err := e.Receive(ctx, tenant, engine.Inbound{Session: session.ID, ID: rand.Text(), Text: lines.Text()})
		if err != nil {
			return err
		}
		if err := follow(ctx, e, got.Run, lines, out); err != nil {
			return err
		}
	}
	return lines.Err()
}

// follow goes with a run until it has ended, and lets ana decide on the way. When the lines end before that, whatever is open stays open.
func follow(ctx context.Context, e *engine.Engine, id holdshort.RunID, lines *bufio.Scanner, out io.Writer) error {
	for {
		run, err := e.AwaitRun(ctx, tenant, id, engine.Resting)
		if err != nil {
			return err
		}
		if run.Status.Ended() {
			var result agent.Result
			if err := json.Unmarshal(run.Result, &result); err != nil {
				return fmt.Errorf("%s: %v", run.Status, run.Error)
			}
			fmt.Fprintln(out, result.Text)
			return nil
		}
		open, err := e.Requests(ctx, tenant, engine.RequestQuery{Run: id, Status: holdshort.RequestOpen})
		if err != nil || len(open.Items) == 0 {
			return err
		}
		req := open.Items[0]
		fmt.Fprintf(out, "? %s\n", req.Question)
		for _, a := range req.Actions {
			fmt.Fprintf(out, "  %s %s\n", a.Tool, a.Args)
		}
		if !lines.Scan() {
			return lines.Err()
		}
		verb := holdshort.Reject
		if lines.Text() == "yes" {
			verb = holdshort.Approve
		}
		// The fingerprint says what ana saw: if the request is another one by now, this is refused.
		if _, err := e.Decide(ctx, tenant, engine.DecideInput{Request: req.ID, Action: verb, Actor: ana, Fingerprint: req.Fingerprint}); err != nil {
			return err
		}
	}
}
