package inbox

import (
	"cmp"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// period is how far back an overview looks.
type period struct {
	Name, Words string
	Length      time.Duration
}

var periods = []period{{"24h", "24 hours", 24 * time.Hour}, {"7d", "7 days", 7 * 24 * time.Hour}, {"30d", "30 days", 30 * 24 * time.Hour}}

// periodOf reads one. What it does not know is a week: an old bookmark still shows something.
func periodOf(name string) period {
	for _, p := range periods {
		if p.Name == name {
			return p
		}
	}
	return periods[1]
}

// overviewView is the page.
type overviewView struct {
	Period  period
	Periods []period
	At      time.Time
	Looked  string
	Fresh   bool // nothing has ever been asked here, as far as anybody can tell
	Now     []chart
	Past    []chart
	Quiet   []quietRule
	Unknown unknownView
	Outbox  outboxView
	Runs    bool // they see every run
	Hooks   bool // they look after webhooks
}

// quietRule asked often, and nobody ever said no.
type quietRule struct {
	Name, Figures, Link string
}

type unknownView struct {
	Title string
	More  bool
	Calls []unknownCall
}

// unknownCall is one of which nobody knows what became.
type unknownCall struct {
	Tool    string
	Since   time.Time
	Run     string
	Request string
}

type outboxView struct {
	Title    string
	Tone     string
	Channels []engine.ChannelFigures
	Webhooks []webhookTrouble
}

type webhookTrouble struct {
	ID, Said string
	At       time.Time
}

func (v *visit) serveOverview() error {
	p := periodOf(v.r.URL.Query().Get("period"))
	o, err := v.engine.Overview(v.ctx, v.tenant(), p.Length, v.actor())
	if err != nil {
		return err
	}
	view := overviewOf(o, p, v.now, v.prefs.Dir == "rtl")
	view.Runs, view.Hooks = v.may(policy.View), v.may(policy.ManageWebhooks)
	return v.page(http.StatusOK, "overview", "Overview", view)
}

// overviewOf makes the page of the figures.
func overviewOf(o engine.Overview, p period, now time.Time, rtl bool) overviewView {
	at := cmp.Or(o.At, now)
	view := overviewView{Period: p, Periods: periods, At: at, Looked: lookedAt(o.Sample, p), Unknown: unknownOf(o.Unknown), Outbox: outboxOf(o.Outbox),
		Fresh: !isSome(o.Open.Total) && o.Closed.Total == 0}
	view.Now = []chart{waitingChart(o.Open, at)}
	if isSome(o.Open.Total) {
		view.Now = append(view.Now, kindsChart(o.Open))
	}
	view.Now = append(view.Now, runsChart(o.Runs, p))
	if o.Closed.Total > 0 {
		view.Past = pastOf(o, rtl)
	}
	for _, r := range o.ByRule {
		if r.NeverDenied {
			view.Quiet = append(view.Quiet, quietRule{Name: r.Rule, Figures: amount(r.Times.N, "decision", "decisions") + " of people, none a no or a change", Link: ruleLink(r.Rule)})
		}
	}
	return view
}

// pastOf draws what became of what was asked. What nobody has an answer to is asked once.
func pastOf(o engine.Overview, rtl bool) []chart {
	list := []chart{outcomesChart(o.Closed, rtl), timesChart(o.Times)}
	if o.Times.N > 0 {
		list = append(list, timesByKind(o.ByKind))
	}
	if rules := timesByRule(o.ByRule); len(rules.Bars) > 0 {
		list = append(list, rules)
	}
	if people := loadChart(o.People); len(people.Bars) > 0 {
		list = append(list, people)
	}
	return append(list, seriesChart(o.Series, o.Step, rtl))
}

// QuietTitle is the answer to which rules could be spared.
func (o overviewView) QuietTitle() string { return quietTitle(len(o.Quiet)) }

// unknownOf lists the calls of which nobody knows what became.
func unknownOf(u engine.UnknownNow) unknownView {
	out := unknownView{Title: unknownTitle(u.Total), More: int64(len(u.Latest)) < u.Total.Count || u.Total.More}
	for _, op := range u.Latest {
		out.Calls = append(out.Calls, unknownCall{Tool: op.Capability, Since: op.StartedAt, Run: string(op.RunID), Request: string(op.RequestID)})
	}
	return out
}

func outboxOf(o engine.OutboxNow) outboxView {
	out := outboxView{Title: outboxTitle(o), Channels: o.Channels}
	if isSome(o.Dead) || len(o.Webhooks) > 0 {
		out.Tone = "no"
	}
	for _, w := range o.Webhooks {
		out.Webhooks = append(out.Webhooks, webhookTrouble{ID: string(w.ID), Said: webhookSaid(w), At: w.At})
	}
	return out
}

// kindWords are the kinds as people count them.
var kindWords = map[holdshort.Kind]string{holdshort.Approval: "Approvals", holdshort.Clarification: "Questions", holdshort.Disambiguation: "Choices", holdshort.Confirmation: "Confirmations",
	holdshort.Escalation: "Escalations", holdshort.Takeover: "Takeovers", holdshort.Proxy: "Messages passed on", holdshort.ErrorRecovery: "Repairs", holdshort.Reconcile: "Unknown outcomes"}

func kindWord(k holdshort.Kind) string { return cmp.Or(kindWords[k], string(k)) }
