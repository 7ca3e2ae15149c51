package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

// talker is a conversation: it echoes what it gets until it is told to stop.
func talker() flow.Flow {
	type message struct {
		Text    string `json:"text"`
		Message string `json:"message_id"`
		Session string `json:"session_id"`
	}
	return flow.New("talk", 1, func(c *flow.Context, first message) (string, error) {
		heard := []string{first.Text}
		for first.Text != "stop" {
			flow.Say(c, "echo", "you said "+first.Text)
			next, err := flow.Wait[message](c, "message", 0)
			if err != nil {
				return "", err
			}
			heard = append(heard, next.Text)
			first = next
		}
		return strings.Join(heard, ","), nil
	})
}

// TestBareReplies: end to end, when a bare reply counts.
func TestBareReplies(t *testing.T) {
	type step struct {
		text    string
		replyTo string
		sent    time.Duration // before its arrival
		want    Routing
		status  holdshort.RequestStatus // of the first request
	}
	const open, resolved, canceled = holdshort.RequestOpen, holdshort.RequestResolved, holdshort.RequestCanceled
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"plain yes", []step{{text: "yes", want: RoutedDecision, status: resolved}}},
		{"plain no", []step{{text: "No.", want: RoutedDecision, status: resolved}}},
		{"with its code", []step{{text: "{code} yes", want: RoutedDecision, status: resolved}}},
		{"with its code, small and with a colon", []step{{text: "{low}: yes", want: RoutedDecision, status: resolved}}},
		{"the code alone", []step{{text: "{code}", want: RoutedReask, status: open}}},
		{"a code of nobody is part of the answer", []step{{text: "Z9 yes", want: RoutedReask, status: open}}},
		{"reply to the question", []step{{text: "yes", replyTo: "{request}", want: RoutedDecision, status: resolved}}},
		{"reply to the question's message", []step{{text: "yes", replyTo: "{message}", want: RoutedDecision, status: resolved}}},
		{"reply to the question's delivery", []step{{text: "yes", replyTo: "{delivery}", want: RoutedDecision, status: resolved}}},
		{"reply to something else", []step{{text: "yes", replyTo: "wamid.77", want: RoutedAgain, status: open}}},
		{"reply to a request that nobody knows", []step{{text: "yes", replyTo: "req_00000000000000000000000000", want: RoutedStale, status: open}}},
		{"sent before the question arrived", []step{{text: "yes", sent: time.Hour, want: RoutedAgain, status: open}}},
		{"not a whole answer", []step{{text: "yes but change the date", want: RoutedReask, status: open}, {text: "yes", want: RoutedDecision, status: resolved}}},
		{"cancel", []step{{text: "cancel", want: RoutedDecision, status: canceled}}},
		{"late second", []step{{text: "yes", want: RoutedDecision, status: resolved}, {text: "no", want: RoutedStale, status: resolved}}},
		{"late by code", []step{{text: "yes", want: RoutedDecision, status: resolved}, {text: "{code} no", want: RoutedStale, status: resolved}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
			s := r.chatting("")
			r.begin("confirm", s, `"Refund?"`)
			r.clock.move(time.Second)
			req := r.requests(s)[0]
			fill := strings.NewReplacer("{code}", req.Code, "{low}", strings.ToLower(req.Code), "{request}", string(req.ID), "{message}", string(r.history(s)[0].ID),
				"{delivery}", string(questionDelivery(req.ID)))
			for i, st := range c.steps {
				in := Inbound{ID: fmt.Sprint(i), Text: fill.Replace(st.text), ReplyTo: fill.Replace(st.replyTo)}
				if st.sent > 0 {
					in.SentAt = r.clock.now().Add(-st.sent)
				}
				got := r.hearAs(s, in)
				if now := r.request(req.ID); got.Outcome != st.want || now.Status != st.status {
					t.Fatalf("%q: %+v, request %s", in.Text, got, now.Status)
				}
				if st.want == RoutedDecision {
					d, err := r.decision(req.ID)
					if err != nil || d.ID != got.Decision || d.Actor.ID != "ben" || d.Actor.Assurance != holdshort.AssuranceChannel || d.Raw != in.Text || d.Channel != "chat" {
						t.Errorf("%+v %v", d, err)
					}
				}
			}
		})
	}
}

func (r *room) decision(id holdshort.RequestID) (d holdshort.Decision, err error) {
	err = r.store.View(r.Context(), acme, func(tx store.ReadTx) error {
		d, err = tx.Decision(id)
		return err
	})
	return d, err
}

// TestKinds: every kind of question is answered in chat by the same path.
func TestKinds(t *testing.T) {
	form := []byte(`{"type":"object","properties":{"city":{"type":"string","minLength":2},"nights":{"type":"integer"},"class":{"enum":["eco","first"]}},"required":["city","nights"]}`)
	options := []holdshort.Option{{ID: "red", Label: "Red"}, {ID: "blue", Label: "Blue"}, {ID: "green", Label: "Green"}}
	flows := []flow.Flow{
		asker("ask"),
		flow.New("choose", 1, func(c *flow.Context, q string) (string, error) {
			return flow.Choose(c, "q", flow.Question{Text: q}, options...)
		}),
		flow.New("many", 1, func(c *flow.Context, q string) ([]string, error) {
			return flow.ChooseMany(c, "q", flow.Question{Text: q}, options...)
		}),
		flow.New("form", 1, func(c *flow.Context, q string) (map[string]any, error) {
			return flow.Form[map[string]any](c, "q", flow.Question{Text: q}, form)
		}),
		flow.New("series", 1, func(c *flow.Context, q string) (string, error) {
			return flow.Choose(c, "q", flow.Question{Text: q}, holdshort.Option{ID: "series", Label: "Every Monday"}, holdshort.Option{ID: "this_one", Label: "March 2"})
		}),
	}
	for _, c := range []struct{ flow, text, want, says string }{
		{"ask", "  Lisbon ", `"Lisbon"`, ""},
		{"choose", "2", `"blue"`, ""},
		{"choose", "Green", `"green"`, ""},
		{"choose", "all", "", "more than two options|list|only one"},
		{"choose", "3pm", "", "list"},
		{"many", "1 and 3", `["red","green"]`, ""},
		{"many", "all", `["red","blue","green"]`, ""},
		{"form", "city: Lisbon\nnights: 3", `{"city":"Lisbon","nights":3}`, ""},
		{"form", `{"city":"Lisbon","nights":3,"class":"eco"}`, `{"city":"Lisbon","class":"eco","nights":3}`, ""},
		{"form", "city: Lisbon", "", "nights"},
		{"form", "city: X\nnights: 3", "", "city"},
		{"series", "all occurrences", `"series"`, ""},
		{"series", "just this one", `"this_one"`, ""},
	} {
		t.Run(c.flow+" "+c.text, func(t *testing.T) {
			r := newRoom(t, Config{Flows: flows})
			s := r.chatting("")
			run := r.begin(c.flow, s, `"Which?"`)
			r.clock.move(time.Second)
			r.box.texts(t)
			got := r.hear(s, c.text)
			run = r.run(run.ID)
			if c.want != "" {
				if got.Outcome != RoutedDecision || string(run.Result) != c.want {
					t.Errorf("%+v, result %s, error %+v", got, run.Result, run.Error)
				}
				return
			}
			sent := r.box.texts(t)
			if got.Outcome != RoutedReask || run.Status != holdshort.RunWaiting || len(sent) != 1 || !strings.HasSuffix(sent[0], "\n\nWhich?") {
				t.Fatalf("%+v, sent %q", got, sent)
			}
			said := false
			for _, word := range strings.Split(c.says, "|") {
				said = said || strings.Contains(strings.ToLower(sent[0]), word)
			}
			if !said {
				t.Errorf("%q does not speak of %s", sent[0], c.says)
			}
		})
	}
}

// TestQuietAfterAPrompt: a bare reply within ten seconds of another prompt's end decides nothing; the open question is asked again.
func TestQuietAfterAPrompt(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
	s := r.chatting("")
	r.begin("confirm", s, `"one?"`)
	two := r.begin("confirm", s, `"two?"`)
	r.clock.move(time.Second)
	r.hear(s, "yes")
	r.pass(3 * time.Second)
	r.box.texts(t)
	got := r.hear(s, "yes") // meant for which?
	if got.Outcome != RoutedAgain || r.run(two.ID).Status != holdshort.RunWaiting {
		t.Fatalf("%+v", got)
	}
	if sent := r.box.texts(t); len(sent) != 1 || !strings.HasPrefix(sent[0], "I can't be sure") || !strings.HasSuffix(sent[0], "\n\ntwo?") {
		t.Errorf("sent %q", sent)
	}
	if req := r.requests(s)[1]; req.Reasks != 0 {
		t.Errorf("it was counted: %d", req.Reasks)
	}
	r.pass(11 * time.Second)
	if got := r.hear(s, "yes"); got.Outcome != RoutedDecision || r.run(two.ID).Status != holdshort.RunCompleted {
		t.Errorf("%+v", got)
	}
}

// TestReplyBeforeDelivery: a reply while the question is still on its way decides nothing and does not make two questions of one.
func TestReplyBeforeDelivery(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
	s := r.chatting("")
	r.box.set(failing("Refund"))
	r.begin("confirm", s, `"Refund?"`)
	r.pass(10 * time.Minute / 4) // parked by now
	if got := r.hear(s, "yes"); got.Outcome != RoutedAgain || len(got.Replies) != 0 {
		t.Fatalf("%+v", got)
	}
	r.box.set(nil)
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

// TestLateReplies: the stale and the expired texts of a prompt that closed, in the user's language, and what is a new message in spite of it.
func TestLateReplies(t *testing.T) {
	for _, c := range []struct {
		name, language, text, code, want string
		expired                          bool
		after                            time.Duration
		outcome                          Routing
	}{
		{"stale", "", "yes", "HITL_STALE_REPLY", "I'm not waiting on a question right now — what would you like to do?", false, time.Minute, RoutedStale},
		{"stale in Hebrew", "he", "כן", "HITL_STALE_REPLY", "אני לא מחכה לתשובה כרגע — מה תרצה לעשות?", false, time.Minute, RoutedStale},
		{"stale by its script", "", "כן", "HITL_STALE_REPLY", "אני לא מחכה לתשובה כרגע — מה תרצה לעשות?", false, time.Minute, RoutedStale},
		{"expired", "", "1", "HITL_EXPIRED", "That request expired — want to try again?", true, time.Minute, RoutedExpired},
		{"expired at this very moment", "", "yes", "HITL_EXPIRED", "That request expired — want to try again?", true, 0, RoutedExpired},
		{"new intent after an expiry", "", "what is the weather?", "", "", true, time.Minute, RoutedStored},
		{"long ago", "", "yes", "", "", false, 6 * time.Minute, RoutedStored},
		{"expired long ago", "", "yes", "", "", true, 6 * time.Minute, RoutedStored},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
			s := r.session(OpenSessionInput{Channel: "chat", Address: "+1", Language: c.language})
			r.begin("confirm", s, `"Refund?"`)
			r.clock.move(time.Second)
			if c.expired {
				r.clock.move(r.requests(s)[0].ExpiresAt.Sub(r.clock.now()))
				if c.after > 0 {
					r.settle() // the sweeper is first
				}
			} else if _, err := r.Decide(t.Context(), acme, DecideInput{Request: r.requests(s)[0].ID, Action: holdshort.Reject, Actor: ben}); err != nil {
				t.Fatal(err)
			} else {
				r.settle() // what is said to a run that is still awake is for the run
			}
			r.clock.move(c.after)
			before := r.requests(s)[0]
			r.box.texts(t)
			got := r.hear(s, c.text)
			if got.Outcome != c.outcome {
				t.Fatalf("%+v", got)
			}
			req := r.requests(s)[0]
			if req.Status == holdshort.RequestOpen || c.after > 0 && (req.Status != before.Status || req.Outcome != before.Outcome) {
				t.Errorf("%+v", req)
			}
			sent := r.box.texts(t)
			events := r.events(s, "message.stale")
			if c.want == "" {
				if len(sent) != 0 || len(events) != 0 {
					t.Errorf("sent %q, %d events", sent, len(events))
				}
				return
			}
			if len(sent) != 1 || sent[0] != c.want || len(events) != 1 || events[0].Code != c.code || events[0].Request != req.ID {
				t.Errorf("sent %q, events %+v", sent, events)
			}
		})
	}
}

// TestDuplicates: the same id with the same body is the same message, however often and from however many sides; with another body it is
// refused.
func TestDuplicates(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{talker()}})
	s := r.chatting("talk")
	in := Inbound{Channel: "chat", Address: "+1", ID: "m1", Text: "hello"}
	const copies = 50
	got := make([]Received, copies)
	var wg sync.WaitGroup
	for i := range copies {
		wg.Go(func() {
			var err error
			if got[i], err = r.Receive(context.Background(), acme, in); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r.settle()
	firsts := 0
	for _, g := range got {
		if !g.Duplicate {
			firsts++
		}
		if g.Outcome != RoutedStart || g.Run != got[0].Run || g.Message != got[0].Message {
			t.Errorf("%+v and %+v", g, got[0])
		}
	}
	if firsts != 1 || len(r.history(s)) != 2 || strings.Join(r.box.texts(t), "|") != "you said hello" {
		t.Errorf("%d firsts, %d messages", firsts, len(r.history(s)))
	}
	if n, m := len(r.events(s, "message.received")), len(r.events(s, "message.duplicate")); n != 1 || m != copies-1 {
		t.Errorf("%d received, %d duplicates", n, m)
	}
	in.Text = "something else"
	_, err := r.Receive(t.Context(), acme, in)
	if !errors.Is(err, holdshort.Duplicate) || holdshort.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	run := r.run(got[0].Run)
	if run.TraceID != string(got[0].ID) || run.SessionID != s.ID || run.User != "ben" {
		t.Errorf("%+v", run)
	}
}

// TestConversation: messages go to the session's run as long as it lives, in their order, and then start another.
func TestConversation(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{talker()}})
	s := r.chatting("talk")
	first := r.hear(s, "one")
	if got := r.hear(s, "two"); got.Outcome != RoutedPost || got.Run != first.Run {
		t.Fatalf("%+v", got)
	}
	r.restart()
	if got := r.hear(s, "stop"); got.Outcome != RoutedPost || got.Run != first.Run {
		t.Fatalf("%+v", got)
	}
	if run := r.run(first.Run); run.Status != holdshort.RunCompleted || string(run.Result) != `"one,two,stop"` {
		t.Fatalf("%+v", run)
	}
	if got := r.hear(s, "again"); got.Outcome != RoutedStart || got.Run == first.Run {
		t.Fatalf("%+v", got)
	}
	if got := strings.Join(r.box.texts(t), "|"); got != "you said one|you said two|you said again" {
		t.Errorf("sent %q", got)
	}
}

// TestCrashBetweenAcceptAndRoute: what was accepted is routed by whoever looks next, once.
func TestCrashBetweenAcceptAndRoute(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{talker(), confirmer("confirm")}})
	s := r.chatting("talk")
	in := Inbound{Channel: "chat", Address: "+1", ID: "m1", Text: "hello"}
	row, joined, err := r.accept(t.Context(), acme, in)
	if err != nil || joined || row.Routed || row.SessionID != s.ID {
		t.Fatalf("%+v %v %v", row, joined, err)
	}
	r.restart()
	if n, err := r.tickInbound(t.Context()); n != 1 || err != nil {
		t.Fatalf("%d routed, %v", n, err)
	}
	r.settle()
	got, err := r.Receive(t.Context(), acme, in)
	if err != nil || !got.Duplicate || got.Outcome != RoutedStart {
		t.Fatalf("%+v %v", got, err)
	}
	r.settle()
	if sent := r.box.texts(t); len(sent) != 1 || sent[0] != "you said hello" {
		t.Errorf("sent %q", sent)
	}
	if n, err := r.tickInbound(t.Context()); n != 0 || err != nil {
		t.Errorf("%d routed, %v", n, err)
	}
}

// TestReorderedReplies: answers that arrive in another order than they were sent in are bound by their codes, and a bare one that was sent
// before its prompt arrived decides nothing.
func TestReorderedReplies(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
	s := r.chatting("")
	one := r.begin("confirm", s, `"one?"`)
	two := r.begin("confirm", s, `"two?"`)
	r.clock.move(time.Second)
	reqs := r.requests(s)
	sent := r.clock.now()
	r.clock.move(20 * time.Second)
	// The second question is answered from the queue by its code; then the first one's answer arrives.
	if got := r.hearAs(s, Inbound{ID: "b", Text: reqs[1].Code + " no", SentAt: sent.Add(time.Second)}); got.Outcome != RoutedDecision || got.Request != reqs[1].ID {
		t.Fatalf("%+v", got)
	}
	if got := r.hearAs(s, Inbound{ID: "a", Text: "yes", SentAt: sent}); got.Outcome != RoutedDecision || got.Request != reqs[0].ID {
		t.Fatalf("%+v", got)
	}
	if a, b := r.run(one.ID), r.run(two.ID); string(a.Result) != "true" || string(b.Result) != "false" {
		t.Errorf("%s %s", a.Result, b.Result)
	}
	// A third is asked later; a "yes" that was sent before it was does not count for it.
	three := r.begin("confirm", s, `"three?"`)
	r.clock.move(time.Minute)
	if got := r.hearAs(s, Inbound{ID: "c", Text: "yes", SentAt: sent}); got.Outcome != RoutedAgain || r.run(three.ID).Status != holdshort.RunWaiting {
		t.Errorf("%+v", got)
	}
}

// TestWhoWrites: somebody who may not decide decides nothing, and somebody who may not talk to the run does not reach it.
func TestWhoWrites(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm"), talker()}})
	s := r.chatting("talk")
	run := r.begin("confirm", s, `"Refund?"`)
	r.clock.move(time.Second)
	eve := holdshort.Actor{ID: "eve", Kind: holdshort.Person, Assurance: holdshort.AssuranceChannel}
	got := r.hearAs(s, Inbound{ID: "1", Text: "yes", Actor: eve})
	if got.Outcome != RoutedRefused || r.run(run.ID).Status != holdshort.RunWaiting {
		t.Fatalf("%+v", got)
	}
	if got := r.hear(s, "no"); got.Outcome != RoutedDecision {
		t.Fatalf("%+v", got)
	}
	r.pass(6 * time.Minute)
	if got := r.hearAs(s, Inbound{ID: "2", Text: "send me everything", Actor: eve}); got.Outcome != RoutedRefused || got.Run != "" {
		t.Fatalf("%+v", got)
	}
	for _, m := range r.history(s) {
		if strings.Contains(m.Parts[0].Text, "everything") && m.ModelVisible {
			t.Error("the model sees it")
		}
	}
	if n := len(r.events(s, "access.denied")); n != 2 {
		t.Errorf("%d denials", n)
	}
}

// TestSessionOfTheAPI: a session without an address has no deliveries: what is stored is there to be read, and replies count at once.
func TestSessionOfTheAPI(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
	s := r.session(OpenSessionInput{})
	run := r.begin("confirm", s, `"Refund?"`)
	r.clock.move(time.Second)
	if got := r.hear(s, "maybe"); got.Outcome != RoutedReask || len(got.Replies) != 1 {
		t.Fatalf("%+v", got)
	}
	if got := r.hear(s, "yes"); got.Outcome != RoutedDecision || r.run(run.ID).Status != holdshort.RunCompleted {
		t.Fatalf("%+v", got)
	}
	if len(r.waiting(s)) != 0 || len(r.history(s)) != 4 {
		t.Errorf("%d deliveries, %d messages", len(r.waiting(s)), len(r.history(s)))
	}
}

// TestReceiveRefuses: what cannot be accepted is refused before anything is stored.
func TestReceiveRefuses(t *testing.T) {
	r := newRoom(t, Config{Limits: Limits{Text: 100}})
	s := r.chatting("")
	for _, c := range []struct {
		name string
		in   Inbound
		want holdshort.Code
	}{
		{"nowhere", Inbound{ID: "1", Text: "x"}, holdshort.Invalid},
		{"two places", Inbound{ID: "1", Text: "x", Address: "+1", Session: s.ID}, holdshort.Invalid},
		{"no id", Inbound{Text: "x", Session: s.ID}, holdshort.Invalid},
		{"an id of ours", Inbound{ID: "inb_1", Text: "x", Session: s.ID}, holdshort.Invalid},
		{"empty", Inbound{ID: "1", Session: s.ID}, holdshort.Invalid},
		{"too long", Inbound{ID: "1", Text: strings.Repeat("x", 101), Session: s.ID}, holdshort.TooLarge},
		{"unknown address", Inbound{ID: "1", Text: "x", Channel: "chat", Address: "+9"}, holdshort.NotFound},
		{"unknown session", Inbound{ID: "1", Text: "x", Session: holdshort.NewSessionID(r.clock.now())}, holdshort.NotFound},
		{"fine", Inbound{ID: "1", Text: "x", Channel: "chat", Address: "+1"}, ""},
	} {
		if _, err := r.Receive(t.Context(), acme, c.in); holdshort.CodeOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if n := len(r.history(s)); n != 1 {
		t.Errorf("%d messages", n)
	}
}

// TestStoreDown: nothing is guessed.
func TestStoreDown(t *testing.T) {
	r := newRoom(t, Config{})
	r.chatting("")
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Receive(t.Context(), acme, Inbound{Channel: "chat", Address: "+1", ID: "1", Text: "yes"}); err == nil {
		t.Error("a message was accepted by nobody")
	}
	r.start()
}

// TestInboundOnPostgres: fifty copies of one reply, from two nodes, decide once; the run goes on once.
func TestInboundOnPostgres(t *testing.T) {
	r := onPostgres(t, Config{Flows: []flow.Flow{confirmer("confirm")}})
	other, err := New(r.store, r.config)
	if err != nil {
		t.Fatal(err)
	}
	s := r.chatting("")
	run, err := r.Start(t.Context(), acme, StartInput{Flow: "confirm", Session: s.ID, User: s.User, Input: []byte(`"Refund?"`)})
	if err != nil {
		t.Fatal(err)
	}
	r.settle()
	got := make([]Received, 50)
	var wg sync.WaitGroup
	for i := range got {
		e := []*Engine{r.Engine, other}[i%2]
		wg.Go(func() {
			var err error
			if got[i], err = e.Receive(context.Background(), acme, Inbound{Channel: "chat", Address: "+1", ID: "m1", Text: "yes"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, g := range got {
		if g.Outcome != RoutedDecision || g.Decision != got[0].Decision {
			t.Errorf("%+v", g)
		}
	}
	done, err := other.AwaitRun(t.Context(), acme, run.ID, Ended)
	if err != nil || string(done.Result) != "true" {
		t.Errorf("%+v %v", done, err)
	}
	if n := len(r.history(s)); n != 2 {
		t.Errorf("%d messages", n)
	}
	if err := other.Drain(); err != nil {
		t.Error(err)
	}
}
