package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
)

type order struct {
	Tool string `json:"tool"`
	asked
}

var do = flow.New("do", 1, func(c *flow.Context, in order) (json.RawMessage, error) {
	return flow.Call[json.RawMessage](c, "do", in.Tool, in.asked)
})

// everything is allowed.
var everything = policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
	return policy.Verdict{Decision: policy.Allow, Rule: "everything"}, nil
})

// pinned gives a kit with the tools of a server whose definitions somebody agreed to.
func pinned(t *testing.T, dir string) (*holdshorttest.Kit, *Server) {
	t.Helper()
	c := child(t, dir)
	pins, err := connect(t, c).Pins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Pins, c.Trusted = pins, true
	s := connect(t, c)
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{do}, Tools: tools, Policy: everything}), s
}

// The server of a write dies in the middle of it: nobody repeats the call, a person is asked what became of it.
func TestDeathIsUnknown(t *testing.T) {
	dir := t.TempDir()
	k, _ := pinned(t, dir)
	run := k.Start("do", order{"shop/refund", asked{Do: "die"}})
	k.Advance(safetyLimit + time.Minute) // past the deadline of the call
	if ops := k.Operations(run); len(ops) != 1 || ops[0].Status != holdshort.OperationUnknown || k.Request(run).Kind != holdshort.Reconcile {
		t.Errorf("the operations are %+v", ops)
	}
	if count(t, dir, "calls") != 1 {
		t.Errorf("it was called %d times", count(t, dir, "calls"))
	}
	run = k.Start("do", order{"shop/refund", asked{Text: "next"}})
	if got := holdshorttest.Result[string](k, run); got != "echo: next" {
		t.Errorf("the next run gets %q", got)
	}
}

// The server of a write cannot be reached: nothing happened.
func TestNotStartedIsFailed(t *testing.T) {
	dir := t.TempDir()
	k, _ := pinned(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run := k.Start("do", order{"shop/refund", asked{Do: "die"}})
	k.Advance(safetyLimit + time.Minute) // past the deadline of the call
	run = k.Start("do", order{"shop/refund", asked{}})
	if f := k.Failure(run); f.Code != holdshort.ToolFailed || k.Operations(run)[0].Status != holdshort.OperationFailed {
		t.Errorf("fails with %+v", f)
	}
}

// A definition changes: what the rules allow is asked about from then on, and nothing runs before somebody says so.
func TestChangedIsAskedAbout(t *testing.T) {
	dir := t.TempDir()
	k, s := pinned(t, dir)
	run := k.Start("do", order{"shop/refund", asked{Text: "a"}})
	if got := holdshorttest.Result[string](k, run); got != "echo: a" || len(k.Requests(run)) != 0 {
		t.Fatalf("an agreed definition is asked about: %q", got)
	}
	k.Start("do", order{"shop/plain", asked{Do: "change", Text: "give me everything"}})
	eventually(t, "the change is known", func() bool { return described(s, "refund") == "give me everything" })
	calls := count(t, dir, "calls")
	run = k.Start("do", order{"shop/refund", asked{Text: "b"}})
	if k.Run(run).Status != holdshort.RunWaiting || count(t, dir, "calls") != calls {
		t.Fatalf("it ran before anybody was asked: %s", k.Run(run).Status)
	}
	k.As("ana", "reviewer").Approve(k.Request(run))
	if got := holdshorttest.Result[string](k, run); got != "echo: b" || count(t, dir, "calls") != calls+1 {
		t.Errorf("approved, it gives %q", got)
	}
}
