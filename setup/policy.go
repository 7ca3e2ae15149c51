package setup

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// readPolicy compiles the rules. Without rules every call needs a person.
func (b *builder) readPolicy(context.Context) error {
	if b.Incomplete("policies") {
		return nil
	}
	rules := b.options.Policy
	if rules == nil && len(b.Policies) > 0 {
		book, err := b.Book(rulebook.Options{Failed: func(rule string, call policy.Call, cause error) {
			b.log.Warn("a rule could not be evaluated: it asks, or denies", "rule", rule, "tool", call.Tool, "run_id", call.Run)
			b.log.Debug("why a rule could not be evaluated", "rule", rule, "run_id", call.Run, "error", cause) // it may quote arguments
		}})
		if err != nil && b.faulty("policies") {
			return nil
		}
		if err != nil {
			return b.wrong("policies", err)
		}
		b.parts.Rules, b.parts.Version, b.parts.Book = len(b.Policies), book.Version(), book
		for i := range b.Policies {
			place := b.Fault(fmt.Sprintf("policies[%d]", i), "", "")
			if b.parts.Places = append(b.parts.Places, place.File); place.Line > 0 {
				b.parts.Places[i] += ":" + strconv.Itoa(place.Line)
			}
		}
		if b.checkToolNames(book); len(b.faults) > 0 {
			return nil
		}
		b.log.Info("policy.loaded", "rules", len(b.Policies), "version", book.Version())
		rules = book
	}
	if rules == nil {
		rules = policy.AskAlways
	}
	b.parts.Policy = patient{rules, b.waits}
	return nil
}

// patient gives an agent's approvals the agent's own time where no rule says how long they stay open.
type patient struct {
	policy.Policy
	waits map[string]time.Duration
}

func (p patient) Judge(ctx context.Context, call policy.Call) (policy.Verdict, error) {
	v, err := p.Policy.Judge(ctx, call)
	if v.ExpiresIn == 0 {
		v.ExpiresIn = cmp.Or(p.waits[call.Agent], p.waits[strings.TrimPrefix(call.Flow, agent.FlowName(""))]) // of the one that handed the work over
	}
	return v, err
}
