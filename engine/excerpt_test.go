package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// TestExcerpt: whoever decides sees what was said before, without what is withheld from them; whoever sees the session sees it as it is; nobody else
// sees anything.
func TestExcerpt(t *testing.T) {
	rule := policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Decision: policy.Ask, Redacted: []string{"iban", "owner.tax"}, Audience: holdshort.Audience{Roles: []string{"finance"}}}, nil
	})
	r := newRoom(t, Config{Policy: rule})
	s := r.session(OpenSessionInput{User: "ben"})
	say := func(role holdshort.Role, text string) {
		r.clock.move(time.Second)
		r.appendAll(s, NewMessage{Sender: string(role), Text: text})
	}
	say(holdshort.RoleUser, "My account is de89 3704, number DE893704 and tax 12345678.")
	say(holdshort.RoleAssistant, "Thank you. One moment.")
	r.clock.move(time.Second)
	asked, err := r.Ask(t.Context(), acme, AskInput{ID: "a", Kind: holdshort.Approval, Session: s.ID, Actor: holdshort.Actor{ID: "key:shop", Kind: holdshort.Service, Roles: []string{policy.Admin}},
		Actions: []AskAction{{CallID: "c1", Tool: "pay", Args: json.RawMessage(`{"iban":"DE893704","owner":{"tax":12345678},"amount":20}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	say(holdshort.RoleUser, "And a secret afterwards.")
	for name, c := range map[string]struct {
		actor holdshort.Actor
		whole bool
		want  []string
	}{
		"finance":  {holdshort.Actor{ID: "fay", Kind: holdshort.Person, Roles: []string{"finance"}}, false, []string{"My account is de89 3704, number [withheld] and tax [withheld].", "Thank you. One moment."}},
		"reviewer": {holdshort.Actor{ID: "rob", Kind: holdshort.Person, Roles: []string{policy.Reviewer}}, false, nil},
		"stranger": {holdshort.Actor{ID: "eve", Kind: holdshort.Person}, false, nil},
		"owner":    {holdshort.Actor{ID: "ben", Kind: holdshort.Person}, true, []string{"My account is de89 3704, number DE893704 and tax 12345678.", "Thank you. One moment.", "And a secret afterwards."}},
		"operator": {holdshort.Actor{ID: "olga", Kind: holdshort.Person, Roles: []string{policy.Operator}}, true, []string{"My account is de89 3704, number DE893704 and tax 12345678.", "Thank you. One moment.", "And a secret afterwards."}},
	} {
		shown := asked.Request
		shown.Actions = nil // what the caller was shown does not matter
		got, err := r.Excerpt(t.Context(), acme, shown, c.actor, 6)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range got.Messages {
			texts = append(texts, m.Parts[0].Text)
		}
		if strings.Join(texts, "|") != strings.Join(c.want, "|") || got.Whole != c.whole || !c.whole && got.Session.User != "" {
			t.Errorf("%s: %q, whole %v, user %q", name, texts, got.Whole, got.Session.User)
		}
	}
	got, err := r.Excerpt(t.Context(), acme, asked.Request, holdshort.Actor{ID: "fay", Kind: holdshort.Person, Roles: []string{"finance"}}, 1)
	if err != nil || len(got.Messages) != 1 || !got.More {
		t.Errorf("%+v %v", got, err)
	}
}
