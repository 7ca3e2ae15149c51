package engine

import (
	"errors"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// escalating hands a matter to the operators and completes with what they said.
func escalating() flow.Flow {
	type told struct {
		Approved bool   `json:"approved"`
		Message  string `json:"message"`
		Data     string `json:"data"`
		By       string `json:"by"`
	}
	return flow.New("escalate", 1, func(c *flow.Context, q string) (told, error) {
		a, err := flow.Escalate(c, "lost", flow.Question{Text: q})
		return told{Approved: a.Approved(), Message: a.Message, Data: string(a.Value), By: a.Actor.ID}, err
	})
}

// TestResolveEscalation: by id, or by session if only one is open; who resolved it is who authenticated.
func TestResolveEscalation(t *testing.T) {
	onBoth(t, Config{Flows: []flow.Flow{escalating(), asker("ask")}}, func(t *testing.T, r *room) {
		s, other := r.chatting(""), r.session(OpenSessionInput{})
		resolve := func(in ResolveInput) (Decided, error) {
			out, err := r.ResolveEscalation(t.Context(), acme, in)
			r.settle()
			return out, err
		}
		if _, err := resolve(ResolveInput{Session: s.ID, Actor: olga}); holdshort.CodeOf(err) != holdshort.NotFound {
			t.Errorf("none: %v", err)
		}
		one := r.begin("escalate", s, `"parcel lost"`)
		question := r.begin("ask", s, `"name?"`)
		ids := map[holdshort.RunID]holdshort.RequestID{}
		for _, req := range r.requests(s) {
			ids[req.RunID] = req.ID
		}
		if v, err := r.SessionFor(t.Context(), acme, s.ID, ben); err != nil || v.HitlState != HitlEscalated || len(v.Open) != 2 || v.Open[0] != ids[one.ID] {
			t.Errorf("%+v %v", v, err)
		}
		for _, c := range []struct {
			name string
			in   ResolveInput
			want holdshort.Code
		}{
			{"nothing named", ResolveInput{Actor: olga}, holdshort.Invalid},
			{"data that is none", ResolveInput{Session: s.ID, Actor: olga, Data: []byte("{")}, holdshort.Invalid},
			{"a label without end", ResolveInput{Session: s.ID, Actor: olga, ResolvedBy: string(make([]byte, 201))}, holdshort.Invalid},
			{"another kind", ResolveInput{Request: ids[question.ID], Actor: olga}, holdshort.NotFound},
			{"of another session", ResolveInput{Request: ids[one.ID], Session: other.ID, Actor: olga}, holdshort.NotFound},
			{"unknown session", ResolveInput{Session: holdshort.NewSessionID(r.clock.now()), Actor: olga}, holdshort.NotFound},
			{"a stranger, by session", ResolveInput{Session: s.ID, Actor: eve}, holdshort.NotFound},
			{"a stranger, by id", ResolveInput{Request: ids[one.ID], Actor: eve}, holdshort.NotFound},
			{"the user", ResolveInput{Session: s.ID, Actor: ben, Approved: true}, holdshort.Forbidden},
		} {
			if _, err := resolve(c.in); holdshort.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
		}
		if len(r.events(s, "access.denied")) == 0 {
			t.Error("no refusal was recorded")
		}
		out, err := resolve(ResolveInput{Session: s.ID, Actor: olga, Approved: true, Message: "send another", Data: []byte(`{"days": 2}`), ResolvedBy: "second line", Channel: "api"})
		if err != nil || out.Decision == nil || out.Decision.Actor.ID != "olga" || out.Decision.ResolvedBy != "second line" {
			t.Fatalf("%+v %v", out, err)
		}
		if run := r.run(one.ID); string(run.Result) != `{"approved":true,"message":"send another","data":"{\"days\":2}","by":"olga"}` {
			t.Errorf("%s %+v", run.Result, run.Error)
		}
		if d, err := r.Decision(t.Context(), acme, ids[one.ID]); err != nil || d.ResolvedBy != "second line" {
			t.Errorf("%+v %v", d, err)
		}
		if _, err := resolve(ResolveInput{Request: ids[one.ID], Actor: oskar}); holdshort.CodeOf(err) != holdshort.Closed {
			t.Errorf("again: %v", err)
		}
		two, three := r.begin("escalate", s, `"two"`), r.begin("escalate", s, `"three"`)
		_, err = resolve(ResolveInput{Session: s.ID, Actor: olga})
		var several *Several
		if !errors.Is(err, holdshort.SeveralOpen) || !errors.As(err, &several) || len(several.IDs) != 2 {
			t.Fatalf("several: %v", err)
		}
		if out, err := resolve(ResolveInput{Request: several.IDs[1], Session: s.ID, Actor: olga}); err != nil || out.Request.Outcome != holdshort.Rejected || out.Request.RunID != three.ID {
			t.Errorf("%+v %v", out.Request, err)
		}
		if out, err := resolve(ResolveInput{Session: s.ID, Actor: oskar}); err != nil || out.Request.RunID != two.ID {
			t.Errorf("%+v %v", out.Request, err)
		}
		if n := len(r.events(s, "hitl.escalation.resolved")); n != 3 {
			t.Errorf("%d resolved", n)
		}
	})
}

// TestResolveFreeQuestion: an escalation of a question that takes no yes is resolved by its answer.
func TestResolveFreeQuestion(t *testing.T) {
	up := flow.New("up", 1, func(c *flow.Context, q string) (string, error) {
		return flow.Ask(c, "q", flow.Question{Text: q, OnTimeout: holdshort.TimeoutEscalate})
	})
	r := newRoom(t, Config{Flows: []flow.Flow{up}})
	s := r.session(OpenSessionInput{})
	run := r.begin("up", s, `"which colour?"`)
	r.pass(6 * 60e9)
	if _, err := r.ResolveEscalation(t.Context(), acme, ResolveInput{Session: s.ID, Actor: olga, Approved: true, Message: "blue"}); err != nil {
		t.Fatal(err)
	}
	r.settle()
	if got := r.run(run.ID); string(got.Result) != `"blue"` {
		t.Errorf("%s %+v", got.Result, got.Error)
	}
}
