package holdshorttest

import (
	"testing"

	"github.com/holdshort/holdshort"
)

func TestMatch(t *testing.T) {
	req := holdshort.Request{Kind: holdshort.Approval, Question: `Run refund {"amount":120}?`, OriginStepID: "branch/a/pay", RunID: "run_1",
		Actions: []holdshort.Action{{Tool: "lookup"}, {Tool: "refund"}}, Audience: holdshort.Audience{Roles: []string{"finance", "board"}},
		Requester: holdshort.Requester{User: "ben"}}
	tests := []struct {
		match Match
		fits  bool
		text  string
	}{
		{Match{}, true, "Match{}"},
		{Match{Tool: "refund"}, true, `Match{Tool: "refund"}`},
		{Match{Tool: "mail"}, false, `Match{Tool: "mail"}`},
		{Match{Kind: holdshort.Approval}, true, `Match{Kind: "approval"}`},
		{Match{Kind: holdshort.Escalation}, false, `Match{Kind: "escalation"}`},
		{Match{Question: `"amount":120`}, true, `Match{Question: "\"amount\":120"}`},
		{Match{Question: "weather"}, false, `Match{Question: "weather"}`},
		{Match{Step: "/pay"}, true, `Match{Step: "/pay"}`},
		{Match{Step: "ship"}, false, `Match{Step: "ship"}`},
		{Match{Role: "board"}, true, `Match{Role: "board"}`},
		{Match{Role: "reviewer"}, false, `Match{Role: "reviewer"}`},
		{Match{User: "ben", Tool: "refund"}, true, `Match{Tool: "refund", User: "ben"}`},
		{Match{User: "eve", Tool: "refund"}, false, `Match{Tool: "refund", User: "eve"}`},
		{Match{Run: "run_1"}, true, `Match{Run: "run_1"}`},
		{Match{Run: "run_2"}, false, `Match{Run: "run_2"}`},
		{Match{Func: func(r holdshort.Request) bool { return len(r.Actions) == 2 }}, true, "Match{Func: …}"},
		{Match{Func: func(r holdshort.Request) bool { return len(r.Actions) == 1 }}, false, "Match{Func: …}"},
	}
	for _, tt := range tests {
		if tt.match.fits(req) != tt.fits || tt.match.String() != tt.text {
			t.Errorf("%s fits: %v, want %v for %s", tt.match, !tt.fits, tt.fits, tt.text)
		}
	}
}
