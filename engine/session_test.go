package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// TestOpenSession: the same id and the same address are the same session; another user's are taken.
func TestOpenSession(t *testing.T) {
	r := newRoom(t, Config{})
	first := r.session(OpenSessionInput{Channel: "chat", Address: "+1", User: "ben", Language: "pt", Flow: "talk", Metadata: []byte(`{"plan":"gold"}`)})
	id := holdshort.NewSessionID(r.clock.now().Add(time.Hour))
	for _, c := range []struct {
		name string
		in   OpenSessionInput
		same bool
		want holdshort.Code
	}{
		{"same address", OpenSessionInput{Channel: "chat", Address: "+1", User: "ben"}, true, ""},
		{"same id", OpenSessionInput{ID: first.ID, User: "ben"}, true, ""},
		{"address of another", OpenSessionInput{Channel: "chat", Address: "+1", User: "eve"}, true, holdshort.SessionTaken},
		{"address of another, with an id", OpenSessionInput{ID: id, Channel: "chat", Address: "+1", User: "eve"}, true, holdshort.SessionTaken},
		{"id of another", OpenSessionInput{ID: first.ID, User: "eve"}, true, holdshort.SessionTaken},
		{"no user", OpenSessionInput{}, false, holdshort.Invalid},
		{"no id", OpenSessionInput{ID: "mine", User: "ben"}, false, holdshort.Invalid},
		{"an address that is an id", OpenSessionInput{Address: "ses_1", User: "ben"}, false, holdshort.Invalid},
		{"metadata that is none", OpenSessionInput{Metadata: []byte("{"), User: "ben"}, false, holdshort.Invalid},
		{"another", OpenSessionInput{User: "ben"}, false, ""},
		{"new id at the old address", OpenSessionInput{ID: id, Channel: "chat", Address: "+1", User: "ben"}, false, ""},
	} {
		got, err := r.OpenSession(t.Context(), acme, c.in)
		if holdshort.CodeOf(err) != c.want || c.same && got.ID != first.ID || !c.same && got.ID == first.ID {
			t.Errorf("%s: %+v %v", c.name, got, err)
		}
		if c.want == holdshort.SessionTaken && !errors.Is(err, holdshort.Duplicate) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	was, err := r.SessionByID(t.Context(), acme, first.ID)
	if err != nil || was.EndedAt.IsZero() || string(was.Metadata) != `{"plan":"gold"}` || was.Language != "pt" {
		t.Errorf("%+v %v", was, err)
	}
	got := r.hear(holdshort.Session{Channel: "chat", Address: "+1"}, "hello")
	if got.Session != id {
		t.Errorf("%+v", got)
	}
}

// TestDeleteSession: its requests are canceled, its runs too, its texts are gone; its events stay and its id stays taken.
func TestDeleteSession(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask")}})
	s := r.chatting("")
	one := r.begin("ask", s, `"one?"`)
	two := r.begin("ask", s, `"two?"`)
	r.box.texts(t)
	reqs := r.requests(s)
	for _, c := range []struct {
		name  string
		actor holdshort.Actor
		want  holdshort.Code
	}{{"stranger", holdshort.Actor{ID: "eve", Kind: holdshort.Person}, holdshort.NotFound}, {"owner", ben, ""}, {"owner again", ben, ""}} {
		done, err := r.DeleteSession(t.Context(), acme, s.ID, c.actor)
		if holdshort.CodeOf(err) != c.want || err == nil && !done.Erased {
			t.Errorf("%s: %+v %v", c.name, done, err)
		}
	}
	r.pass(time.Hour)
	for _, id := range []holdshort.RunID{one.ID, two.ID} {
		if run := r.run(id); run.Status != holdshort.RunCanceled {
			t.Errorf("%+v", run)
		}
	}
	for _, q := range reqs {
		if now := r.request(q.ID); now.Status != holdshort.RequestCanceled || now.Question != "" {
			t.Errorf("%+v", now)
		}
	}
	if sent := r.box.texts(t); len(sent) != 0 || len(r.history(s)) != 0 {
		t.Errorf("sent %q", sent)
	}
	for _, e := range r.events(s, "hitl.request.canceled") {
		if e.Code != sessionDeleted {
			t.Errorf("%+v", e)
		}
	}
	if n := len(r.events(s, "session.erased")); n != 1 {
		t.Errorf("%d events", n)
	}
	if _, err := r.OpenSession(t.Context(), acme, OpenSessionInput{ID: s.ID, User: "ben"}); !errors.Is(err, holdshort.Closed) {
		t.Errorf("%v", err)
	}
	if _, err := r.Receive(t.Context(), acme, Inbound{Session: s.ID, ID: "1", Text: "x"}); !errors.Is(err, holdshort.Closed) {
		t.Errorf("%v", err)
	}
	if again := r.chatting(""); again.ID == s.ID {
		t.Error("the address has the deleted session")
	}
}

// TestDeleteWaitsForCalls: while a call is out everything is canceled and nothing is erased; when its outcome is known it can be.
func TestDeleteWaitsForCalls(t *testing.T) {
	out, back := make(chan struct{}), make(chan struct{})
	pay := tool.Tool{Name: "pay", Effect: tool.Write, Timeout: time.Minute, Call: func(ctx context.Context, c tool.Call) (tool.Result, error) {
		close(out)
		<-back
		return tool.Result{Value: []byte(`"paid"`)}, nil
	}}
	f := flow.New("pay", 1, func(c *flow.Context, _ string) (string, error) {
		return flow.Call[string](c, "pay", "pay", map[string]int{"eur": 1})
	})
	allow := policy.Func(func(context.Context, policy.Call) (policy.Verdict, error) {
		return policy.Verdict{Decision: policy.Allow}, nil
	})
	r := newRoom(t, Config{Flows: []flow.Flow{f}, Tools: []tool.Tool{pay}, Policy: allow})
	s := r.chatting("")
	run, err := r.Start(t.Context(), acme, StartInput{Flow: "pay", Session: s.ID, User: s.User, Input: []byte(`""`)})
	if err != nil {
		t.Fatal(err)
	}
	<-out
	done, err := r.DeleteSession(t.Context(), acme, s.ID, ben)
	if err != nil || done.Erased || len(done.Runs) != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	if got := r.run(run.ID); got.Status != holdshort.RunCanceled {
		t.Fatalf("%+v", got)
	}
	close(back)
	r.settle()
	r.wg.Wait()
	if done, err := r.DeleteSession(t.Context(), acme, s.ID, ben); err != nil || !done.Erased {
		t.Errorf("%+v %v", done, err)
	}
	err = r.store.View(t.Context(), acme, func(tx store.ReadTx) error {
		ops, err := tx.Operations(run.ID)
		if err == nil && (len(ops) != 1 || ops[0].Status != holdshort.OperationDone) {
			t.Errorf("%+v", ops)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMessagesOutliveTheirRun: a message for a run that is busy and ends without taking it starts the next run; what came after it waits there.
func TestMessagesOutliveTheirRun(t *testing.T) {
	type message struct {
		Text string `json:"text"`
	}
	busy, free := make(chan struct{}, 8), make(chan struct{})
	slow := flow.New("slow", 1, func(c *flow.Context, in message) (string, error) {
		return flow.Step(c, "work", func(context.Context) (string, error) {
			busy <- struct{}{}
			<-free
			return in.Text, nil
		})
	})
	r := newRoom(t, Config{Flows: []flow.Flow{slow}})
	s := r.chatting("slow")
	receive := func(id string) Received {
		t.Helper()
		got, err := r.Receive(t.Context(), acme, Inbound{Channel: "chat", Address: "+1", ID: id, Text: id})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := receive("one")
	<-busy
	for _, id := range []string{"two", "three"} {
		r.clock.move(time.Second)
		if got := receive(id); got.Outcome != RoutedPost || got.Run != first.Run {
			t.Fatalf("%+v", got)
		}
	}
	close(free)
	r.settle()
	page, err := r.Runs(t.Context(), acme, RunQuery{Session: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	var results []string
	for _, run := range page.Items {
		results = append(results, strings.Trim(string(run.Result), `"`))
	}
	if got := strings.Join(results, ","); got != "three,two,one" {
		t.Errorf("results, newest first: %s", got)
	}
}
