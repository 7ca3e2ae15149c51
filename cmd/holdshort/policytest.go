package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

type policyTestCommand struct {
	File string `arg:"" help:"YAML file with cases."`
	rulesFlag
	jsonFlag
}

func (policyTestCommand) Help() string {
	return `Asks the policies about each call of the file and compares. Nothing is called, no store is opened. Exit 0: every case is as expected. Exit 1: one is not.

A case names a call and what is expected; what the call leaves out is what the configuration declares of its tool:

    cases:
      - name: big refunds need two of finance
        call: {tool: orders.refund, args: {amount: 900}}
        expect: {decision: ask, rule: big refunds, roles: [finance], quorum: 2}

Examples:

    holdshort policy test policy_test.yaml
    holdshort policy test policy_test.yaml --config changed.yaml --json`
}

// tested is the command's JSON.
type tested struct {
	File     string       `json:"file"`
	Version  string       `json:"policy_version"`
	OK       bool         `json:"ok"`
	Passed   int          `json:"passed"`
	Failed   int          `json:"failed"`
	Cases    []testedCase `json:"cases"`
	Untested []string     `json:"untested_rules"` // that no case ends at
}

type testedCase struct {
	Name     string       `json:"name"`
	OK       bool         `json:"ok"`
	Decision string       `json:"decision,omitempty"`
	Rule     string       `json:"rule,omitempty"`
	Cause    string       `json:"cause,omitempty"` // why a condition could not be evaluated, or what to do about the case
	Wrong    []difference `json:"wrong,omitempty"`
	matched  string       // the rule, even where the tool's owner has the last word
}

type difference struct {
	Field string `json:"field"`
	Want  string `json:"want"`
	Got   string `json:"got"`
}

func (c *policyTestCommand) Run(ctx context.Context, out *console) error {
	read, book, err := c.rules(out)
	if err != nil {
		return err
	}
	cases, err := config.ReadCases(c.File)
	if err != nil {
		return shownFaults(out, err)
	}
	result := tested{File: c.File, Version: book.Version(), Cases: []testedCase{}, Untested: []string{}}
	reached := map[string]bool{}
	for _, one := range cases.Cases {
		t := test(ctx, read, book, one)
		if reached[t.matched] = true; t.OK {
			result.Passed++
		} else {
			result.Failed++
		}
		result.Cases = append(result.Cases, t)
	}
	for _, name := range book.Names() {
		if !reached[name] {
			result.Untested = append(result.Untested, name)
		}
	}
	result.OK = result.Failed == 0
	if c.JSON {
		err = out.encode(result)
	} else {
		err = showTested(out, result)
	}
	if err == nil && !result.OK {
		return verdict(exitFailed)
	}
	return err
}

// test runs one case, exactly as the kernel would judge the call.
func test(ctx context.Context, read config.Config, book *rulebook.Book, one config.Case) testedCase {
	t := testedCase{Name: one.Name}
	call, err := calledIn(read, one.Call)
	if err != nil {
		t.Wrong, t.Cause = []difference{{"call", "one that can be judged", messageOf(err)}}, holdshort.HintOf(err)
		return t
	}
	v := policy.Judge(ctx, book, call)
	t.Decision, t.Rule = string(v.Decision), v.Rule
	matched, err := book.Explain(call)
	if t.matched = matched.Rule; err != nil {
		t.Cause = err.Error()
	}
	t.Wrong = differences(one.Expect, v)
	t.OK = len(t.Wrong) == 0
	return t
}

// differences compares what was expected, as far as it was, with the verdict.
func differences(want config.Expect, v policy.Verdict) (wrong []difference) {
	text := func(field, want, got string) {
		if want != "" && want != got {
			wrong = append(wrong, difference{field, want, got})
		}
	}
	truth := func(field string, want *bool, got bool) {
		if want != nil {
			text(field, fmt.Sprint(*want), fmt.Sprint(got))
		}
	}
	set := func(field string, want, got []string) {
		if want == nil {
			return
		}
		a, b := slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
		if !slices.Equal(a, b) {
			wrong = append(wrong, difference{field, "[" + strings.Join(a, ", ") + "]", "[" + strings.Join(b, ", ") + "]"})
		}
	}
	span := func(field string, want *config.Duration, got time.Duration) {
		if want != nil {
			text(field, lasts(time.Duration(*want)), lasts(got))
		}
	}
	text("decision", want.Decision, string(v.Decision))
	text("rule", want.Rule, v.Rule)
	text("reason", want.Reason, v.Reason)
	truth("owner", want.Owner, v.Audience.Owner)
	set("users", want.Users, v.Audience.Users)
	set("roles", want.Roles, v.Audience.Roles)
	if want.Quorum > 0 {
		text("quorum", fmt.Sprint(want.Quorum), fmt.Sprint(v.Audience.Needed()))
	}
	truth("separate", want.Separate, v.Audience.Separate)
	span("expires_in", want.ExpiresIn, v.ExpiresIn)
	span("valid_for", want.ValidFor, v.ValidFor)
	text("on_timeout", want.OnTimeout, string(v.OnTimeout))
	text("on_reject", want.OnReject, string(v.OnReject))
	set("editable", want.Editable, v.Editable)
	set("redacted", want.Redacted, v.Redacted)
	set("blind", want.Blind, v.Blind)
	text("priority", want.Priority, string(v.Priority))
	text("question", want.Question, v.Question)
	if want.Limits != nil {
		text("limits", fmt.Sprint(*want.Limits), fmt.Sprint(len(v.Limits)))
	}
	return wrong
}

func lasts(d time.Duration) string {
	if d == policy.Never {
		return "never"
	}
	return d.String()
}

func showTested(out *console, r tested) error {
	err := table(out, []string{"CASE", "", "DECISION", "RULE"}, len(r.Cases), func(i int) []string {
		c := r.Cases[i]
		word := "ok"
		if !c.OK {
			word = "FAIL"
		}
		return []string{c.Name, word, c.Decision, c.Rule}
	})
	for _, c := range r.Cases {
		if c.OK {
			continue
		}
		out.printf("\n%s\n", c.Name)
		for _, w := range c.Wrong {
			out.printf("  %s: want %s, got %s\n", w.Field, w.Want, w.Got)
		}
		if c.Cause != "" {
			out.printf("  %s\n", c.Cause)
		}
	}
	out.printf("\n%s as expected, %d not\n", plural(r.Passed, "case"), r.Failed)
	if len(r.Untested) > 0 {
		out.printf("no case ends at: %s\n", strings.Join(r.Untested, ", "))
	}
	return err
}
