package policy_test

import (
	"context"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// Where a person has to be asked, the clock is none: neither for what a tool's owner wants asked about, nor for what nobody agreed to.
func TestTheClockApprovesNothingThatIsGuarded(t *testing.T) {
	rule := policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Decision: policy.Ask, Rule: "by the clock", OnTimeout: holdshort.TimeoutApprove}, nil
	})
	for _, call := range []policy.Call{{Known: true}, {Known: true, Guarded: true}, {Known: true, Changed: true}} {
		v := policy.Judge(t.Context(), rule, call)
		if approves := v.OnTimeout == holdshort.TimeoutApprove; approves == (call.Guarded || call.Changed) || v.Decision != policy.Ask || v.Rule != "by the clock" {
			t.Errorf("%+v of %+v", v, call)
		}
	}
}
