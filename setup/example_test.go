package setup_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/tool"
)

// A program runs the agents of a configuration with a tool of its own.
func ExampleBuild() {
	const file = `
models:
  desk:
    provider: script
    rules:
      - when: {user: "refund order (\\S+)"}
        call: [{tool: orders.refund, args: {order: "$1"}}]
      - when: {tool: orders.refund}
        say: "Done: {result}"
agents:
  refunds: {model: desk, tools: [orders.refund]}
tools:
  orders.refund: {builtin: true}
`
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	quiet := slog.New(slog.DiscardHandler)
	c, err := config.Parse("holdshort.yaml", []byte(file), os.LookupEnv)
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqlite.OpenTemporary(ctx, sqlite.Options{Logger: quiet})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	refund, err := tool.Func("orders.refund", "Pays an order back.", func(_ context.Context, _ tool.Call, in struct {
		Order string `json:"order"`
	}) (string, error) {
		return "paid back " + in.Order, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	parts, err := setup.Build(ctx, c, setup.Options{Store: store, Tools: []tool.Tool{refund}, Logger: quiet})
	if err != nil {
		log.Fatal(err)
	}
	defer parts.Close()
	e, err := engine.New(store, parts.Engine(engine.Config{Logger: quiet}))
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	<-e.Ready()

	run, err := e.Start(ctx, "default", engine.StartInput{Agent: "refunds", User: "ben", Input: json.RawMessage(`"please refund order 77"`)})
	if err != nil {
		log.Fatal(err)
	}
	run, err = e.AwaitRun(ctx, "default", run.ID, engine.Resting)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the run is", run.Status)
	open, err := e.Requests(ctx, "default", engine.RequestQuery{Run: run.ID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(open.Items[0].Question)
	ana := holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"reviewer"}}
	if _, err := e.Decide(ctx, "default", engine.DecideInput{Request: open.Items[0].ID, Action: holdshort.Approve, Actor: ana}); err != nil {
		log.Fatal(err)
	}
	if run, err = e.AwaitRun(ctx, "default", run.ID, engine.Ended); err != nil {
		log.Fatal(err)
	}
	var result struct{ Text string }
	if err := json.Unmarshal(run.Result, &result); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	cancel()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	// Output:
	// the run is waiting
	// Run orders.refund {"order":"77"}?
	// Done: paid back 77
}
