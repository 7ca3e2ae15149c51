package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// wait is how long the demo's requests stay open: whoever tries it may come back tomorrow.
const wait = 72 * time.Hour

// Rules of the desk: reading is free, small refunds too; finance decides on large ones, reviewers on the rest.
var Rules policy.Policy = policy.Func(func(_ context.Context, call policy.Call) (policy.Verdict, error) {
	v := policy.Verdict{Decision: policy.Ask, Version: "demo-1", ExpiresIn: wait, Audience: holdshort.Audience{Roles: []string{policy.Reviewer}}}
	switch {
	case call.Effect == "read":
		v.Decision, v.Rule = policy.Allow, "reading is free"
	case call.Tool == refund:
		return refundRule(call.Args, v)
	case call.Tool == cancel:
		v.Rule = "cancellations"
	case call.Tool == sendMail:
		v.Rule, v.Editable = "letters to customers", []string{"subject", "body"}
	default:
		v.Rule = "what nobody spoke of"
	}
	return v, nil
})

func refundRule(args json.RawMessage, v policy.Verdict) (policy.Verdict, error) {
	var in refundArgs
	if err := json.Unmarshal(args, &in); err != nil {
		return v, err
	}
	if in.Amount <= 50 {
		v.Decision, v.Rule = policy.Allow, "small refunds"
		return v, nil
	}
	v.Rule, v.Editable, v.Audience.Roles = "large refunds", []string{"amount", "reason"}, []string{"finance"}
	v.Question = fmt.Sprintf("Refund %.2f EUR for order %s?", in.Amount, in.Order)
	if in.Amount > 500 {
		v.Priority = holdshort.PriorityHigh
	}
	return v, nil
}
