package sqldb

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/holdshort/holdshort"
)

// TestWordOf: whatever else a payload says, the two words are found where they are stored, and nowhere else.
func TestWordOf(t *testing.T) {
	trap := json.RawMessage(`{"rule":"trap","outcome":"trap","list":[{"rule":"trap"}]}`)
	words := []string{"", "refunds", `over "100"`, `back\slash`, "tab\t, comma, {brace}", "é 日本", `"rule":"trap"`, `\"`, "<&>"}
	for _, rule := range words {
		for _, other := range words {
			fixed := requestFixed{Version: 1, Code: other, Reason: other, PolicySource: other, Rule: rule, Trace: other, Question: other, Schema: trap, Context: trap,
				Actions: []storedAction{{CallID: "1", Tool: "t", Args: trap}}, Options: []holdshort.Option{{ID: "rule", Label: "trap"}}, ReturnTo: holdshort.ReturnTo{Node: "rule", Mode: "trap"}}
			raw, err := json.Marshal(fixed)
			if err != nil {
				t.Fatal(err)
			}
			if got := wordOf(raw, "rule"); got != rule {
				t.Errorf("the rule of %s is %q", raw, got)
			}
			body, err := json.Marshal(requestBody{Outcome: holdshort.Outcome(rule), CancelReason: other, Reasks: 3})
			if err != nil {
				t.Fatal(err)
			}
			if got := wordOf(body, "outcome"); got != rule {
				t.Errorf("the outcome of %s is %q", body, got)
			}
		}
	}
	for _, raw := range []string{"", "{", "{}", "null", "[]", `{"rule`, `{"rule"`, `{"rule":`, `{"rule":"`, `{"rule":"x`, `{"rule":"x\`, `{"rule":7}`, `{"rule":null}`, `{"rule":{"rule":"x"}}`, `{"a":1,`, `{"a":"\`, `{"a":"\"`} {
		if got := wordOf([]byte(raw), "rule"); got != "" {
			t.Errorf("of %s it made %q", raw, got)
		}
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 20_000 { // whatever somebody wrote into the row, it ends
		raw := []byte(fmt.Sprintf(`{"v":1,"code":"%x","rule":"refunds"}`, random.Uint32()))
		for range 1 + random.IntN(4) {
			raw[random.IntN(len(raw))] = `{}[]":\,a1`[random.IntN(10)]
		}
		wordOf(raw[:random.IntN(len(raw)+1)], "rule")
	}
}
