package inbox

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/testall"
)

// What is withheld stays so on every page, whoever looks and whatever became of it. Only the journals of runs have it, for those who may read them.
func TestAttackWithheldEverywhere(t *testing.T) {
	t.Parallel()
	b := newCardBed(t)
	const secret = "DE-SECRET-77"
	args := func(order string) string {
		return `{"order":"` + order + `","amount":20,"iban":"` + secret + `","deep":{"secret":"` + secret + `-deep","open":1}}`
	}
	before := b.start("refund", args("1"))
	if _, err := b.engine.Decide(t.Context(), cardTenant, engine.DecideInput{Request: before.ID, Action: holdshort.Edit, Actor: holdshort.Actor{ID: "ben", Kind: holdshort.Person, Roles: []string{"finance"}},
		Args: json.RawMessage(strings.Replace(args("1"), "20", "21", 1))}); err != nil {
		t.Fatal(err)
	}
	b.rest(before)
	asked, batch := b.start("refund", args("2")), b.start("batch", `{}`)
	gate, err := b.engine.Ask(t.Context(), cardTenant, engine.AskInput{Kind: holdshort.Approval, Actor: holdshort.Actor{ID: "key:x", Kind: holdshort.Service}, Actions: []engine.AskAction{{Tool: "orders.refund", Args: json.RawMessage(args("3"))}}})
	if err != nil {
		t.Fatal(err)
	}
	b.indexed(gate.Request, "orders.refund")
	paths := []string{"/", "/?view=decided", "/?q=SECRET", "/?q=DE", "/?part=rows", "/runs", "/sessions", "/overview", "/policy", "/audit", "/audit/export?format=csv", "/audit/export?format=ndjson", "/settings", "/playground"}
	open := []holdshort.Request{asked, batch, gate.Request}
	for _, r := range append(open, before) {
		id := string(r.ID)
		paths = append(paths, "/requests/"+id, "/requests/"+id+"/card", "/requests/"+id+"/card?edit", "/r/"+id, "/?q="+id, "/?part=row&id="+id, "/audit?request="+id)
		if r.RunID != "" {
			run := "/runs/" + string(r.RunID)
			paths = append(paths, run, run+"/timeline", run+"?step=1", run+"?step=2", run+"?step=3&unfold=all")
		}
	}
	people := []string{"ana", "olga", "adam", "eve"} // finance, operator, administrator, no role
	if testall.Enabled() {
		people = append(people, "ben", "rea", "abe")
	}
	for _, who := range people {
		tells := func(path string, got cardAnswer) {
			t.Helper()
			if i := strings.Index(got.body, "DE-SECRET"); i >= 0 && !(strings.HasPrefix(path, "/runs/") && (who == "adam" || who == "abe")) {
				t.Errorf("%s %s: %d …%s", who, path, got.status, got.body[max(0, i-150):min(len(got.body), i+60)])
			}
		}
		for _, path := range paths {
			tells(path, b.call(who, "GET", path, nil, "HX-Request", ""))
		}
		for _, r := range open {
			form := url.Values{"verb": {"approve"}, "pick": {string(r.ID)}, "id": {string(r.ID)}, "fingerprint": {r.Fingerprint}, "key": {"k"}, "editing": {"1"}, "a.0.amount": {"6000"}, "a.1.amount": {"x"}, "a.0.note": {"x"}, "a.0.iban": {"y"}}
			for _, path := range []string{"/requests/batch?step=summary", "/requests/batch", "/requests/" + string(r.ID) + "/check", "/requests/" + string(r.ID) + "/comment", "/requests/" + string(r.ID) + "/decide"} {
				tells(path, b.post(who, path, form))
			}
			if now := b.standing(r); now.Status != holdshort.RequestOpen {
				t.Fatalf("%s decided %s: %s", who, r.ID, now.Status)
			}
		}
	}
}
