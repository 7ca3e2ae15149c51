package torture

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/tool"
)

const workerTimeout = time.Second

// callArgs are what the torture's tools take. The policy and the world read them too, so that whoever starts a run decides what it meets.
type callArgs struct {
	Amount    int64               `json:"amount"` // the one field that may be edited
	Expires   int                 `json:"expires_ms,omitempty"`
	Key       string              `json:"key"`
	OnReject  holdshort.OnReject  `json:"on_reject,omitempty"`
	OnTimeout holdshort.OnTimeout `json:"on_timeout,omitempty"`
	Quorum    int                 `json:"quorum,omitempty"`
	World     string              `json:"world"`
}

// bigAmount needs two people: an edit can go beyond what one may approve.
const bigAmount = 900

// The tools: pay has nothing but its answer; book can be asked what became of it; ship knows an operation that it has seen; lookup changes
// nothing; never is what the policy does not allow.
const (
	payTool    = "pay"
	bookTool   = "book"
	shipTool   = "ship"
	lookupTool = "lookup"
	neverTool  = "never"
)

var schemaOfArgs = json.RawMessage(`{"type":"object","required":["amount","key","world"],"properties":{"amount":{"type":"integer","minimum":0},"key":{"type":"string"},"world":{"type":"string"}}}`)

func realTools(w outside) []tool.Tool {
	named := func(name string, once bool) tool.Tool {
		return tool.Tool{Name: name, Schema: schemaOfArgs, Timeout: workerTimeout, Idempotent: once, Call: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			return w.call(ctx, name, once, call)
		}}
	}
	book, lookup := named(bookTool, false), named(lookupTool, true)
	book.Reconcile = func(ctx context.Context, call tool.Call) (tool.Finding, error) {
		e, err := w.settle(ctx, call.OperationID, call.Attempt)
		if err != nil {
			return tool.Finding{}, err
		}
		if e.Count == 0 {
			return tool.Finding{State: tool.NotHappened}, nil
		}
		return tool.Finding{State: tool.Happened, Result: tool.Result{Value: json.RawMessage(`{"receipt":"found"}`)}}, nil
	}
	lookup.Effect = tool.Read
	return []tool.Tool{named(payTool, false), book, named(shipTool, true), lookup, named(neverTool, false)}
}

// realRules is the policy: reviewers approve, as many as the arguments say.
var realRules = policy.Func(func(_ context.Context, call policy.Call) (policy.Verdict, error) {
	switch call.Tool {
	case neverTool:
		return policy.Verdict{Decision: policy.Deny, Rule: "never"}, nil
	case lookupTool:
		return policy.Verdict{Decision: policy.Allow, Rule: "reads"}, nil
	}
	var args callArgs
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return policy.Verdict{}, err
	}
	v := policy.Verdict{Decision: policy.Ask, Rule: "writes", Audience: holdshort.Audience{Roles: []string{policy.Reviewer}, Quorum: args.Quorum}, ExpiresIn: policy.Never,
		OnTimeout: args.OnTimeout, OnReject: args.OnReject, Editable: []string{"amount"}}
	if args.Amount >= bigAmount {
		v.Rule, v.Audience.Quorum = "big amounts", max(2, args.Quorum)
	}
	if args.Expires > 0 {
		v.ExpiresIn = time.Duration(args.Expires) * time.Millisecond
	}
	return v, nil
})
