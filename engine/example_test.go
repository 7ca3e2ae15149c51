package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

// A run waits for a reviewer and goes on from exactly there.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := sqlite.Open(ctx, filepath.Join(dir, "demo.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	refundTool := tool.Tool{Name: "orders.refund", Call: func(_ context.Context, c tool.Call) (tool.Result, error) {
		fmt.Println("refunds", string(c.Args))
		return tool.Result{Value: json.RawMessage(`"receipt 4711"`)}, nil
	}}
	refunds := flow.New("refund", 1, func(c *flow.Context, in refund) (string, error) {
		return flow.Call[string](c, "refund", "orders.refund", in)
	})
	e, err := engine.New(s, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool}, Policy: policy.AllowReads, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}

	run, err := e.Start(ctx, "acme", engine.StartInput{Flow: "refund", User: "ben", Input: json.RawMessage(`{"order":"77","amount":120}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Status)
	open, err := e.Requests(ctx, "acme", engine.RequestQuery{Run: run.ID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(open.Items[0].Question)
	reviewer := holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"reviewer"}, Assurance: holdshort.AssuranceLogin}
	if _, err := e.Decide(ctx, "acme", engine.DecideInput{Request: open.Items[0].ID, Action: holdshort.Approve, Actor: reviewer}); err != nil {
		log.Fatal(err)
	}
	run, err = e.AwaitRun(ctx, "acme", run.ID, engine.Ended)
	fmt.Println(run.Status, string(run.Result), err)
	// Output:
	// waiting
	// Run orders.refund {"amount":120,"order":"77"}?
	// refunds {"amount":120,"order":"77"}
	// completed "receipt 4711" <nil>
}
