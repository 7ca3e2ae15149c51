package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// TestCodesAreListed: a reply to one question under the code of another decides neither.
func TestCodesAreListed(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
	s := r.chatting("")
	r.begin("confirm", s, `"one?"`)
	r.begin("confirm", s, `"two?"`)
	r.clock.move(time.Second)
	reqs := r.requests(s)
	r.box.texts(t)
	got := r.hearAs(s, Inbound{ID: "1", Text: reqs[1].Code + " yes", ReplyTo: string(reqs[0].ID)})
	sent := r.box.texts(t)
	if got.Outcome != RoutedCodes || len(sent) != 1 || !strings.Contains(sent[0], reqs[0].Code+", "+reqs[1].Code) {
		t.Errorf("%+v, sent %q", got, sent)
	}
	for _, q := range r.requests(s) {
		if q.Status != holdshort.RequestOpen {
			t.Errorf("%+v", q)
		}
	}
}

// TestReasksAreCounted: up to the limit; after it the question is still asked again.
func TestReasksAreCounted(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
	s := r.chatting("")
	r.begin("confirm", s, `"Refund?"`)
	r.clock.move(time.Second)
	for range 5 {
		if got := r.hear(s, "what?"); got.Outcome != RoutedReask {
			t.Fatalf("%+v", got)
		}
	}
	if req := r.requests(s)[0]; req.Reasks != 3 || len(r.box.texts(t)) != 6 {
		t.Errorf("%d counted", req.Reasks)
	}
	if n := len(r.events(s, "hitl.request.reasked")); n != 5 {
		t.Errorf("%d events", n)
	}
}

// TestDeadQuestionIsSentAgain: somebody who writes to a session whose question was given up gets that question.
func TestDeadQuestionIsSentAgain(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
	s := r.chatting("")
	r.box.set(func(holdshort.Delivery) error { return Refused(errBusy) })
	r.begin("confirm", s, `"Refund?"`)
	r.box.set(nil)
	r.clock.move(time.Second)
	if got := r.hear(s, "hello?"); got.Outcome != RoutedAgain {
		t.Fatalf("%+v", got)
	}
	if sent := r.box.texts(t); len(sent) != 1 || sent[0] != "Refund?" {
		t.Fatalf("sent %q", sent)
	}
	r.clock.move(time.Second)
	if got := r.hear(s, "yes"); got.Outcome != RoutedDecision {
		t.Errorf("%+v", got)
	}
}

// TestHangingChannelHoldsUpNobody: while one send does not come back, others are claimed, sent and settled.
func TestHangingChannelHoldsUpNobody(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	stuck := r.chatting("")
	fine := r.session(OpenSessionInput{Channel: "chat", Address: "+2"})
	inside, release := make(chan struct{}), make(chan struct{})
	r.box.set(func(d holdshort.Delivery) error {
		if d.SessionID == stuck.ID {
			close(inside)
			<-release
		}
		return nil
	})
	start := func(s holdshort.Session) {
		t.Helper()
		if _, err := r.Start(t.Context(), acme, StartInput{Flow: "tell", Session: s.ID, User: s.User, Input: []byte(`["hello"]`)}); err != nil {
			t.Fatal(err)
		}
		if err := r.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	start(stuck)
	n, wait, err := r.dispatch(t.Context())
	if n != 1 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	<-inside
	start(fine)
	if n, err := r.tickOutbox(t.Context()); n != 1 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	if len(r.waiting(fine)) != 0 || len(r.waiting(stuck)) != 1 || r.outbox.flying.Load() != 1 {
		t.Errorf("%d under way", r.outbox.flying.Load())
	}
	close(release)
	wait()
	if len(r.waiting(stuck)) != 0 {
		t.Error("what came back late was not settled")
	}
}

// TestAnyOrder: whatever happens in whatever order, at most one prompt of the session is open and it is the session's, every question is in
// memory once, nothing that closed was changed later, and what was asked is asked in order.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			r := newRoom(t, Config{Flows: []flow.Flow{asker("ask"), confirmer("confirm")}})
			s := r.chatting("")
			closed := map[holdshort.RequestID]holdshort.RequestStatus{}
			for step := range 60 {
				reqs := r.requests(s)
				switch n := random.IntN(8); {
				case n < 2 || len(reqs) == 0:
					r.begin([]string{"ask", "confirm"}[random.IntN(2)], s, fmt.Sprintf(`"question %d?"`, step))
				case n == 2:
					_, _ = r.Cancel(t.Context(), acme, reqs[random.IntN(len(reqs))].RunID, boss, "") // of one that ended it is refused
				case n == 3:
					q := reqs[random.IntN(len(reqs))]
					_, _ = r.Decide(t.Context(), acme, DecideInput{Request: q.ID, Action: q.Allowed[0], Value: []byte(`"x"`), Actor: ben}) // of a closed one it is refused
				case n == 4:
					r.box.set(failing("question"))
				case n == 5:
					r.box.set(nil)
				default:
					r.hear(s, []string{"yes", "no", "cancel", reqs[random.IntN(len(reqs))].Code + " yes", "something else entirely"}[random.IntN(5)])
				}
				r.pass(time.Duration(random.IntN(90)) * time.Second)
				check(t, r, s, closed)
			}
		})
	}
}

func check(t *testing.T, r *room, s holdshort.Session, closed map[holdshort.RequestID]holdshort.RequestStatus) {
	t.Helper()
	now, err := r.SessionByID(t.Context(), acme, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	var prompt holdshort.RequestID
	waits := false
	questions := map[holdshort.RequestID]int{}
	for _, m := range r.history(s) {
		if m.Type == "hitl_question" {
			questions[m.RequestID]++
		}
	}
	for _, q := range r.requests(s) {
		open := q.Status == holdshort.RequestOpen
		if was, ok := closed[q.ID]; ok && was != q.Status {
			t.Fatalf("%s was %s and is %s", q.ID, was, q.Status)
		}
		want := 1
		switch {
		case !open:
			closed[q.ID] = q.Status
		case q.AskedAt.IsZero():
			waits = true
		case prompt != "":
			t.Fatalf("%s and %s are asked at once", prompt, q.ID)
		case waits:
			t.Fatalf("%s is asked before an older one", q.ID)
		default:
			prompt = q.ID
		}
		if q.AskedAt.IsZero() {
			want = 0
		}
		if questions[q.ID] != want {
			t.Fatalf("%s is %d times in memory, want %d", q.ID, questions[q.ID], want)
		}
	}
	if now.Prompt != prompt || waits && prompt == "" {
		t.Fatalf("the session's prompt is %q, the open one %q", now.Prompt, prompt)
	}
}
