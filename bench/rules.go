package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// RulesTarget is how long a policy of RulesCount rules of all kinds may take to judge a call.
const (
	RulesTarget = 100 * time.Microsecond
	RulesCount  = 200
)

// Rules is what judging a call by many rules takes.
type Rules struct {
	Rules  int           `json:"rules"`
	Target time.Duration `json:"target_ns"` // of the row of all kinds
	Rows   []RulesRow    `json:"rows"`
}

// RulesRow is one kind of rules. Of all of them only the last matches: every rule is looked at.
type RulesRow struct {
	Kind    string        `json:"kind"`
	Judged  int           `json:"judged"`
	Mean    time.Duration `json:"mean_ns"`
	P50     time.Duration `json:"p50_ns"`
	P99     time.Duration `json:"p99_ns"`
	Compile time.Duration `json:"compile_ns"` // of all rules, once
}

// ruleKinds are how people write conditions.
var ruleKinds = []struct {
	name string
	when func(i int) string
}{
	{"for one tool each", func(i int) string { return fmt.Sprintf(`tool == "shop.tool%d" && args.amount > %d`, i, i) }},
	{"over arguments", func(i int) string { return fmt.Sprintf(`args.amount > %d && args.currency == "EUR"`, 1000+i) }},
	{"over numbers", func(i int) string { return fmt.Sprintf(`args.amount * 1.19 + args.fee > %d.5`, 1000+i) }},
	{"over texts", func(i int) string {
		return fmt.Sprintf(`args.note.contains("word%d") || args.customer.vip && args.note.matches("^x%d")`, i, i)
	}},
	{"over who and when", func(i int) string {
		return fmt.Sprintf(`agent == "agent%d" || actor in ["ana%d", "ben%d"] && now.getHours() > 18`, i, i, i)
	}},
	{"over lists", func(i int) string { return fmt.Sprintf(`args.items.exists(i, i.price > %d)`, 1000+i) }},
}

// allKinds has one rule in twenty go through a list; the others are shared out among the kinds, half of them for one tool.
func allKinds(i int) string {
	switch {
	case i%20 == 7:
		return ruleKinds[5].when(i)
	case i%2 == 0:
		return ruleKinds[0].when(i)
	}
	return ruleKinds[1+i/2%4].when(i)
}

// ruleCall is looked at by all of them.
var ruleCall = policy.Call{Tenant: "default", Tool: "shop.tool78", Known: true, Effect: "write", Reversible: "no", Agent: "desk", Flow: "agent.desk", User: "ana", Session: "ses_1", Run: "run_1",
	Now:  time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
	Args: json.RawMessage(`{"amount":42.5,"currency":"EUR","customer":{"id":7,"vip":false},"fee":0.5,"items":[{"price":10},{"price":20},{"price":12.5}],"note":"a gift for a friend","order":"A-17"}`)}

// rulesOf gives a book of one kind, of which the last rule matches.
func rulesOf(when func(int) string) []rulebook.Rule {
	rules := make([]rulebook.Rule, RulesCount)
	for i := range rules {
		rules[i] = rulebook.Rule{When: when(i), Then: policy.Verdict{Decision: policy.Deny}}
	}
	rules[RulesCount-1] = rulebook.Rule{Name: "last", When: `effect == "write"`, Then: policy.Verdict{Decision: policy.Ask}}
	return rules
}

func measureRules(ctx context.Context, _ *target, o Options, report *Report) error {
	if !o.Rules {
		return nil
	}
	table := &Rules{Rules: RulesCount, Target: RulesTarget}
	kinds := append(ruleKinds[:len(ruleKinds):len(ruleKinds)], struct {
		name string
		when func(int) string
	}{"of all kinds", allKinds})
	for _, kind := range kinds {
		o.Progress("rules " + kind.name)
		row, err := judgeFor(ctx, kind.name, rulesOf(kind.when), o.Duration)
		if err != nil {
			return err
		}
		table.Rows = append(table.Rows, row)
	}
	report.Rules = table
	return nil
}

// judgeFor judges one call by a book, again and again for d, and at least once.
func judgeFor(ctx context.Context, kind string, rules []rulebook.Rule, d time.Duration) (RulesRow, error) {
	begin := time.Now()
	book, err := rulebook.Compile(rules, rulebook.Options{})
	if err != nil {
		return RulesRow{}, err
	}
	row := RulesRow{Kind: kind, Compile: time.Since(begin)}
	var times []time.Duration
	sum := time.Duration(0)
	for end := time.Now().Add(d); len(times) == 0 || time.Now().Before(end) && ctx.Err() == nil; {
		begin := time.Now()
		v := policy.Judge(ctx, book, ruleCall)
		took := time.Since(begin)
		if v.Rule != "last" {
			return row, fmt.Errorf("judge by rules %s: %s by %q", kind, v.Decision, v.Rule)
		}
		times, sum = append(times, took), sum+took
	}
	if row.Judged = len(times); row.Judged > 0 {
		row.Mean = sum / time.Duration(row.Judged)
	}
	row.P50, row.P99 = quantile(times, 0.5), quantile(times, 0.99)
	return row, ctx.Err()
}

func (r *Rules) table(w io.Writer) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "%d rules\tjudged\tmean\tp50\tp99\tcompiled in\t\n", r.Rules)
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t\n", row.Kind, row.Judged, tenth(row.Mean), tenth(row.P50), tenth(row.P99), row.Compile.Round(time.Millisecond))
	}
}

func tenth(d time.Duration) time.Duration { return d.Round(100 * time.Nanosecond) }
