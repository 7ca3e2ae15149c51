package inbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/replay"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// tryView is the try-out form as somebody filled it in, and what came of it.
type tryView struct {
	Tools, Agents                                         []string
	Tool, Args, Agent, Flow, User, Session, Run, At, Cost string
	Outside                                               bool
	Wrong                                                 map[string]string // by field
	Verdict                                               *verdictView
}

// verdictView is what holds for the call.
type verdictView struct {
	Word, Tone string
	Says       string
	Rule       string // as the log would have it
	Number     int    // of the rule, 0 for none
	Why        []string
	Cause      string
	Closed     string // what fails closed means here
	Question   string
	Saw        []fact
}

// fact is one thing that the rules saw.
type fact struct{ Name, Value string }

func (v *visit) emptyTry() tryView {
	tools, agents := v.options.Rules.Known()
	return tryView{Tools: tools, Agents: agents, Args: "{}"}
}

// tryRules judges a call that nobody makes.
func (v *visit) tryRules() error {
	if err := v.mayRead(); err != nil {
		return err
	}
	if v.options.Rules == nil {
		return &holdshort.Error{Code: holdshort.NotFound, Op: "try rules", Message: "this server shows no rules", Hint: "look at its configuration"}
	}
	form, err := v.form()
	if err != nil {
		return err
	}
	try := v.emptyTry()
	trial := try.read(form, v.tenant(), v.now)
	status := http.StatusOK
	if len(try.Wrong) > 0 {
		status = http.StatusUnprocessableEntity
	} else {
		try.Verdict = verdictOf(v.options.Rules.Try(v.ctx, trial))
	}
	if v.partial() {
		return v.part(http.StatusOK, "rules_try", try)
	}
	view := v.policyView()
	view.Try = try
	return v.page(status, "policy", "Policy", view)
}

// read takes the form as the call that it describes.
func (t *tryView) read(form url.Values, tenant holdshort.TenantID, now time.Time) replay.Trial {
	text := func(name string) string { return strings.TrimSpace(form.Get(name)) }
	t.Tool, t.Args, t.Agent, t.Flow, t.User, t.Session, t.Run, t.At, t.Cost = text("tool"), text("args"), text("agent"), text("flow"), text("user"), text("session"), text("run"), text("at"), text("cost")
	t.Outside, t.Wrong = form.Get("outside") == "yes", map[string]string{}
	trial := replay.Trial{Outside: t.Outside, Call: policy.Call{Tenant: tenant, Tool: t.Tool, Agent: t.Agent, Flow: t.Flow, User: t.User, Session: holdshort.SessionID(t.Session), Run: holdshort.RunID(t.Run), Now: now}}
	if t.Tool == "" {
		t.Wrong["tool"] = "Name a tool."
	}
	if t.Agent != "" && t.Flow == "" {
		trial.Call.Flow = agent.FlowName(t.Agent)
	}
	t.Args = cmp.Or(t.Args, "{}")
	args, err := holdshort.Canonical([]byte(t.Args))
	if err != nil {
		t.Wrong["args"] = argsFault(t.Args, err)
	}
	trial.Call.Args = args
	if t.At != "" {
		at, err := moment(t.At)
		if err != nil {
			t.Wrong["at"] = "Write a moment such as 2026-01-31T22:00, in UTC."
		}
		trial.Call.Now = at
	}
	if t.Cost != "" {
		cost, err := strconv.ParseInt(t.Cost, 10, 64)
		if err != nil || cost < 0 {
			t.Wrong["cost"] = "Write a whole number from 0, or leave it empty for what the tool says."
		}
		trial.Call.Cost, trial.Costs = cost, true
	}
	return trial
}

// argsFault says what is wrong with arguments, and where.
func argsFault(text string, err error) string {
	var any json.RawMessage
	wrong := json.NewDecoder(strings.NewReader(text)).Decode(&any)
	if wrong == nil { // it is JSON, and means more than one thing
		return capital(refusalOf(err).Detail) + "."
	}
	syntax, ok := wrong.(*json.SyntaxError)
	if !ok || syntax.Offset < 1 || int(syntax.Offset) > len(text) {
		return "This is no JSON: it ends too early."
	}
	before := text[:syntax.Offset]
	return "This is no JSON: line " + strconv.Itoa(strings.Count(before, "\n")+1) + ", character " + strconv.Itoa(len(before)-strings.LastIndexByte(before, '\n')-1) + "."
}

// moment reads a time as browsers and people write it, in UTC where they do not say.
func moment(text string) (at time.Time, err error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		if at, err = time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return at, err
}

// verdictOf says what holds and why.
func verdictOf(t replay.Verdict) *verdictView {
	out := &verdictView{Rule: t.Rule, Number: t.Number, Cause: t.Cause, Question: t.Question, Saw: sawOf(t.Call)}
	out.Word, out.Tone = map[policy.Decision]string{policy.Allow: "It would run", policy.Deny: "It would be denied"}[t.Decision], ""
	if out.Word == "" {
		out.Word = "It would ask"
	}
	_, out.Tone = verdictWord(t.Decision)
	var limits []rulebook.Limit
	for _, l := range t.Limits {
		unit := rulebook.Calls
		switch {
		case l.Spend:
			unit = rulebook.Spend
		case l.Repeats:
			unit = rulebook.Repeats
		}
		limits = append(limits, rulebook.Limit{Name: cmp.Or(l.Name, t.Rule), Unit: unit, Scope: l.Scope, Max: l.Max, Deny: l.Deny})
	}
	out.Says = capital(saysOf(t.Verdict, limits, false))
	switch {
	case !t.Call.Known:
		out.Why = append(out.Why, "No tool of this server is called so, and an unknown tool is denied before any rule is asked. A program that asks over the API may name any: tick the box for that.")
	case !t.Ruled:
		out.Why = append(out.Why, "The policy names this “"+t.Rule+"”.")
	case t.Cause != "":
		out.Why = append(out.Why, "The condition of “"+t.Matched+"” could not be evaluated.")
		out.Closed = "A rule that denies then denies, any other asks, and never the user alone nor the clock: nothing runs because a rule is broken."
	case t.Matched == rulebook.ServersWord:
		out.Why = append(out.Why, "No rule matches. Its server says that it only reads, and is trusted.")
	case t.Number == 0:
		out.Why = append(out.Why, "No rule matches, and what no rule speaks of asks a reviewer.")
	default:
		out.Why = append(out.Why, "Rule "+strconv.Itoa(t.Number)+", “"+t.Matched+"”, is the first whose condition is true.")
	}
	if t.Ruled && t.Call.Known && t.Rule != t.Matched {
		switch {
		case t.Call.Changed:
			out.Why = append(out.Why, "The tool is no longer what somebody agreed to: whatever a rule allows, a person is asked.")
		case t.Call.Guarded:
			out.Why = append(out.Why, "The tool's owner wants a person asked about every call, whatever a rule allows.")
		}
	}
	if len(t.Limits) > 0 {
		out.Why = append(out.Why, "Limits count what has run; a try counts nothing.")
	}
	return out
}

// sawOf is what the rules were told of the call, besides its arguments.
func sawOf(c policy.Call) (saw []fact) {
	add := func(name, value string) {
		if value != "" {
			saw = append(saw, fact{name, value})
		}
	}
	add("tool", c.Tool)
	if c.Known {
		add("effect", c.Effect)
		add("reversible", c.Reversible)
		add("idempotent", strconv.FormatBool(c.Idempotent))
		add("requires_approval", strconv.FormatBool(c.Guarded))
	}
	if c.Changed {
		add("changed", "true")
	}
	if c.Hinted {
		add("hints.read_only", strconv.FormatBool(c.ReadOnly))
		add("hints.destructive", strconv.FormatBool(c.Destroys))
		add("hints.trusted", strconv.FormatBool(c.Trusted))
	}
	add("cost", strconv.FormatInt(c.Cost, 10))
	add("agent", c.Agent)
	add("flow", c.Flow)
	add("actor", c.User)
	add("session", string(c.Session))
	add("run", string(c.Run))
	add("now", c.Now.UTC().Format(time.RFC3339))
	return saw
}
