package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

var boss = holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"admin", "operator"}, Assurance: holdshort.AssuranceLogin}
var ben = holdshort.Actor{ID: "ben", Kind: holdshort.Person, Assurance: holdshort.AssuranceLogin}

// TestOnePromptAtATime: the oldest is asked, the others wait with their clocks standing, and each gets its turn when the one before closes.
func TestOnePromptAtATime(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask")}})
	s := r.chatting("")
	for i := range 3 {
		r.begin("ask", s, fmt.Sprintf(`"question %d?"`, i+1))
		r.clock.move(time.Second)
	}
	r.settle()
	if got := r.box.texts(t); len(got) != 1 || got[0] != "question 1?" {
		t.Fatalf("sent %q", got)
	}
	reqs := r.requests(s)
	asked := reqs[0].AskedAt
	if asked.IsZero() || !reqs[0].ExpiresAt.Equal(asked.Add(5*time.Minute)) || reqs[0].Code == "" {
		t.Errorf("first: %+v", reqs[0])
	}
	for _, q := range reqs[1:] {
		if !q.AskedAt.IsZero() || !q.ExpiresAt.IsZero() || !q.QueueUntil.Equal(q.CreatedAt.Add(24*time.Hour)) || q.Code == "" {
			t.Errorf("queued: %+v", q)
		}
	}
	if n := len(r.events(s, "hitl.request.queued")); n != 2 {
		t.Errorf("%d queued events", n)
	}
	// The third may be decided from the inbox while it waits; then it is never asked.
	if _, err := r.Decide(t.Context(), acme, DecideInput{Request: reqs[2].ID, Action: holdshort.Answer, Value: []byte(`"three"`), Actor: ben}); err != nil {
		t.Fatal(err)
	}
	r.pass(2 * time.Minute)
	if got := r.box.texts(t); len(got) != 0 {
		t.Fatalf("sent %q", got)
	}
	if got := r.hear(s, "one"); got.Outcome != RoutedDecision {
		t.Fatalf("%+v", got)
	}
	second := r.request(reqs[1].ID)
	if !second.AskedAt.Equal(r.clock.now()) || !second.ExpiresAt.Equal(second.AskedAt.Add(5*time.Minute)) || second.Question != "question 2?" || second.Code != reqs[1].Code ||
		second.Fingerprint != reqs[1].Fingerprint {
		t.Errorf("asked at %v, expires %v", second.AskedAt, second.ExpiresAt)
	}
	if got := r.box.texts(t); len(got) != 1 || got[0] != "question 2?" {
		t.Fatalf("sent %q", got)
	}
	r.pass(11 * time.Second)
	if got := r.hear(s, "two"); got.Outcome != RoutedDecision {
		t.Fatalf("%+v", got)
	}
	if got, _ := r.SessionByID(t.Context(), acme, s.ID); got.Prompt != "" {
		t.Errorf("prompt %s is left", got.Prompt)
	}
	var said []string
	for _, m := range r.history(s) {
		said = append(said, m.Type+" "+m.Parts[0].Text)
	}
	if want := "hitl_question question 1?|hitl_reply three|hitl_reply one|hitl_question question 2?|hitl_reply two"; strings.Join(said, "|") != want {
		t.Errorf("history %q", said)
	}
}

// TestExpiryAsksTheNext: a prompt that nobody answers makes room, and a queued one closes after a day without being asked.
func TestExpiryAsksTheNext(t *testing.T) {
	forever := flow.New("forever", 1, func(c *flow.Context, question string) (string, error) {
		return flow.Ask(c, "q", flow.Question{Text: question, Expires: flow.Never})
	})
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask"), forever}})
	s := r.chatting("")
	r.begin("ask", s, `"first?"`)
	r.begin("forever", s, `"second?"`)
	r.begin("ask", s, `"third?"`)
	r.pass(5 * time.Minute)
	reqs := r.requests(s)
	if reqs[0].Status != holdshort.RequestExpired || reqs[1].AskedAt.IsZero() || !reqs[1].ExpiresAt.IsZero() {
		t.Fatalf("%+v\n%+v", reqs[0], reqs[1])
	}
	r.pass(24 * time.Hour)
	reqs = r.requests(s)
	if reqs[1].Status != holdshort.RequestOpen || reqs[2].Status != holdshort.RequestExpired || !reqs[2].AskedAt.IsZero() {
		t.Fatalf("%+v\n%+v", reqs[1], reqs[2])
	}
	if got := r.box.texts(t); len(got) != 2 || got[1] != "second?" {
		t.Errorf("sent %q", got)
	}
}

// TestPromptsOfOneRun: branches of one run take turns; when the run is canceled none of its other questions is asked on the way out, and
// another run's is.
func TestPromptsOfOneRun(t *testing.T) {
	branches := flow.New("branches", 1, func(c *flow.Context, _ string) (string, error) {
		_, err := flow.Each(c, "each", []string{"a", "b", "c"}, func(s string) string { return s }, func(c *flow.Context, name string) (string, error) {
			return flow.Ask(c, "q", flow.Question{Text: name + "?"})
		})
		return "done", err
	})
	r := newRoom(t, Config{Flows: []flow.Flow{branches, asker("ask")}})
	s := r.chatting("")
	run := r.begin("branches", s, `""`)
	r.clock.move(time.Second)
	r.begin("ask", s, `"other?"`)
	first := r.box.texts(t)
	if len(first) != 1 || len(r.requests(s)) != 4 {
		t.Fatalf("sent %q of %d", first, len(r.requests(s)))
	}
	r.pass(11 * time.Second)
	if got := r.hear(s, "fine"); got.Outcome != RoutedDecision {
		t.Fatalf("%+v", got)
	}
	if got := r.box.texts(t); len(got) != 1 || got[0] == first[0] || got[0] == "other?" {
		t.Fatalf("sent %q", got)
	}
	if _, err := r.Cancel(t.Context(), acme, run.ID, boss, "no longer needed"); err != nil {
		t.Fatal(err)
	}
	r.settle()
	if got := r.box.texts(t); len(got) != 1 || got[0] != "other?" {
		t.Fatalf("sent %q", got)
	}
	questions := 0
	for _, m := range r.history(s) {
		if m.Type == "hitl_question" {
			questions++
		}
	}
	if questions != 3 {
		t.Errorf("%d questions in memory, want those that were asked: 3", questions)
	}
}

// TestCancelWordEndsTheRun: the prompt of a canceled run makes room in the same transaction, also when its siblings go with it.
func TestCancelWordEndsTheRun(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask")}})
	s := r.chatting("")
	one := r.begin("ask", s, `"one?"`)
	r.begin("ask", s, `"two?"`)
	r.box.texts(t)
	r.pass(time.Second)
	got := r.hear(s, "never mind")
	if got.Outcome != RoutedDecision || r.run(one.ID).Status != holdshort.RunCanceled {
		t.Fatalf("%+v, run %s", got, r.run(one.ID).Status)
	}
	if sent := r.box.texts(t); len(sent) != 2 || sent[0] != "Canceled. 👍" || sent[1] != "two?" {
		t.Errorf("sent %q", sent)
	}
}

// TestCodes: no two of a session's codes are alike within a day of the first one's end, they are of the easy alphabet, and longer ones come
// when the short ones are used up.
func TestCodes(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	var known []holdshort.Request
	seen := map[string]bool{}
	for i := range 400 {
		req := holdshort.Request{ID: holdshort.NewRequestID(now.Add(time.Duration(i) * time.Second)), Status: holdshort.RequestOpen}
		req.Code = freshCode(req, known, now)
		if seen[req.Code] || strings.ContainsAny(req.Code, "ILOQSUZBG01") && i < 136 {
			t.Fatalf("code %d is %s", i, req.Code)
		}
		if want := 2; i < 136 && len(req.Code) != want || i >= 136 && len(req.Code) != 3 {
			t.Fatalf("code %d is %s", i, req.Code)
		}
		seen[req.Code] = true
		req.Status, req.ClosedAt = holdshort.RequestResolved, now
		known = append(known, req)
	}
	again := freshCode(holdshort.Request{ID: "req_x"}, known, now.Add(24*time.Hour))
	if !seen[again] || len(again) != 2 {
		t.Errorf("a day later: %s", again)
	}
}

// TestOpenRequestsAreCapped: over the cap a run fails and says why; what is open stays.
func TestOpenRequestsAreCapped(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask")}, Limits: Limits{OpenRequests: 2}})
	s := r.chatting("")
	r.begin("ask", s, `"one?"`)
	r.begin("ask", s, `"two?"`)
	run, err := r.Start(t.Context(), acme, StartInput{Flow: "ask", Session: s.ID, User: s.User, Input: []byte(`"three?"`)})
	if err != nil {
		t.Fatal(err)
	}
	r.settle()
	if run = r.run(run.ID); run.Status != holdshort.RunFailed || run.Error.Code != holdshort.LimitReached {
		t.Errorf("%+v", run)
	}
	if len(r.requests(s)) != 2 {
		t.Errorf("%d requests", len(r.requests(s)))
	}
}

// TestQuestionIsOnce: across restarts and re-asks the id, the question, the code and the fingerprint are byte-equal, the expiry is written
// once, and the question is in memory once.
func TestQuestionIsOnce(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
	s := r.chatting("")
	run := r.begin("confirm", s, `"Refund 120 EUR?"`)
	before := r.requests(s)[0]
	r.restart()
	r.pass(time.Second)
	for range 2 {
		if got := r.hear(s, "well, perhaps"); got.Outcome != RoutedReask || got.Request != before.ID {
			t.Fatalf("%+v", got)
		}
		r.restart()
	}
	after := r.request(before.ID)
	if after.Question != before.Question || after.Fingerprint != before.Fingerprint || after.Code != before.Code || !after.ExpiresAt.Equal(before.ExpiresAt) || !after.AskedAt.Equal(before.AskedAt) ||
		after.Reasks != 2 {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	sent := r.box.texts(t)
	want := "I didn't get that. Please answer yes or no.\n\nRefund 120 EUR?"
	if len(sent) != 3 || sent[0] != "Refund 120 EUR?" || sent[1] != want || sent[2] != want {
		t.Errorf("sent %q", sent)
	}
	if got := r.hear(s, "yes"); got.Outcome != RoutedDecision {
		t.Fatalf("%+v", got)
	}
	r.restart()
	r.settle()
	if got := r.run(run.ID); got.Status != holdshort.RunCompleted || string(got.Result) != "true" {
		t.Errorf("%+v", got)
	}
	visible := 0
	for _, m := range r.history(s) {
		if m.Role == holdshort.RoleAssistant && m.ModelVisible {
			visible++
			if m.Parts[0].Text != "Refund 120 EUR?" || m.RequestID != before.ID || m.RunID != run.ID {
				t.Errorf("%+v", m)
			}
		}
	}
	if visible != 1 {
		t.Errorf("the question is %d times in memory", visible)
	}
}

// TestPromptWithoutSession: a run without a session, and one whose session nobody knows, asks in the inbox alone and can still say things.
func TestPromptWithoutSession(t *testing.T) {
	talk := flow.New("talk", 1, func(c *flow.Context, _ string) (string, error) {
		flow.Say(c, "hello", "hello")
		return flow.Ask(c, "q", flow.Question{Text: "name?"})
	})
	for _, session := range []holdshort.SessionID{"", holdshort.NewSessionID(time.Unix(1, 0))} {
		r := newRoom(t, Config{Flows: []flow.Flow{talk}})
		run := r.begin("talk", holdshort.Session{ID: session, User: "ben"}, `""`)
		page, err := r.Requests(t.Context(), acme, RequestQuery{Run: run.ID})
		if err != nil || len(page.Items) != 1 || page.Items[0].AskedAt.IsZero() || page.Items[0].ExpiresAt.IsZero() {
			t.Fatalf("session %q: %+v %v", session, page.Items, err)
		}
		if _, err := r.Decide(t.Context(), acme, DecideInput{Request: page.Items[0].ID, Action: holdshort.Answer, Value: []byte(`"ben"`), Actor: ben}); err != nil {
			t.Fatal(err)
		}
		r.settle()
		if got := r.run(run.ID); got.Status != holdshort.RunCompleted {
			t.Errorf("session %q: %+v", session, got)
		}
	}
}

// TestSayThenAsk: what a flow says in front of a question arrives in front of it.
func TestSayThenAsk(t *testing.T) {
	talk := flow.New("talk", 1, func(c *flow.Context, _ string) (string, error) {
		flow.Say(c, "hello", "hello")
		flow.Say(c, "more", "more")
		name, err := flow.Ask(c, "q", flow.Question{Text: "name?"})
		flow.Say(c, "bye", "bye "+name)
		return name, err
	})
	r := newRoom(t, Config{Flows: []flow.Flow{talk}})
	s := r.chatting("")
	r.begin("talk", s, `""`)
	r.pass(time.Second)
	r.hear(s, "Ben")
	if got := strings.Join(r.box.texts(t), "|"); got != "hello|more|name?|bye Ben" {
		t.Errorf("sent %q", got)
	}
	var said []string
	for i, m := range r.history(s) {
		said = append(said, m.Parts[0].Text)
		if m.Seq != int64(i+1) {
			t.Errorf("message %d has number %d", i, m.Seq)
		}
	}
	if got := strings.Join(said, "|"); got != "hello|more|name?|Ben|bye Ben" {
		t.Errorf("history %q", got)
	}
}

// TestInboxRequestsLeaveTheSessionAlone: raising requests that are not prompts does not touch the session.
func TestInboxRequestsLeaveTheSessionAlone(t *testing.T) {
	approve := flow.New("approve", 1, func(c *flow.Context, _ string) (bool, error) {
		a, err := flow.Approve(c, "ok", flow.Question{Text: "go?"})
		return a.Approved(), err
	})
	r := newRoom(t, Config{Flows: []flow.Flow{approve}})
	s := r.chatting("")
	before, _ := r.SessionByID(t.Context(), acme, s.ID)
	run := r.begin("approve", s, `""`)
	after, _ := r.SessionByID(t.Context(), acme, s.ID)
	if after.ActiveRun != run.ID || before.Revision+1 != after.Revision || len(r.box.texts(t)) != 0 { // the start, and nothing else
		t.Errorf("revision %d, then %d", before.Revision, after.Revision)
	}
	if req := r.requests(s)[0]; req.AskedAt.IsZero() || req.Code != "" {
		t.Errorf("%+v", req)
	}
}

// TestPromptDelivered: only what the channel took counts.
func TestPromptDelivered(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask")}})
	s := r.chatting("")
	r.box.set(func(holdshort.Delivery) error { return fmt.Errorf("the line is busy") })
	r.begin("ask", s, `"name?"`)
	delivered := func() (got bool) {
		err := r.update(t.Context(), acme, func(c *change) (err error) {
			got, err = c.promptDelivered(r.requests(s)[0])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if delivered() {
		t.Error("delivered before the channel took it")
	}
	r.box.set(nil)
	r.pass(10 * time.Second)
	if !delivered() {
		t.Error("not delivered")
	}
	if got := r.events(s, "response:sent"); len(got) != 1 || got[0].Request != r.requests(s)[0].ID {
		t.Errorf("%+v", got)
	}
}

// TestQueueOnPostgres: runs of two nodes ask in one session at once and are answered from both sides at once: nothing is lost, one prompt is
// open at a time, and every message has a number of its own.
func TestQueueOnPostgres(t *testing.T) {
	r := onPostgres(t, Config{Flows: []flow.Flow{asker("ask")}})
	other, err := New(r.store, r.config)
	if err != nil {
		t.Fatal(err)
	}
	s := r.chatting("")
	nodes := []*Engine{r.Engine, other}
	const many = 12
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			if _, err := nodes[i%2].Start(context.Background(), acme, StartInput{Flow: "ask", Session: s.ID, User: s.User, Input: []byte(`"?"`)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, e := range nodes {
		if err := e.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reqs := r.requests(s)
	asked, codes := 0, map[string]bool{}
	for _, q := range reqs {
		codes[q.Code] = true
		if !q.AskedAt.IsZero() {
			asked++
		}
	}
	if len(reqs) != many || asked != 1 || len(codes) != many {
		t.Fatalf("%d requests, %d asked, %d codes", len(reqs), asked, len(codes))
	}
	for i, q := range reqs {
		wg.Go(func() {
			if _, err := nodes[i%2].Decide(context.Background(), acme, DecideInput{Request: q.ID, Action: holdshort.Answer, Value: []byte(`"!"`), Actor: ben}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, q := range reqs {
		if run, err := r.AwaitRun(t.Context(), acme, q.RunID, Ended); err != nil || run.Status != holdshort.RunCompleted {
			t.Errorf("%+v %v", run, err)
		}
	}
	if now, err := r.SessionByID(t.Context(), acme, s.ID); err != nil || now.Prompt != "" {
		t.Errorf("%+v %v", now, err)
	}
	for i, m := range r.history(s) {
		if m.Seq != int64(i+1) {
			t.Errorf("message %d has number %d", i+1, m.Seq)
		}
	}
	if err := other.Drain(); err != nil {
		t.Error(err)
	}
}
