package rulebook_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
	"github.com/holdshort/holdshort/tool"
)

type payment struct {
	To     string  `json:"to"`
	Amount float64 `json:"amount"`
}

// pays makes one payment after the other and says what became of each.
var pays = flow.New("pay", 1, func(c *flow.Context, in []payment) ([]string, error) {
	out := make([]string, len(in))
	for i, p := range in {
		_, err := flow.Call[any](c, fmt.Sprintf("pay-%d", i+1), "pay", p)
		if out[i] = "paid"; err != nil {
			out[i] = string(holdshort.CodeOf(err))
		}
	}
	return out, nil
})

func kit(t *testing.T, rules ...rulebook.Rule) (*holdshorttest.Kit, *holdshorttest.Counted) {
	t.Helper()
	book, err := rulebook.Compile(rules, rulebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pay := holdshorttest.Counter("pay").Declared(func(d *tool.Tool) {
		d.Cost = func(args json.RawMessage) int64 {
			var p payment
			if json.Unmarshal(args, &p) != nil {
				return 1 << 40
			}
			return int64(p.Amount)
		}
	})
	return holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{pays}, Tools: []tool.Tool{pay.Tool()}, Policy: book}), pay
}

func limited(l rulebook.Limit) rulebook.Rule {
	return rulebook.Rule{Name: "small", When: `args.amount <= 100`, Then: policy.Verdict{Decision: policy.Allow, Audience: holdshort.Audience{Roles: []string{"finance"}}}, Limits: []rulebook.Limit{l}}
}

func payments(amounts ...float64) (list []payment) {
	for _, a := range amounts {
		list = append(list, payment{"ben", a})
	}
	return list
}

func TestLimitsInTheKernel(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit rulebook.Limit
		pays  []payment
		want  string // of the first run
		calls int
		then  string // of a second run, on the same day
	}{
		{"calls", rulebook.Limit{Max: 2, Scope: policy.PerRun, Deny: true}, payments(1, 2, 3), "[paid paid limit_reached]", 2, "[paid paid limit_reached]"},
		{"calls in a day", rulebook.Limit{Max: 2, Scope: policy.PerDay, Deny: true}, payments(1, 2, 3), "[paid paid limit_reached]", 2, "[limit_reached limit_reached limit_reached]"},
		{"repeats", rulebook.Limit{Unit: rulebook.Repeats, Max: 2, Scope: policy.PerRun, Deny: true}, payments(5, 5, 6, 5, 6, 6), "[paid paid paid limit_reached paid limit_reached]", 4, "[paid paid paid limit_reached paid limit_reached]"},
		{"spend", rulebook.Limit{Unit: rulebook.Spend, Max: 100, Scope: policy.PerDay, Deny: true}, payments(60, 50, 40, 1), "[paid limit_reached paid limit_reached]", 2, "[limit_reached limit_reached limit_reached limit_reached]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, pay := kit(t, limited(tt.limit))
			for i, want := range []string{tt.want, tt.then} {
				got := holdshorttest.Result[[]string](k, k.Start("pay", tt.pays))
				if fmt.Sprint(got) != want {
					t.Errorf("run %d: %v, want %s", i+1, got, want)
				}
				if i == 0 && pay.Calls() != tt.calls {
					t.Errorf("%d calls", pay.Calls())
				}
			}
		})
	}
}

// Past a limit a person is asked: those whom the rule names. What they approve runs; the next asks again, until the day is over.
func TestPastALimitSomebodyIsAsked(t *testing.T) {
	k, pay := kit(t, limited(rulebook.Limit{Max: 1, Scope: policy.PerDay}))
	run := k.Start("pay", payments(1, 2, 3))
	req := k.Request(run)
	if pay.Calls() != 1 || req.Reason != "policy_violation" || req.Rule != "small" || req.Audience.Roles[0] != "finance" {
		t.Fatalf("%d calls, %+v", pay.Calls(), req)
	}
	k.As("ana", "finance").Approve(req)
	k.As("ana", "finance").Reject(k.Request(run), "enough")
	if got := holdshorttest.Result[[]string](k, run); fmt.Sprint(got) != "[paid paid denied]" || pay.Calls() != 2 {
		t.Errorf("%v, %d calls", got, pay.Calls())
	}
	k.Advance(24 * time.Hour)
	if got := holdshorttest.Result[[]string](k, k.Start("pay", payments(1))); fmt.Sprint(got) != "[paid]" {
		t.Errorf("the next day: %v", got)
	}
}

// A rule that cannot be evaluated stops a call on its way to the tool, whatever else the policy allows.
func TestNothingUnapprovedRuns(t *testing.T) {
	all := rulebook.Rule{Name: "all", When: "true", Then: policy.Verdict{Decision: policy.Allow}}
	k, pay := kit(t, rulebook.Rule{Name: "rate", When: `1000 / args.amount < 1`, Then: policy.Verdict{Decision: policy.Ask, OnTimeout: holdshort.TimeoutApprove}}, all)
	run := k.Start("pay", payments(50, 0))
	req := k.Request(run)
	if pay.Calls() != 1 || req.Reason != "policy_error" || req.OnTimeout != holdshort.TimeoutFail {
		t.Fatalf("%d calls, %+v", pay.Calls(), req)
	}
	k.Advance(time.Hour)
	if k.Run(run).Status != holdshort.RunFailed || pay.Calls() != 1 {
		t.Errorf("%s, %d calls", k.Run(run).Status, pay.Calls())
	}
	k, pay = kit(t, rulebook.Rule{Name: "rate", When: `1000 / args.amount < 1`, Then: policy.Verdict{Decision: policy.Deny}}, all)
	if got := holdshorttest.Result[[]string](k, k.Start("pay", payments(50, 0))); fmt.Sprint(got) != "[paid denied]" || pay.Calls() != 1 {
		t.Errorf("%v, %d calls", got, pay.Calls())
	}
}
