package inbox

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/testall"
)

// Whatever two texts are, what is not new is the one and what is not gone is the other.
func TestLineDiffHasBothTexts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var lines []string
		for range 2 + r.IntN(20) {
			lines = append(lines, string(rune('a'+r.IntN(5))))
		}
		return strings.Join(lines, "\n")
	}
	for range 2000 {
		was, is := text(), text()
		var a, b []string
		for _, l := range lineDiff(was, is) {
			if l.Tone != "yes" {
				a = append(a, l.Text)
			}
			if l.Tone != "no" {
				b = append(b, l.Text)
			}
		}
		if strings.Join(a, "\n") != was || strings.Join(b, "\n") != is {
			t.Fatalf("%q to %q gives %q and %q", was, is, a, b)
		}
	}
	if lineDiff("one line", "another") != nil || lineDiff(strings.Repeat("x\n", 2000), "a\nb") != nil {
		t.Error("lines are compared where that says nothing, or costs too much")
	}
}

func TestCompareWithTheLastOne(t *testing.T) {
	t.Parallel()
	request := func(args string, redacted ...string) holdshort.Request {
		return holdshort.Request{ID: "req_1", Outcome: holdshort.Approved, Actions: []holdshort.Action{{CallID: "c", Tool: "pay", Args: json.RawMessage(args), Redacted: redacted}}}
	}
	now := sight{RequestView: engine.RequestView{Request: request(`{"amount":620,"iban":"SECRET-NEW","lines":[{"sku":"A"},{"sku":"B"}],"to":"cora"}`, "iban")}}
	last := &engine.RequestView{Request: request(`{"amount":590,"gone":true,"iban":"SECRET-OLD","lines":[{"sku":"A"}],"to":"cora"}`, "iban")}
	got := compareOf(now, last)
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "SECRET") {
		t.Errorf("what is withheld is compared: %s", raw)
	}
	rows := map[string]diffRow{}
	for _, r := range got.Rows {
		rows[r.Name] = r
	}
	if len(rows) != 4 || rows["amount"].Was != "590" || rows["amount"].Is != "620" || !rows["iban"].Withheld || rows["lines.2.sku"].Is != "B" || rows["gone"].Was != "true" || got.Same != 2 {
		t.Errorf("%s", raw)
	}
	now.revealed = true // this one was; the other was not
	if raw, _ := json.Marshal(compareOf(now, last)); strings.Contains(string(raw), "SECRET") {
		t.Errorf("what is withheld of the last one is compared: %s", raw)
	}
	if compareOf(now, nil) != nil {
		t.Error("there is nothing to compare with")
	}
}

// However many values there are, comparing them takes no time: what is too long is not compared.
func TestCompareManyValues(t *testing.T) {
	t.Parallel()
	values := 4 * mostLeaves
	if testall.Enabled() {
		values = 20 * mostLeaves
	}
	request := func(last string) holdshort.Request {
		args := json.RawMessage(`{"list":[` + strings.Repeat("7,", values) + last + `]}`)
		return holdshort.Request{Outcome: holdshort.Approved, Actions: []holdshort.Action{{CallID: "c", Tool: "pay", Args: args}}}
	}
	got := compareOf(sight{RequestView: engine.RequestView{Request: request("1")}}, &engine.RequestView{Request: request("2")})
	if !got.Long || len(got.Rows) != 0 {
		t.Errorf("%d rows", len(got.Rows))
	}
	leaves := func(last string) []leaf { return leavesOf(request(last).Actions[0].Args, nil) }
	if rows, same := diffOf(leaves("1"), leaves("2")); len(rows) != 1 || same != values {
		t.Errorf("%d rows, %d alike", len(rows), same)
	}
}
