package inbox

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/replay"
)

// Rules are the rules by which calls are judged, as far as pages show them and let people try them. replay.Rules are such.
type Rules interface {
	// Rules in their order; ruled reports whether the policy is made of rules at all.
	Rules() (rules []replay.Rule, ruled bool)
	// Version names them.
	Version() string
	// Otherwise is what holds where no rule matches.
	Otherwise() policy.Verdict
	// Known are the tools and agents that a call can name.
	Known() (tools, agents []string)
	// Try judges a call and does not make it.
	Try(ctx context.Context, t replay.Trial) replay.Verdict
	// Replays reports whether changed rules can be asked about what is on record, and Replay does.
	Replays() bool
	Replay(ctx context.Context, tenant holdshort.TenantID, text []byte, since time.Time) (replay.Result, error)
}

var _ Rules = (*replay.Rules)(nil)

func (in *Inbox) ruleRoutes() {
	in.show("/policy", policy.View, (*visit).servePolicy)
	in.show("/policy/try", policy.View, func(v *visit) error { return v.redirect("/policy#try") })
	in.show("/policy/replay", policy.View, func(v *visit) error { return v.redirect("/policy#replay") })
	in.act("/policy/try", policy.View, (*visit).tryRules)
	in.act("/policy/replay", policy.ViewAudit, (*visit).replayRules)
	in.show("/overview", policy.View, (*visit).serveOverview)
}

// rulesPeriod is how far back the figures of rules look.
const rulesPeriod = 30 * 24 * time.Hour

// policyView is the page.
type policyView struct {
	Known     bool // there are rules to show, or a policy without any
	Ruled     bool
	Version   string
	Rules     []ruleView
	Otherwise string
	Figures   bool // how often rules asked is known
	Looked    string
	Named     string // the rule that somebody looks for
	Missing   bool   // and which is not there any more
	Try       tryView
	Replay    *rulesReplay
}

// ruleView is one rule.
type ruleView struct {
	Number            int
	Name, When, Place string
	Word, Tone        string // the verdict in one word
	Says              string // and in full
	Question          string
	Asked             string // what became of what it asked lately
	Never             string // gently: it could be spared
	Named             bool
}

// mayRead reports whether somebody is told the rules. They say what nobody looks at: whoever has no part in deciding need not know.
func (v *visit) mayRead() error {
	if v.who.Method != identity.ByLink && (v.may(policy.View) || len(v.actor().Roles) > 0) {
		return nil
	}
	return &holdshort.Error{Code: holdshort.Forbidden, Op: "view rules", Message: "the rules are for those who decide or look after things", Hint: "ask an administrator for a role"}
}

func (v *visit) servePolicy() error {
	if err := v.mayRead(); err != nil {
		return err
	}
	view := v.policyView()
	return v.page(http.StatusOK, "policy", "Policy", view)
}

// policyView gathers the page, without anything tried or replayed.
func (v *visit) policyView() policyView {
	rules := v.options.Rules
	if rules == nil {
		return policyView{}
	}
	view := policyView{Known: true, Version: rules.Version(), Otherwise: saysOf(rules.Otherwise(), nil, true), Named: v.r.URL.Query().Get("rule"), Try: v.emptyTry()}
	if rules.Replays() && v.may(policy.ViewAudit) {
		view.Replay = &rulesReplay{}
	}
	list, ruled := rules.Rules()
	view.Ruled = ruled
	figures := map[string]engine.RuleFigures{}
	if o, err := v.engine.Overview(v.ctx, v.tenant(), rulesPeriod, v.actor()); err == nil { // rules without numbers are still rules
		view.Figures, view.Looked = true, lookedAt(o.Sample, periodOf("30d"))
		for _, f := range o.ByRule {
			figures[f.Rule] = f
		}
	}
	for i, r := range list {
		one := ruleViewOf(i+1, r)
		if one.Named = one.Name == view.Named; view.Figures {
			one.Asked, one.Never = lately(r.Says.Decision, figures[r.Name])
		}
		view.Rules = append(view.Rules, one)
	}
	view.Missing = view.Named != "" && !slices.ContainsFunc(view.Rules, func(r ruleView) bool { return r.Named })
	return view
}

func ruleViewOf(n int, r replay.Rule) ruleView {
	word, tone := verdictWord(r.Says.Decision)
	return ruleView{Number: n, Name: r.Name, When: r.When, Place: r.Place, Word: word, Tone: tone, Says: saysOf(r.Says, r.Limits, r.Then.ExpiresIn == 0), Question: r.Then.Question}
}

// lately says what became of what a rule asked, and whether anybody ever said no.
func lately(d policy.Decision, f engine.RuleFigures) (asked, never string) {
	switch {
	case f.Closed.Total == 0 && d == policy.Ask:
		asked = "Asked nothing that was closed in 30 days"
	case f.Closed.Total == 0:
	case d == policy.Ask:
		asked = "Asked " + howOften(f.Closed.Total) + " in 30 days: " + endsOf(f.Closed)
	case d == policy.Deny && f.Closed.Rejected == f.Closed.Total: // over the API; what agents and flows were denied is in their journals
		asked = "Denied " + amount(f.Closed.Total, "request", "requests") + " over the API in 30 days"
	case d == policy.Allow && f.Closed.Approved == f.Closed.Total && f.Times.N == 0:
		asked = "Let " + amount(f.Closed.Total, "request", "requests") + " over the API run in 30 days"
	default: // past a limit, or by other rules of the same name
		asked = "Met " + amount(f.Closed.Total, "request", "requests") + " in 30 days: " + endsOf(f.Closed)
	}
	if f.NeverDenied {
		never = "People decided " + number(f.Times.N) + ", and nobody said no or changed anything: could it be allowed?"
	}
	return asked, never
}

// ruleLink leads to a rule.
func ruleLink(name string) string { return "/policy?rule=" + url.QueryEscape(name) + "#named" }

// Rest is what the rule says after its first word.
func (r ruleView) Rest() string { return strings.TrimPrefix(strings.TrimPrefix(r.Says, r.Word), " ") }

// OtherwiseRest is the same of what holds where no rule matches.
func (p policyView) OtherwiseRest() string { return strings.TrimPrefix(p.Otherwise, "asks ") }
