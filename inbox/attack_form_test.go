package inbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/testall"
)

// A schema that contains itself many times over, or leads to more fields than anybody fills in, makes a form that a page can hold.
func TestAttackSchemaOfItself(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	node := func(name string, to func(i int) string) string {
		var properties []string
		for i := range 5 { // 5⁶ fields: more than a form may have
			properties = append(properties, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/%s"}`, i, to(i)))
		}
		return fmt.Sprintf(`"%s":{"type":"object","properties":{"name":{"type":"string"},%s}}`, name, strings.Join(properties, ","))
	}
	self := `{"$ref":"#/$defs/n","$defs":{` + node("n", func(int) string { return "n" }) + `}}`
	round := `{"$ref":"#/$defs/a","$defs":{` + node("a", func(int) string { return "b" }) + "," + node("b", func(i int) string { return "ac"[i%2 : i%2+1] }) + "," + node("c", func(int) string { return "a" }) + `}}`
	fan := `{"$ref":"#/$defs/n0","$defs":{"n7":{"type":"string"}`
	for i := range 7 {
		fan += "," + node(fmt.Sprint("n", i), func(int) string { return fmt.Sprint("n", i+1) })
	}
	fan += "}}"
	schemas := map[string]string{"in a circle": round, "a fan": fan}
	if testall.Enabled() {
		schemas["itself"] = self // the shortest circle
	}
	for name, schema := range schemas {
		asked, err := b.engine.Ask(t.Context(), cardTenant, engine.AskInput{Kind: holdshort.Clarification, Question: "Fill it in", Schema: json.RawMessage(schema), ExpectedInput: holdshort.Form,
			Audience: holdshort.Audience{Roles: []string{"finance"}}, Actor: holdshort.Actor{ID: "key:x", Kind: holdshort.Service}})
		if err != nil {
			t.Fatal(name, err)
		}
		got := b.get("ana", "/requests/"+string(asked.Request.ID)+"/card")
		if got.status != 200 || len(got.body) > 4<<20 {
			t.Errorf("%s: %d, a card of %d bytes", name, got.status, len(got.body))
		}
		if got := b.decide("ana", asked.Request, "action", "answer", "f.name", "x", "f.p0", `{"name":"y"}`); got.status != 200 {
			t.Errorf("%s: %d %.300s", name, got.status, got.body)
		}
	}
}

// A list that is too long for fields is not cut by editing something else.
func TestAttackLongListIsNotCut(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"lines":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"}}}}}}`)
	var lines []string
	for i := range mostItems + 100 {
		lines = append(lines, fmt.Sprintf(`{"sku":"s%d"}`, i))
	}
	was := json.RawMessage(`{"lines":[` + strings.Join(lines, ",") + `],"n":1}`)
	f := fieldFor(shapeOf(schema), schema, was, nil, "f", "", true, outermost())
	got, err := f.read()
	if err != nil {
		t.Fatal(err)
	}
	if same, err := holdshort.Canonical(got); err != nil || string(same) != string(was) {
		t.Errorf("%d of %d bytes are left, %v", len(same), len(was), err)
	}
}
