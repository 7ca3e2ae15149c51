package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// TestComments: what was said about a request, oldest first, of a run, of the gate, and after its text was erased.
func TestComments(t *testing.T) {
	onBoth(t, Config{Flows: []flow.Flow{asker("ask")}}, func(t *testing.T, r *room) {
		s := r.session(OpenSessionInput{})
		r.begin("ask", s, `"name?"`)
		r.begin("ask", s, `"age?"`)
		reqs := r.requests(s)
		gate, err := r.Ask(t.Context(), acme, AskInput{Kind: holdshort.Approval, Question: "Refund?", Actor: shop, Actions: []AskAction{{Tool: "refund", Args: []byte(`{"n":1}`)}}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			for _, id := range []holdshort.RequestID{reqs[0].ID, gate.Request.ID} {
				if _, err := r.Comment(t.Context(), acme, CommentInput{Request: id, Actor: olga, Text: fmt.Sprint(i, " about ", id)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, c := range []struct {
			id   holdshort.RequestID
			want int
		}{{reqs[0].ID, 3}, {reqs[1].ID, 0}, {gate.Request.ID, 3}} {
			list, err := r.Comments(t.Context(), acme, c.id)
			if err != nil || len(list) != c.want || list == nil {
				t.Fatalf("%+v %v", list, err)
			}
			for i, got := range list {
				if got.Text != fmt.Sprint(i, " about ", c.id) || got.Actor != "olga" || got.At.IsZero() || got.Erased || !strings.HasPrefix(string(got.ID), "evt_") {
					t.Errorf("%+v", got)
				}
			}
		}
		for name, tenant := range map[string]holdshort.TenantID{"another tenant": "rival", "unknown": acme} {
			id := reqs[0].ID
			if name == "unknown" {
				id = holdshort.NewRequestID(r.clock.now())
			}
			if _, err := r.Comments(t.Context(), tenant, id); holdshort.CodeOf(err) != holdshort.NotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := r.DeleteSession(t.Context(), acme, s.ID, ben); err != nil {
			t.Fatal(err)
		}
		list, err := r.Comments(t.Context(), acme, reqs[0].ID)
		if err != nil || len(list) != 3 || !list[0].Erased || list[0].Text != "" || list[0].Actor != "olga" {
			t.Errorf("%+v %v", list, err)
		}
	})
}
