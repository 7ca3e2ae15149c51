package holdshorttest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

type Refund struct {
	Order  string `json:"order"`
	Amount int    `json:"amount"`
}

// refunds looks an order up and pays it back; the policy asks finance about big ones.
var refunds = flow.New("refund", 1, func(c *flow.Context, in Refund) (string, error) {
	customer, err := flow.Step(c, "customer", func(context.Context) (string, error) { return "customer of " + in.Order, nil })
	if err != nil {
		return "", err
	}
	id, err := flow.Call[string](c, "pay", "refund", in)
	return customer + " got " + id, err
})

var finance = policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
	return policy.Verdict{Decision: policy.Ask, Rule: "big refunds", Audience: holdshort.Audience{Roles: []string{"finance"}}, Editable: []string{"amount"}}, nil
})

func newRefunds(t holdshorttest.TB) (*holdshorttest.Kit, *holdshorttest.Counted) {
	refund := holdshorttest.Counter("refund").Returning("re_1")
	return holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refund.Tool()}, Policy: finance}), refund
}

func TestScriptedApproval(t *testing.T) {
	k, refund := newRefunds(t)
	k.WhenAsked(holdshorttest.Match{Tool: "refund"}).By("ana", "finance").After(3 * time.Minute).Approve()
	run := k.As("ben").Start("refund", Refund{"77", 120})
	if got := k.Run(run).Status; got != holdshort.RunWaiting || refund.Calls() != 0 {
		t.Fatalf("%s after %d calls: nobody has decided yet", got, refund.Calls())
	}
	if got := holdshorttest.Result[string](k, run); got != "customer of 77 got re_1" {
		t.Errorf("result %q", got)
	}
	if got := k.Now().Sub(holdshorttest.Monday).Round(time.Second); got != 3*time.Minute {
		t.Errorf("the clock moved by %s, want what ana took", got)
	}
	for id, n := range refund.Operations() {
		if n != 1 || id != k.Operations(run)[0].ID {
			t.Errorf("operation %s was called %d times, the ledger has %+v", id, n, k.Operations(run))
		}
	}
	d, ok := k.Decision(k.Requests(run)[0].ID)
	if !ok || d.Actor.ID != "ana" || d.Action != holdshort.Approve {
		t.Errorf("decision %+v", d)
	}
	if got := k.Events(run, "run.*"); len(got) < 4 || got[0].Type != "run.created" || got[len(got)-1].Type != "run.completed" {
		t.Errorf("events %+v", got)
	}
}

// recorder is a test that remembers how it failed.
type recorder struct {
	testing.TB
	text    string
	cleanup []func()
}

func (r *recorder) Helper()                        {}
func (r *recorder) Cleanup(fn func())              { r.cleanup = append(r.cleanup, fn) }
func (r *recorder) Errorf(format string, a ...any) { r.text += fmt.Sprintf(format, a...) + "\n" }
func (r *recorder) Fatalf(format string, a ...any) {
	r.Errorf(format, a...)
	panic(r)
}

// failing runs a test within the test and gives what it said when it failed.
func failing(t *testing.T, fn func(t holdshorttest.TB)) string {
	t.Helper()
	r := &recorder{}
	func() {
		defer func() {
			if p := recover(); p != nil && p != r {
				panic(p)
			}
		}()
		fn(r)
	}()
	for _, fn := range r.cleanup {
		fn()
	}
	return r.text
}

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the failure does not say %q:\n%s", part, text)
		}
	}
}
