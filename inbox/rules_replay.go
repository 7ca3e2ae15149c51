package inbox

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/replay"
)

// rulesReplay is the form for changed rules as somebody filled it in, and what came of it.
type rulesReplay struct {
	Text   string
	Faults []ruleFault
	Result *replayedRules
}

// ruleFault is one thing that is wrong with the text.
type ruleFault struct{ Place, Message, Hint string }

// replayedRules is what the changed rules would have done.
type replayedRules struct {
	Title   string
	Version string
	Since   time.Time
	Chart   chart
	Left    []string // what could not be judged
	Calls   []replayedRow
	More    int
}

// replayedRow is a call on which the changed rules differ.
type replayedRow struct {
	At              time.Time
	Tool, Args      string
	Was, Is, Tone   string
	WasRule, Rule   string
	Link, LinkLabel string
}

const (
	replayPeriod = 30 * 24 * time.Hour
	replayRows   = 100
)

// replayRules asks changed rules about what is on record. The browser that goes away ends it.
func (v *visit) replayRules() error {
	if err := v.mayRead(); err != nil {
		return err
	}
	if !v.may(policy.ViewAudit) {
		return &holdshort.Error{Code: holdshort.Forbidden, Op: "replay rules", Message: "what was asked of everybody is for administrators, operators and auditors", Hint: "ask one of them"}
	}
	rules := v.options.Rules
	if rules == nil || !rules.Replays() {
		return &holdshort.Error{Code: holdshort.NotFound, Op: "replay rules", Message: "this server cannot replay rules", Hint: "use holdshort policy replay"}
	}
	form, err := v.form()
	if err != nil {
		return err
	}
	view := &rulesReplay{Text: form.Get("rules")}
	if strings.TrimSpace(view.Text) == "" {
		view.Faults = []ruleFault{{Message: "There is nothing to replay.", Hint: "Paste the changed policies."}}
	} else if result, err := rules.Replay(v.ctx, v.tenant(), []byte(view.Text), v.now.Add(-replayPeriod)); err != nil {
		if view.Faults = v.replayFaults(err); view.Faults == nil {
			return err
		}
	} else {
		result.Cut(false, replayRows)
		view.Result = replayedRulesOf(result, v.actor().HasRole(policy.Admin) || v.actor().HasRole(policy.Auditor))
	}
	if v.partial() {
		return v.part(http.StatusOK, "rules_replayed", view)
	}
	page := v.policyView()
	page.Replay = view
	status := http.StatusOK
	if len(view.Faults) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return v.page(status, "policy", "Policy", page)
}

// replayFaults are what is wrong with the text, or with asking now; nil: something else is.
func (v *visit) replayFaults(err error) (list []ruleFault) {
	if errors.Is(err, context.DeadlineExceeded) || v.ctx.Err() != nil {
		return []ruleFault{{Message: "It took too long, and was given up.", Hint: "Replay it with holdshort policy replay, which has no end to its patience."}}
	}
	all := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		all = many.Unwrap()
	}
	for _, one := range all {
		var coded *holdshort.Error
		if !errors.As(one, &coded) || statusOf(coded) >= http.StatusInternalServerError {
			return nil
		}
		fault := ruleFault{Message: coded.Message, Hint: coded.Hint}
		if strings.Contains(coded.Op, ":") { // a place in the text, not what was being done
			fault.Place = coded.Op
		}
		list = append(list, fault)
	}
	return list
}

// changeTones colours what would be different: more people asked, fewer, refused.
var changeTones = map[replay.Change]string{replay.AskedMore: "hold", replay.AskedLess: "yes", replay.RanDenied: "no", replay.AskDenied: "no", replay.Undenied: "yes", replay.AskOthers: "hold"}

// replayedRulesOf makes what people read of a result. Arguments that only a journal has are for those who may read journals.
func replayedRulesOf(r replay.Result, journals bool) *replayedRules {
	out := &replayedRules{Title: replayTitle(r), Version: r.Version, Since: r.Since, More: r.More, Chart: chart{ID: "replayed", Heads: []string{"What would be", "Calls"}, Dense: true}}
	most := 0
	for _, n := range r.Sums {
		most = max(most, n)
	}
	for _, c := range replay.Changes {
		if n := r.Sums[c]; n > 0 {
			out.Chart.Bars = append(out.Chart.Bars, bar{Label: c.Words(), Value: number(n), Size: barSize(float64(n), float64(most)), Tone: changeTones[c]})
		}
	}
	for _, left := range []struct {
		n    int
		text string
	}{{r.Erased, "erased"}, {r.Unkept, "of flows that keep no arguments"}, {r.Unread, "that cannot be read"}} {
		if left.n > 0 {
			out.Left = append(out.Left, number(left.n)+" more "+left.text+": not judged")
		}
	}
	if r.Older {
		out.Left = append(out.Left, "There is more on record than was looked at: the latest were.")
	}
	for _, c := range r.Calls {
		row := replayedRow{At: c.At, Tool: c.Tool, Was: wasWord(c.Was), WasRule: c.WasRule, Is: willWord(c), Rule: c.Rule, Tone: changeTones[c.Change]}
		if c.Request != "" || journals {
			row.Args = c.Args
		}
		switch {
		case c.Request != "":
			row.Link, row.LinkLabel = "/requests/"+c.Request, "request"
		case c.Run != "":
			row.Link, row.LinkLabel = "/runs/"+c.Run, "run"
		}
		out.Calls = append(out.Calls, row)
	}
	return out
}

func wasWord(d policy.Decision) string {
	return map[policy.Decision]string{policy.Allow: "ran", policy.Deny: "denied", policy.Ask: "asked"}[d]
}

func willWord(c replay.Call) string {
	switch {
	case c.Change == replay.AskOthers:
		return "ask others"
	case c.Change == replay.CannotTell:
		return "cannot tell"
	}
	return map[policy.Decision]string{policy.Allow: "run", policy.Deny: "be denied", policy.Ask: "ask"}[c.Is]
}

// replayTitle: what would change?
func replayTitle(r replay.Result) string {
	different := r.Judged - r.Sums[replay.Same] - r.Sums[replay.CannotTell]
	switch {
	case r.Judged == 0:
		return "There is no call on record to replay"
	case different == 0 && r.Sums[replay.CannotTell] == 0:
		return "Nothing would change: " + amount(r.Judged, "call is", "calls are") + " judged as before"
	case different == 0:
		return "Nothing would change that can be told"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{r.Sums[replay.AskedMore], "asked more"}, {r.Sums[replay.AskedLess], "asked less"}, {r.Sums[replay.RanDenied] + r.Sums[replay.AskDenied], "newly denied"}, {r.Sums[replay.Undenied], "no longer denied"}, {r.Sums[replay.AskOthers], "asked of others"}} {
		if p.n > 0 {
			parts = append(parts, number(p.n)+" "+p.text)
		}
	}
	return "Of " + amount(r.Judged, "call", "calls") + ", " + andWords(parts)
}
