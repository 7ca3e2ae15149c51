package config

import (
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// Rule is one policy: a condition, and what then holds.
type Rule struct {
	Name   string  `yaml:"name" doc:"For people and the log. Default: its number."`
	When   string  `yaml:"when" need:"yes" doc:"Condition in CEL over tool, args, effect, reversible, idempotent, requires_approval, changed, hints, cost, agent, flow, actor, session, run, tenant, now. \"true\" is every call."`
	Ask    *Ask    `yaml:"ask" doc:"A person decides. Beside allow: who is asked past a limit."`
	Allow  bool    `yaml:"allow" doc:"It runs."`
	Deny   bool    `yaml:"deny" doc:"It does not run."`
	Limits []Limit `yaml:"limits" doc:"What the calls of this rule may add up to."`
}

// Ask says who decides, and how.
type Ask struct {
	Owner     bool     `yaml:"owner" doc:"The session's own user may."`
	Users     []string `yaml:"users" doc:"These people may."`
	Roles     []string `yaml:"roles" doc:"Whoever has one of these roles may. Default: reviewer."`
	Quorum    int      `yaml:"quorum" min:"0" doc:"How many approvals it takes. Default: 1."`
	Separate  bool     `yaml:"separate" doc:"Whoever asked never counts."`
	ExpiresIn Duration `yaml:"expires_in" doc:"How long it waits: 10m, 24h, or never. Default: 10 minutes."`
	ValidFor  Duration `yaml:"valid_for" doc:"How long an approval is good. Default: 24h."`
	Undo      Duration `yaml:"undo" doc:"How long the web page keeps a decision back so that it can be undone: up to 30s, or never. Default: as the person likes, 5s."`
	OnTimeout string   `yaml:"on_timeout" enum:"fail,resume,clear,escalate,approve" doc:"What happens when nobody answers. Default: fail."`
	OnReject  string   `yaml:"on_reject" enum:"continue,cancel,return" doc:"What happens after a no. Default: continue."`
	Editable  []string `yaml:"editable" doc:"Arguments that a decider may change; *: all."`
	Redacted  []string `yaml:"redacted" doc:"Arguments that are hidden until somebody who may decide asks for them."`
	Blind     []string `yaml:"blind" doc:"Redacted arguments that may be approved unseen."`
	Priority  string   `yaml:"priority" enum:"low,normal,high,critical" doc:"Default: normal."`
	Question  string   `yaml:"question" doc:"Text of the question, with {tool}, {args.NAME}, {agent}, {actor}, {effect} and {cost} filled in. Default: one that names the call."`
}

// Limit bounds calls, repeats of one call, or what calls cost.
type Limit struct {
	Calls   int    `yaml:"calls" min:"0" doc:"How many calls."`
	Repeats int    `yaml:"repeats" min:"0" doc:"How many calls of one tool with the same arguments."`
	Spend   int    `yaml:"spend" min:"0" doc:"How much the calls may cost together, in the unit of the tool's cost."`
	Per     string `yaml:"per" need:"yes" enum:"run,session,day" doc:"What it is counted over."`
	Past    string `yaml:"past" enum:"ask,deny" doc:"What happens past it. Default: ask."`
	Name    string `yaml:"name" doc:"Rules that use one name count together. Default: the rule's name."`
}

// Rules are the policies as package rulebook has them, in the file's order.
func (c Config) Rules() []rulebook.Rule {
	rules := make([]rulebook.Rule, len(c.Policies))
	for i, r := range c.Policies {
		rules[i] = r.rule()
	}
	return rules
}

// Book compiles the policies. A configuration that was checked has no faults here.
func (c Config) Book(opts rulebook.Options) (*rulebook.Book, error) {
	return rulebook.Compile(c.Rules(), opts)
}

func (r Rule) rule() rulebook.Rule {
	out := rulebook.Rule{Name: r.Name, When: r.When}
	if r.Ask != nil {
		out.Then = r.Ask.verdict()
	}
	switch { // the stricter, where somebody wrote more than one and did not check
	case r.Deny:
		out.Then = policy.Verdict{Decision: policy.Deny}
	case r.Allow:
		out.Then.Decision = policy.Allow
	default:
		out.Then.Decision = policy.Ask
	}
	for _, l := range r.Limits {
		out.Limits = append(out.Limits, l.limit())
	}
	return out
}

func (a Ask) verdict() policy.Verdict {
	return policy.Verdict{
		Audience:  holdshort.Audience{Owner: a.Owner, Users: a.Users, Roles: a.Roles, Quorum: a.Quorum, Separate: a.Separate},
		ExpiresIn: time.Duration(a.ExpiresIn), ValidFor: time.Duration(a.ValidFor), Undo: time.Duration(a.Undo),
		OnTimeout: holdshort.OnTimeout(a.OnTimeout), OnReject: holdshort.OnReject(a.OnReject),
		Editable: a.Editable, Redacted: a.Redacted, Blind: a.Blind, Priority: holdshort.Priority(a.Priority), Question: a.Question,
	}
}

func (l Limit) limit() rulebook.Limit {
	out := rulebook.Limit{Name: l.Name, Unit: rulebook.Calls, Scope: policy.Scope(l.Per), Max: int64(l.Calls), Deny: l.Past == string(policy.Deny)}
	switch {
	case l.Repeats > 0:
		out.Unit, out.Max = rulebook.Repeats, int64(l.Repeats)
	case l.Spend > 0:
		out.Unit, out.Max = rulebook.Spend, int64(l.Spend)
	}
	return out
}
