package setup_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// From YAML to the money: a message, a pause that shows exactly what will happen, an approval, one call of exactly that, the answer.
func TestDesk(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk)})
	session := h.session("refunds")
	taken := h.says(session, "please refund order 77 for 120")
	if taken.Run == nil || taken.Run.Status != holdshort.RunWaiting || taken.Run.Agent != "refunds" || taken.Request == nil {
		t.Fatalf("%+v", taken)
	}
	req := taken.Request
	if req.Rule != "refunds" || len(req.Actions) != 1 || req.Actions[0].Tool != "orders.refund" || string(req.Actions[0].Args) != `{"amount":120,"order":"77"}` || !slices.Equal(req.Audience.Roles, reviewer) {
		t.Errorf("%+v", req.Request)
	}
	if told := h.shop.told(); len(told) != 0 {
		t.Fatalf("before anybody agreed: %q", told)
	}
	if _, err := h.as("ben").Decide(t.Context(), req.ID, client.Choice{Action: "approve"}); holdshort.CodeOf(err) != holdshort.Forbidden {
		t.Errorf("whoever asked for it approved it: %v", err)
	}
	if _, err := h.as("ana", reviewer...).Decide(t.Context(), req.ID, client.Choice{Action: "approve"}); err != nil {
		t.Fatal(err)
	}
	run := h.end(taken.Run.ID)
	if run.Status != holdshort.RunCompleted || !strings.Contains(string(run.Result), `Done: paid back 77`) {
		t.Errorf("%s %s %+v", run.Status, run.Result, run.Error)
	}
	if told := h.shop.told(); !slices.Equal(told, []string{`POST /refunds {"amount":120,"order":"77"}`}) || !strings.Contains(h.shop.keys[0], string(run.ID)) {
		t.Errorf("%q under %q", told, h.shop.keys)
	}
	ops, err := h.as("ben").Operations(t.Context(), run.ID)
	if err != nil || len(ops) != 1 || ops[0].ExternalIDs["refund"][0] != "re_1" {
		t.Errorf("%+v, %v", ops, err)
	}
	messages, err := h.as("ben").Messages(t.Context(), session, client.FindMessages{})
	if err != nil {
		t.Fatal(err)
	}
	last := messages.Items[len(messages.Items)-1]
	if last.Role != holdshort.RoleAssistant || last.Parts[0].Text != "Done: paid back 77" {
		t.Errorf("%+v", last)
	}
}
