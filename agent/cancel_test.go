package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/model"
)

// Whoever cancels a run while the model thinks ends the thinking, and nothing of the answer counts.
func TestCancelWhileTheModelThinks(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	m := model.Func(func(ctx context.Context, _ model.Request, _ func(string)) (model.Response, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return model.Response{Calls: []model.Call{call("b", "refund", `{"order":"1"}`)}, Stop: model.StopCalls}, nil
	})
	pay := refund()
	k := desk(t, m, nil, pay)
	id := holdshort.NewRunID(k.Now())
	started := make(chan error, 1)
	go func() {
		_, err := k.Engine().Start(context.Background(), k.Tenant(), engine.StartInput{ID: id, Agent: "desk", User: "carl", Input: json.RawMessage(`"go"`)})
		started <- err
	}()
	<-began
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	ops := holdshort.Actor{ID: "ops", Kind: holdshort.Person, Roles: []string{"operator"}, Assurance: holdshort.AssuranceLogin}
	if _, err := k.Engine().Cancel(context.Background(), k.Tenant(), id, ops, "enough"); err != nil {
		t.Fatal(err)
	}
	<-ended
	k.Settle()
	if run := k.Run(id); run.Status != holdshort.RunCanceled || pay.Calls() != 0 || len(k.Requests(id)) != 0 {
		t.Errorf("%s, %d calls, %d requests", run.Status, pay.Calls(), len(k.Requests(id)))
	}
	for _, e := range k.Journal(id) {
		if e.Key == "model-1" {
			t.Errorf("what came after the cancellation is recorded: %s", e.Outcome)
		}
	}
}
