package command_test

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
	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/command"
)

var do = flow.New("do", 1, func(c *flow.Context, in map[string]string) (json.RawMessage, error) {
	return flow.Call[json.RawMessage](c, "do", "run", in)
})

// everything is allowed.
var everything = policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
	return policy.Verdict{Decision: policy.Allow, Rule: "everything"}, nil
})

func kit(t *testing.T, c command.Config) *holdshorttest.Kit {
	t.Helper()
	made, err := command.New("run", c)
	if err != nil {
		t.Fatal(err)
	}
	return holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{do}, Tools: []tool.Tool{made}, Policy: everything})
}

// A program that ends with an error may have done half of it: a person says what became of it.
func TestFailedWriteIsUnknown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	k := kit(t, command.Config{Argv: []string{"sh", "-c", `echo x >> "$1"; exit 1`, "--", "{file}"}})
	run := k.Start("do", map[string]string{"file": file})
	k.Advance(2 * time.Minute)
	if ops := k.Operations(run); len(ops) != 1 || ops[0].Status != holdshort.OperationUnknown || k.Request(run).Kind != holdshort.Reconcile {
		t.Errorf("the operations are %+v", ops)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "x\n" {
		t.Errorf("it ran %q, %v", raw, err)
	}
}

func TestRefusingWriteIsFailed(t *testing.T) {
	k := kit(t, command.Config{Argv: []string{"sh", "-c", "echo no >&2; exit 2"}, DefiniteExit: []int{2}})
	run := k.Start("do", map[string]string{})
	if f := k.Failure(run); f.Code != holdshort.ToolFailed || k.Operations(run)[0].Status != holdshort.OperationFailed {
		t.Errorf("fails with %+v", f)
	}
}

// A shell asks, whatever the rules allow.
func TestShellIsAskedAbout(t *testing.T) {
	k := kit(t, command.Config{Shell: true})
	run := k.Start("do", map[string]string{"command": "echo hi"})
	if k.Run(run).Status != holdshort.RunWaiting || len(k.Operations(run)) != 0 {
		t.Fatalf("the run is %s", k.Run(run).Status)
	}
	k.As("ana", "reviewer").Approve(k.Request(run))
	var out command.Output
	k.Result(run, &out)
	if out.Stdout != "hi\n" {
		t.Errorf("gives %+v", out)
	}
}
