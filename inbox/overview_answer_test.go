package inbox

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort/engine"
)

func TestAnswers(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	open := func(n int64, more bool, age time.Duration) engine.Tally {
		tally := engine.Tally{Count: n, More: more}
		if n > 0 {
			tally.Oldest = at.Add(-age)
		}
		return tally
	}
	person := func(name string, n int) engine.ReviewerFigures {
		return engine.ReviewerFigures{Actor: name, Decided: n}
	}
	row := func(name string, d time.Duration) timed {
		return timed{label: name, odd: name != "Questions" && name != "Approvals", times: engine.Times{N: 3, P50: d, P90: 2 * d}}
	}
	step := func(day, n int) engine.StepFigures {
		return engine.StepFigures{From: time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC), Closed: engine.Closings{Total: n, Approved: n}}
	}
	week := periodOf("7d")
	for _, tt := range []struct{ name, got, want string }{
		{"nothing waits", waitingTitle(open(0, false, 0), at), "Nothing waits"},
		{"one waits", waitingTitle(open(1, false, 5*time.Minute), at), "1 request has waited for 5 min"},
		{"some wait", waitingTitle(open(23, false, 134*time.Minute), at), "23 requests wait, the oldest for 2 h 14 min"},
		{"very many wait", waitingTitle(open(1000, true, 72*time.Hour), at), "1,000+ requests wait, the oldest for 3 days"},

		{"one kind", kindsTitle([]engine.Tally{{Count: 3}}, []string{"approvals"}), "All of it: approvals"},
		{"mostly", kindsTitle([]engine.Tally{{Count: 3}, {Count: 2}}, []string{"approvals", "questions"}), "Mostly approvals"},
		{"exactly half", kindsTitle([]engine.Tally{{Count: 3}, {Count: 2}, {Count: 1}}, []string{"approvals", "questions", "repairs"}), "Approvals are the largest part"},
		{"equally many", kindsTitle([]engine.Tally{{Count: 3}, {Count: 3}}, []string{"approvals", "questions"}), "As many approvals as questions wait"},
		{"too many to count", kindsTitle([]engine.Tally{{Count: 1000, More: true}, {Count: 1000, More: true}, {Count: 4}}, []string{"approvals", "questions", "repairs"}), "Over a thousand each of approvals and questions"},
		{"one too many to count", kindsTitle([]engine.Tally{{Count: 1000, More: true}, {Count: 1000}}, []string{"approvals", "questions"}), "Approvals are the largest part"},

		{"no decision", timesTitle(engine.Times{}), "Nobody has decided anything"},
		{"one decision", timesTitle(engine.Times{N: 1, P50: 160 * time.Second}), "The only decision took 2 min"},
		{"some decisions", timesTitle(engine.Times{N: 9, P50: 160 * time.Second}), "Half of the decisions take under 3 minutes"},
		{"at once", timesTitle(engine.Times{N: 9}), "Half of the decisions take under a second"},

		{"nothing closed", outcomesTitle(engine.Closings{}), "Nothing was closed"},
		{"one closed", outcomesTitle(engine.Closings{Total: 1, Rejected: 1}), "The only request was rejected"},
		{"one expired", outcomesTitle(engine.Closings{Total: 1, Expired: 1}), "The only request expired"},
		{"all expired", outcomesTitle(engine.Closings{Total: 7, Expired: 7}), "Everything expired: nobody decided in time"},
		{"all canceled", outcomesTitle(engine.Closings{Total: 7, Canceled: 7}), "Everything was canceled"},
		{"all approved", outcomesTitle(engine.Closings{Total: 7, Approved: 7}), "All 7 were approved"},
		{"a tie", outcomesTitle(engine.Closings{Total: 4, Approved: 2, Rejected: 2}), "Approved and rejected equally often: 2 each"},
		{"a tie of three", outcomesTitle(engine.Closings{Total: 7, Approved: 2, Rejected: 2, Expired: 2, Canceled: 1}), "Approved, rejected and expired equally often: 2 each"},
		{"nobody decided", outcomesTitle(engine.Closings{Total: 4, Expired: 3, Canceled: 1}), "Nobody decided: 75% expired, the others were canceled"},
		{"most approved", outcomesTitle(engine.Closings{Total: 100, Approved: 87, Rejected: 10, Expired: 3}), "87% were approved, 3% expired"},
		{"nearly all", outcomesTitle(engine.Closings{Total: 1000, Approved: 999, Rejected: 1}), "Over 99% were approved"},
		{"most expired", outcomesTitle(engine.Closings{Total: 4, Expired: 3, Approved: 1}), "75% expired"},

		{"no rows", slowestTitle(nil, "rules"), "Nobody has decided anything"},
		{"one row", slowestTitle([]timed{row("big refunds", 90*time.Second)}, "rules"), "“big refunds”: half take under 2 minutes"},
		{"a slowest rule", slowestTitle([]timed{row("big refunds", time.Hour), row("mail", time.Minute)}, "rules"), "“big refunds” takes longest: typically 1 h"},
		{"a slowest kind", slowestTitle([]timed{row("Questions", time.Hour), row("Approvals", time.Minute)}, "kinds"), "Questions take longest: typically 1 h"},
		{"two alike", slowestTitle([]timed{row("a", time.Hour), row("b", time.Hour), row("c", time.Minute)}, "rules"), "“a” and “b” take longest: typically 1 h"},
		{"all alike", slowestTitle([]timed{row("a", time.Hour), row("b", time.Hour)}, "rules"), "All rules typically take 1 h"},
		{"many alike", slowestTitle([]timed{row("a", time.Hour), row("b", time.Hour), row("c", time.Hour), row("d", 1)}, "rules"), "3 rules take longest: typically 1 h"},

		{"nobody", loadTitle(nil), "Nobody has decided anything"},
		{"somebody who did nothing", loadTitle([]engine.ReviewerFigures{person("ana", 0)}), "Nobody has decided anything"},
		{"work and nothing done", loadTitle([]engine.ReviewerFigures{{Actor: "ana", Assigned: engine.Tally{Count: 1}}}), "1 request is assigned, and nothing was decided"},
		{"alone", loadTitle([]engine.ReviewerFigures{person("ana", 1), person("ben", 0)}), "ana decides alone: 1 decision"},
		{"most", loadTitle([]engine.ReviewerFigures{person("ana", 6), person("ben", 4)}), "ana decides most: 60% of what these people decided"},
		{"two equals", loadTitle([]engine.ReviewerFigures{person("ana", 4), person("ben", 4)}), "2 people decide equally much: 4 each"},
		{"two ahead", loadTitle([]engine.ReviewerFigures{person("ana", 4), person("ben", 4), person("eve", 1)}), "ana and ben decide most: 4 each"},
		{"three ahead", loadTitle([]engine.ReviewerFigures{person("a", 4), person("b", 4), person("c", 4), person("d", 1)}), "3 people decide most: 4 each"},

		{"no quiet rule", quietTitle(0), "No rule asks often in vain"},
		{"one quiet rule", quietTitle(1), "1 rule asked often, and nobody ever said no"},
		{"nothing unknown", unknownTitle(engine.Tally{}), "The outcome of every call is known"},
		{"one unknown", unknownTitle(engine.Tally{Count: 1}), "1 call has an unknown outcome"},
		{"many unknown", unknownTitle(engine.Tally{Count: 1000, More: true}), "1,000+ calls have an unknown outcome"},

		{"all sent", outboxTitle(engine.OutboxNow{}), "Everything was sent"},
		{"one on its way", outboxTitle(engine.OutboxNow{Queued: engine.Tally{Count: 1}}), "1 message is on its way"},
		{"all at once", outboxTitle(engine.OutboxNow{Queued: engine.Tally{Count: 4}, Parked: engine.Tally{Count: 2}, Dead: engine.Tally{Count: 1}, Webhooks: make([]engine.WebhookFigures, 2)}),
			"1 message could not be sent, 2 parked, 4 on the way, 2 webhooks are in trouble"},
		{"one parked", outboxTitle(engine.OutboxNow{Parked: engine.Tally{Count: 1}}), "1 message is parked"},

		{"no runs", runsTitle(engine.RunsNow{}), "No run is under way"},
		{"runs that work", runsTitle(engine.RunsNow{Running: engine.Tally{Count: 1}, Queued: engine.Tally{Count: 2}}), "3 runs are under way, none waits for a person"},
		{"a run that waits", runsTitle(engine.RunsNow{Waiting: engine.Tally{Count: 1}}), "1 run waits for a person"},
		{"held", runsTitle(engine.RunsNow{Held: engine.Tally{Count: 1}, Waiting: engine.Tally{Count: 12}}), "1 run is held and needs a look, 12 runs wait for a person"},
		{"many held", runsTitle(engine.RunsNow{Held: engine.Tally{Count: 2}}), "2 runs are held and need a look"},

		{"no days", seriesTitle(nil, 24*time.Hour), "Nothing was closed"},
		{"empty days", seriesTitle([]engine.StepFigures{step(1, 0), step(2, 0)}, 24*time.Hour), "Nothing was closed"},
		{"one day", seriesTitle([]engine.StepFigures{step(1, 0), step(2, 3)}, 24*time.Hour), "All of it on Monday, 2 March: 3"},
		{"a busiest day", seriesTitle([]engine.StepFigures{step(1, 2), step(2, 3)}, 24*time.Hour), "Most on Monday, 2 March: 3"},
		{"equal days", seriesTitle([]engine.StepFigures{step(1, 3), step(2, 3)}, 24*time.Hour), "Equally many in all 2 days: 3"},
		{"two of three", seriesTitle([]engine.StepFigures{step(1, 3), step(2, 1), step(3, 3)}, 24*time.Hour), "2 days were the busiest: 3 each"},
		{"an hour", seriesTitle([]engine.StepFigures{step(1, 1), step(2, 3)}, time.Hour), "Most between 00:00 and 01:00 UTC, 2 March: 3"},

		{"nothing looked at", lookedAt(engine.Sample{All: true}, week), "Nothing was closed in the last 7 days."},
		{"one looked at", lookedAt(engine.Sample{Looked: 1, All: true}, week), "Made of 1 request that was closed in the last 7 days, all there are."},
		{"some erased", lookedAt(engine.Sample{Looked: 9, All: true, Erased: 2}, week), "Made of 9 requests that were closed in the last 7 days, all there are. 2 of them were erased and are in no figure."},
		{"a part", lookedAt(engine.Sample{Looked: 5000, From: at}, week), "Made of the latest 5,000 requests that were closed, since 2 March 12:00 UTC. What was closed before is not in the figures."},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q\nwant %q", tt.name, tt.got, tt.want)
		}
	}
}

// "Half take under X" holds for whatever times there are: at least half are shorter than X, whatever X was rounded to.
func TestHalfIsUnder(t *testing.T) {
	units := map[string]time.Duration{"second": time.Second, "seconds": time.Second, "minute": time.Minute, "minutes": time.Minute, "hour": time.Hour, "hours": time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour}
	read := func(words string) time.Duration {
		n, unit, ok := strings.Cut(words, " ")
		if n == "a" {
			n = "1"
		}
		count, err := strconv.Atoi(n)
		if !ok || err != nil || units[unit] == 0 {
			t.Fatalf("%q is no time", words)
		}
		return time.Duration(count) * units[unit]
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		took := make([]time.Duration, 2+r.IntN(20))
		scale := []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour}[r.IntN(5)]
		for i := range took {
			took[i] = time.Duration(r.Int64N(100)) * scale
		}
		slices.Sort(took)
		middle := took[(len(took)+1)/2-1]
		words := strings.TrimPrefix(timesTitle(engine.Times{N: len(took), P50: middle}), "Half of the decisions take under ")
		limit := read(words)
		shorter := 0
		for _, d := range took {
			if d < limit {
				shorter++
			}
		}
		if 2*shorter < len(took) {
			t.Fatalf("%v: %d of %d are under %s", took, shorter, len(took), words)
		}
		if middle > time.Second && limit > 2*middle {
			t.Fatalf("%v is called under %s", middle, words)
		}
	}
}
