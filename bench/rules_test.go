package bench

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/policy/rulebook"
)

// Every kind of rules is judged to its last one, and the table says so. How long it took is for people to read.
func TestRules(t *testing.T) {
	report := newReport()
	if err := measureRules(t.Context(), nil, Options{Rules: true, Duration: time.Nanosecond}.withDefaults(), &report); err != nil {
		t.Fatal(err)
	}
	for _, row := range report.Rules.Rows {
		if row.Judged == 0 || row.Mean <= 0 || row.P50 > row.P99 || row.Compile <= 0 {
			t.Errorf("%+v", row)
		}
	}
	var table bytes.Buffer
	if err := report.WriteTable(&table); err != nil || strings.Count(table.String(), "\n") != 2+len(ruleKinds)+1 || !strings.Contains(table.String(), "of all kinds") {
		t.Errorf("%v\n%s", err, table.String())
	}
}

func BenchmarkRules(b *testing.B) {
	for _, kind := range append(ruleKinds[:len(ruleKinds):len(ruleKinds)], struct {
		name string
		when func(int) string
	}{"of all kinds", allKinds}) {
		b.Run(strings.ReplaceAll(kind.name, " ", "_"), func(b *testing.B) {
			book, err := rulebook.Compile(rulesOf(kind.when), rulebook.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if v := policy.Judge(b.Context(), book, ruleCall); v.Rule != "last" {
					b.Fatal(v)
				}
			}
		})
	}
}
