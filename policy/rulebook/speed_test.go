package rulebook

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort/policy"
)

// sample makes n rules of one shape, of which only the last matches.
func sample(shape string, n int) []Rule {
	rules := make([]Rule, n)
	for i := range rules {
		name := fmt.Sprintf("shop.tool%d", i)
		when := map[string]string{
			"by tool":    fmt.Sprintf("tool == %q && args.amount > %d", name, i),
			"last":       fmt.Sprintf("args.amount > %d && tool == %q", i, name),
			"by args":    fmt.Sprintf("args.amount > %d && args.currency == \"EUR\"", 1000+i),
			"by text":    fmt.Sprintf("args.note.contains(\"word%d\") || args.customer.vip && cost > %d", i, i),
			"by time":    fmt.Sprintf("now.getHours() > 30 && args.amount * 1.19 > %d.5", i),
			"by pattern": fmt.Sprintf("tool.matches(\"^shop[.]none%d$\") && has(args.amount)", i),
			"by loop":    fmt.Sprintf("args.items.exists(i, i.price > %d)", 1000+i),
			"mixed":      []string{fmt.Sprintf("tool == %q && args.amount > %d", name, i), fmt.Sprintf("effect == \"read\" && agent == \"agent%d\"", i), fmt.Sprintf("args.amount > %d", 1000+i), fmt.Sprintf("tool.startsWith(\"other%d/\")", i), fmt.Sprintf("actor in [\"ana%d\", \"ben%d\"] && cost > 5", i, i)}[i%5],
		}[shape]
		rules[i] = Rule{When: when, Then: policy.Verdict{Decision: policy.Ask}}
	}
	rules[n-1] = Rule{When: `effect == "write"`, Then: policy.Verdict{Decision: policy.Ask}}
	return rules
}

var order = policy.Call{Tool: "shop.tool77", Known: true, Effect: "write", Reversible: "no", Cost: 3, Agent: "desk", Flow: "agent.desk", User: "ana", Session: "ses_1", Run: "run_1",
	Tenant: "default", Now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	Args: json.RawMessage(`{"amount":42.5,"currency":"EUR","customer":{"id":7,"vip":false},"items":[{"price":10},{"price":20},{"price":12.5}],"note":"a gift for a friend","order":"A-17"}`)}

func BenchmarkJudge(b *testing.B) {
	for _, shape := range []string{"by tool", "last", "by args", "by text", "by time", "by pattern", "by loop", "mixed"} {
		b.Run(shape, func(b *testing.B) {
			book, err := Compile(sample(shape, 200), Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if v, err := book.Explain(order); err != nil || v.Decision != policy.Ask {
					b.Fatal(v, err)
				}
			}
		})
	}
}
