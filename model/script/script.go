// Package script is a language model without one: rules say what it answers to what, the same each time. It is for demos and tests.
// It may import the root package and model.
package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/holdshort/holdshort/model"
)

// Name is what the answers give as their model.
const Name = "script"

// Model answers by rules.
type Model struct {
	rules []rule
}

var _ model.Model = (*Model)(nil)

// New makes a model of the rules, in their order. It fails with holdshort.Invalid where one of them cannot be read, or can never answer; Field
// of that error says which, as in "rules[2].when.user".
func New(rules []Rule) (model.Model, error) {
	compiled, err := compile(rules)
	if err != nil {
		return nil, err
	}
	return &Model{rules: compiled}, nil
}

// Generate answers by the first rule that matches the latest input. Without one it answers with a model.Error of kind Rejected.
func (m *Model) Generate(ctx context.Context, req model.Request, say func(text string)) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, err
	}
	in := latest(req.Messages)
	for i := range m.rules {
		if found, ok := m.rules[i].match(in); ok {
			return m.rules[i].answer(ctx, req, found, say)
		}
	}
	return model.Response{}, &model.Error{Kind: model.Rejected, Message: "no rule of the script matches what came last; a rule without when, at the end, answers everything"}
}

func (r *rule) answer(ctx context.Context, req model.Request, found match, say func(text string)) (model.Response, error) {
	if err := pause(ctx, r.Wait); err != nil {
		return model.Response{}, err
	}
	out := model.Response{Text: found.expand(r.Say), Stop: model.StopEnd, Model: Name}
	for i, spec := range r.Call {
		call, err := spec.call(req, found, i)
		if err != nil {
			return model.Response{}, &model.Error{Kind: model.Malformed, Message: fmt.Sprintf("make the call of %s: %v", spec.Tool, err)}
		}
		out.Calls = append(out.Calls, call)
		out.Stop = model.StopCalls
	}
	if say != nil {
		for word := range strings.SplitAfterSeq(out.Text, " ") {
			if err := ctx.Err(); err != nil {
				return model.Response{}, err
			}
			if word != "" {
				say(word)
			}
		}
	}
	out.Usage = usage(req, out)
	return out, nil
}

func pause(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// callID is the same for the same conversation and another for every other one, so that a run that asks again finds its own calls.
func callID(messages []model.Message, index int) (string, error) {
	all, err := json.Marshal(messages)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(all, "#%d", index))
	return "call_" + hex.EncodeToString(sum[:8]), nil
}

// usage counts words: enough for limits to be tried out.
func usage(req model.Request, out model.Response) model.Usage {
	var u model.Usage
	words := func(text string) int64 { return int64(len(strings.Fields(text))) }
	calls := func(calls []model.Call) (n int64) {
		for _, c := range calls {
			n += words(c.Tool) + words(string(c.Args))
		}
		return n
	}
	u.Input = words(req.System)
	for _, m := range req.Messages {
		u.Input += words(m.Text) + calls(m.Calls)
	}
	u.Output = words(out.Text) + calls(out.Calls)
	return u
}
