package inbox

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// overviewCount is what the store itself says, one row after the other.
type overviewCount struct {
	open, closed int
	ends         map[string]int
	kinds        map[holdshort.Kind][]time.Duration
	rules        map[string][]time.Duration
	people       map[string]int
	took         []time.Duration
	first        time.Time // of those that are open
}

func (b *rulesBed) count(since time.Time) overviewCount {
	b.t.Helper()
	c := overviewCount{ends: map[string]int{}, kinds: map[holdshort.Kind][]time.Duration{}, rules: map[string][]time.Duration{}, people: map[string]int{}}
	words := map[holdshort.Outcome]string{holdshort.Approved: "approved", holdshort.Rejected: "rejected", holdshort.Edited: "approved with changes", holdshort.Answered: "answered", holdshort.Selected: "answered by choice"}
	e := b.kit.Engine()
	for cursor := ""; ; {
		page, err := e.Requests(b.t.Context(), "default", engine.RequestQuery{Cursor: cursor, Limit: 50})
		if err != nil {
			b.t.Fatal(err)
		}
		for _, req := range page.Items {
			switch {
			case req.StatusAt(b.kit.Now()) == holdshort.RequestOpen:
				if c.open++; c.first.IsZero() || req.CreatedAt.Before(c.first) {
					c.first = req.CreatedAt
				}
				continue
			case req.ClosedAt.Before(since):
				continue
			}
			c.closed++
			switch req.Status {
			case holdshort.RequestExpired:
				c.ends["expired"]++
				continue
			case holdshort.RequestCanceled:
				c.ends["canceled"]++
				continue
			}
			c.ends[words[req.Outcome]]++
			d, err := e.Decision(b.t.Context(), "default", req.ID)
			if err != nil {
				b.t.Fatal(err)
			}
			if d.Actor.Kind != holdshort.Person {
				continue
			}
			took := req.ClosedAt.Sub(req.CreatedAt)
			c.took, c.kinds[req.Kind] = append(c.took, took), append(c.kinds[req.Kind], took)
			if c.people[d.Actor.ID]++; req.Rule != "" {
				c.rules[req.Rule] = append(c.rules[req.Rule], took)
			}
		}
		if cursor = page.Next; cursor == "" {
			return c
		}
	}
}

func overviewMiddle(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[(len(sorted)+1)/2-1]
}

// What the charts show is what the store has, overviewCount one by one.
func TestOverviewIsTrue(t *testing.T) {
	t.Parallel()
	b := newRulesBed(t)
	b.live(160)
	for _, p := range periods {
		t.Run(p.Name, func(t *testing.T) {
			o, err := b.kit.Engine().Overview(t.Context(), "default", p.Length, rulesActor("ana"))
			if err != nil {
				t.Fatal(err)
			}
			want := b.count(b.kit.Now().Add(-p.Length))
			view := overviewOf(o, p, b.kit.Now(), false)
			charts := map[string]chart{}
			for _, c := range slices.Concat(view.Now, view.Past) {
				charts[c.ID] = c
			}
			if title := charts["waiting"].Title; want.open != 5 || title != waitingTitle(engine.Tally{Count: 5, Oldest: want.first}, b.kit.Now()) {
				t.Errorf("%d wait: %s", want.open, title)
			}
			shown := 0
			for _, s := range charts["outcomes"].Share {
				if s.Value != number(want.ends[s.Label]) {
					t.Errorf("%s: %s, want %d", s.Label, s.Value, want.ends[s.Label])
				}
				shown += want.ends[s.Label]
			}
			if shown != want.closed || !strings.Contains(view.Looked, number(want.closed)+" request") {
				t.Errorf("%d of %d are shown; %s", shown, want.closed, view.Looked)
			}
			if title := charts["times"].Title; title != "Half of the decisions take under "+under(overviewMiddle(want.took)) {
				t.Errorf("%s, but the middle is %v", title, overviewMiddle(want.took))
			}
			var low time.Duration
			for _, edge := range o.Times.Histogram {
				n := 0
				for _, d := range want.took {
					if d >= low && (edge.Under == 0 || d < edge.Under) {
						n++
					}
				}
				i := slices.IndexFunc(charts["times"].Bars, func(b bar) bool { return b.Label == spanRange(low, edge.Under) })
				if i < 0 && n > 0 || i >= 0 && charts["times"].Bars[i].Value != number(n) {
					t.Errorf("%s: want %d, rows %+v", spanRange(low, edge.Under), n, charts["times"].Bars)
				}
				low = edge.Under
			}
			overviewTimes(t, charts["times-kind"], want.kinds, kindWord)
			overviewTimes(t, charts["times-rule"], want.rules, func(r string) string { return r })
			for _, row := range charts["load"].Bars {
				if row.Value != number(want.people[row.Label]) {
					t.Errorf("%s: %s, want %d", row.Label, row.Value, want.people[row.Label])
				}
			}
			if len(charts["load"].Bars) != len(want.people) {
				t.Errorf("%+v, want %v", charts["load"].Bars, want.people)
			}
			total := 0
			for i, day := range charts["series"].Days {
				if day.Value != number(o.Series[i].Closed.Total) {
					t.Errorf("%s: %s", day.Label, day.Value)
				}
				total += o.Series[i].Closed.Total
			}
			if total != want.closed {
				t.Errorf("the columns hold %d of %d", total, want.closed)
			}
			for _, q := range view.Quiet {
				if len(want.rules[q.Name]) < 20 {
					t.Errorf("%s asked only %d times", q.Name, len(want.rules[q.Name]))
				}
			}
		})
	}
}

func overviewTimes[K comparable](t *testing.T, c chart, want map[K][]time.Duration, name func(K) string) {
	t.Helper()
	for key, took := range want {
		i := slices.IndexFunc(c.Bars, func(b bar) bool { return b.Label == name(key) })
		if i < 0 || c.Bars[i].Value != span(overviewMiddle(took)) || !strings.HasSuffix(c.Bars[i].Note, amount(len(took), "decision", "decisions")) {
			t.Errorf("%v: want %v of %d, rows %+v", key, overviewMiddle(took), len(took), c.Bars)
		}
	}
	if len(c.Bars) != len(want) {
		t.Errorf("%d rows, want %d", len(c.Bars), len(want))
	}
}

var overviewInline = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>[^<]|<[a-z][^<>]*\s(?:style|on[a-z]+)\s*=|<style|javascript:`)

// Nobody's text becomes markup, and nothing on the page needs what its policy forbids.
func TestOverviewPage(t *testing.T) {
	t.Parallel()
	b := newRulesBed(t)
	b.live(90)
	for _, look := range []string{"en", "he"} {
		status, header, text := b.do("adm", http.MethodGet, "/overview?period=30d", nil, "Accept-Language", look)
		if status != http.StatusOK || header.Get("Content-Security-Policy") != guard {
			t.Fatalf("%d, %v", status, header)
		}
		if found := overviewInline.FindString(text); found != "" || strings.Contains(text, "alert(1)</script>") || strings.Contains(text, "\u202e") {
			t.Errorf("%s: %q is in the page", look, found)
		}
		if !strings.Contains(text, "&lt;script&gt;alert(1)&lt;/script&gt;") || !strings.Contains(text, "U+202E") {
			t.Error("the rule's name is not shown as what it is")
		}
		if strings.Contains(text, "DE8937") || strings.Contains(text, "Which address") {
			t.Error("somebody's text is on a page of figures")
		}
		if !strings.Contains(text, "Half of the decisions take under") || !strings.Contains(text, `<title>Overview · Holdshort</title>`) {
			t.Error("the page has no answers")
		}
	}
	for period, want := range map[string]string{"": "7 days", "24h": "24 hours", "30d": "30 days", "<script>": "7 days"} {
		if _, _, text := b.do("rev", http.MethodGet, "/overview?period="+period, nil); !strings.Contains(text, "In the last "+want) {
			t.Errorf("period %q is not %s", period, want)
		}
	}
}

func TestOverviewIsForThoseWhoLookAfterThings(t *testing.T) {
	t.Parallel()
	b := newRulesBed(t)
	for who, want := range map[string]int{"adm": 200, "olga": 200, "aud": 200, "rev": 200, "ana": 200, "fin": 403, "eve": 403, "": 401, "nobody": 401} {
		if status, _, text := b.do(who, http.MethodGet, "/overview", nil); status != want || want != 200 && strings.Contains(text, "chart-waiting") {
			t.Errorf("%s: %d, want %d", who, status, want)
		}
	}
}

// A page without anything teaches what will be there.
func TestOverviewOfNothing(t *testing.T) {
	t.Parallel()
	b := newRulesBed(t)
	_, _, text := b.do("adm", http.MethodGet, "/overview", nil)
	for _, want := range []string{"Nothing waits", "Nothing was closed in the last 7 days", "Talk to an agent in the playground", "The outcome of every call is known", "Everything was sent", "No run is under way", "which rules ask in vain", "Look at 30 days"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there", want)
		}
	}
	if strings.Contains(text, "<rect") {
		t.Error("it draws nothing as something")
	}
}

// overviewDrawn is the page of figures that somebody made up.
func overviewDrawn(t *testing.T, o engine.Overview, runs, hooks bool) string {
	t.Helper()
	l, err := newLooks()
	if err != nil {
		t.Fatal(err)
	}
	view := overviewOf(o, periodOf("7d"), o.At, false)
	view.Runs, view.Hooks = runs, hooks
	var b bytes.Buffer
	if err := l.pages["overview"].ExecuteTemplate(&b, "main", view); err != nil {
		t.Fatal(err)
	}
	if found := overviewInline.FindString(b.String()); found != "" {
		t.Errorf("%q is in the page", found)
	}
	return b.String()
}

func TestOverviewOfTrouble(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	o := engine.Overview{At: at, Unknown: engine.UnknownNow{Total: engine.Tally{Count: 21}, Latest: []holdshort.Operation{
		{ID: "t:1", RunID: "run_1", RequestID: "req_1", Capability: hostile, StartedAt: at.Add(-time.Hour)}, {ID: "t:2", Capability: "refund", StartedAt: at}}},
		Outbox: engine.OutboxNow{Dead: engine.Tally{Count: 2}, Queued: engine.Tally{Count: 1000, More: true}, Channels: []engine.ChannelFigures{{Channel: hostile, Dead: engine.Tally{Count: 2}, Queued: engine.Tally{Count: 1000, More: true}}},
			Webhooks: []engine.WebhookFigures{{ID: "whk_1", Disabled: "gone_away", Looked: 5, Wrong: 4, Status: 500, At: at}}},
		Runs: engine.RunsNow{Held: engine.Tally{Count: 3}, Failed: engine.Tally{Count: 1}},
	}
	text := overviewDrawn(t, o, true, true)
	for _, want := range []string{"21 calls have an unknown outcome", `href="/requests/req_1"`, `href="/runs/run_1"`, "These are the latest", "2 messages could not be sent, 1,000&#43; on the way, 1 webhook is in trouble", `href="/settings/webhooks/whk_1"`,
		"off: gone away, 4 of its last 5 went wrong, last answer 500", "3 runs are held and need a look", `href="/runs?held=yes"`, "&lt;script&gt;"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there:\n%s", want, text)
		}
	}
	if text = overviewDrawn(t, o, false, false); strings.Contains(text, `href="/runs/run_1"`) || strings.Contains(text, "/settings/webhooks") || !strings.Contains(text, "whk_1") {
		t.Error("links lead where somebody may not go")
	}
}

// Whatever is missing, each question is asked once, and no answer claims what nobody knows.
func TestOverviewWithoutDecisions(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	o := engine.Overview{At: at, Sample: engine.Sample{Looked: 3, All: true}, Closed: engine.Closings{Total: 3, Expired: 3}, Step: 24 * time.Hour,
		ByKind: []engine.KindFigures{{Kind: holdshort.Approval, Closed: engine.Closings{Total: 3, Expired: 3}}}, ByRule: []engine.RuleFigures{{Rule: "big", Closed: engine.Closings{Total: 3, Expired: 3}}},
		Series: []engine.StepFigures{{From: at.Truncate(24 * time.Hour), Closed: engine.Closings{Total: 3, Expired: 3}}}}
	text := overviewDrawn(t, o, true, true)
	if strings.Count(text, "Nobody has decided anything") != 1 || !strings.Contains(text, "Everything expired: nobody decided in time") || strings.Contains(text, "Nothing was closed") {
		t.Error(text)
	}
	o.People = []engine.ReviewerFigures{{Actor: "ana", Assigned: engine.Tally{Count: 4}}}
	if text = overviewDrawn(t, o, true, true); !strings.Contains(text, "4 assigned and open") || strings.Count(text, "Nobody has decided anything") != 1 {
		t.Error("work that is assigned is not shown")
	}
}
