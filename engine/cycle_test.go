package engine_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store/sqlite"
)

var reviewer = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"reviewer"}, Assurance: holdshort.AssuranceLogin}

// TestCycleCommits: a run that does a step, pauses, is decided, does another step and completes is three commits.
func TestCycleCommits(t *testing.T) {
	commits := 0
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{OnStatement: func(text string) {
		if text == "COMMIT" {
			commits++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	steps := 0
	f := flow.New("cycle", 1, func(c *flow.Context, in string) (string, error) {
		one, err := flow.Step(c, "one", func(context.Context) (string, error) { steps++; return in + "1", nil })
		if err != nil {
			return "", err
		}
		a, err := flow.Approve(c, "ok", flow.Question{Text: "go on?"})
		if err != nil || !a.Approved() {
			return "no", err
		}
		return flow.Step(c, "two", func(context.Context) (string, error) { steps++; return one + "2", nil })
	})
	e, err := engine.New(s, engine.Config{Flows: []flow.Flow{f}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	before := commits
	run, err := e.Start(t.Context(), "acme", engine.StartInput{Flow: "cycle", Input: []byte(`"a"`), User: "ben"})
	if err != nil || run.Status != holdshort.RunWaiting {
		t.Fatalf("%+v %v", run, err)
	}
	reqs, err := e.Requests(t.Context(), "acme", engine.RequestQuery{Run: run.ID})
	if err != nil || len(reqs.Items) != 1 {
		t.Fatalf("%+v %v", reqs, err)
	}
	out, err := e.Decide(t.Context(), "acme", engine.DecideInput{Request: reqs.Items[0].ID, Action: holdshort.Approve, Actor: reviewer})
	if err != nil {
		t.Fatal(err)
	}
	done, err := e.AwaitRun(t.Context(), "acme", out.Run.ID, engine.Ended)
	if err != nil || done.Status != holdshort.RunCompleted || string(done.Result) != `"a12"` || steps != 2 {
		t.Fatalf("%+v %v %d", done, err, steps)
	}
	if got := commits - before; got != 3 {
		t.Errorf("%d commits for a cycle, want 3", got)
	}
}
