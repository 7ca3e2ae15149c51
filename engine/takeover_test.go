package engine

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
)

var (
	olga  = holdshort.Actor{ID: "olga", Kind: holdshort.Person, Roles: []string{policy.Operator}, Assurance: holdshort.AssuranceLogin}
	oskar = holdshort.Actor{ID: "oskar", Kind: holdshort.Person, Roles: []string{policy.Operator}, Assurance: holdshort.AssuranceLogin}
	eve   = holdshort.Actor{ID: "eve", Kind: holdshort.Person, Assurance: holdshort.AssuranceLogin}
	robot = holdshort.Actor{ID: "robot", Kind: holdshort.Agent, Roles: []string{policy.Operator}}
	shop  = holdshort.Actor{ID: "key_shop", Kind: holdshort.Service, Roles: []string{policy.Operator}, Assurance: holdshort.AssuranceToken}
)

// onBoth runs a test over either database.
func onBoth(t *testing.T, config Config, test func(t *testing.T, r *room)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newRoom(t, config)) })
	t.Run("postgres", func(t *testing.T) { test(t, onPostgres(t, config)) })
}

func (r *room) takeOver(s holdshort.Session, who holdshort.Actor) holdshort.Session {
	r.Helper()
	got, err := r.Takeover(r.Context(), acme, TakeoverInput{Session: s.ID, Actor: who})
	if err != nil {
		r.Fatal(err)
	}
	return got
}

func (r *room) handBack(in HandbackInput) holdshort.Session {
	r.Helper()
	got, err := r.Handback(r.Context(), acme, in)
	if err != nil {
		r.Fatal(err)
	}
	r.settle()
	return got
}

// said gives the history as "role type text".
func (r *room) said(s holdshort.Session) []string {
	r.Helper()
	var out []string
	for _, m := range r.history(s) {
		out = append(out, string(m.Role)+" "+m.Type+" "+m.Parts[0].Text)
	}
	return out
}

// TestTakeoverStory: the AI is silent from the takeover to the handback, what it asks waits, the user is heard by the person, and the model
// finds out what happened.
func TestTakeoverStory(t *testing.T) {
	onBoth(t, Config{Flows: []flow.Flow{asker("ask"), teller(), talker()}}, func(t *testing.T, r *room) {
		s := r.chatting("talk")
		if got := r.takeOver(s, olga); got.Mode != holdshort.ModeTakeover || got.TakenBy != "olga" || got.TakenAt.IsZero() {
			t.Fatalf("%+v", got)
		}
		got := r.hear(s, "are you a person?")
		if got.Outcome != RoutedPerson || got.Run != "" || len(got.Replies) != 0 {
			t.Fatalf("%+v", got)
		}
		r.tell(s, "I am a bot")
		asks := r.begin("ask", s, `"name?"`)
		req := r.requests(s)[0]
		if !req.AskedAt.IsZero() {
			t.Error("a question was asked while a person speaks")
		}
		if again := r.hear(s, "yes"); again.Outcome != RoutedPerson || r.request(req.ID).Status != holdshort.RequestOpen {
			t.Errorf("%+v", again)
		}
		m, err := r.SayAs(t.Context(), acme, SayInput{Session: s.ID, Actor: olga, Text: "this is Olga"})
		if err != nil || m.Author != "olga" || m.Role != holdshort.RoleAssistant || !m.ModelVisible {
			t.Fatalf("%+v %v", m, err)
		}
		r.settle()
		if sent := strings.Join(r.box.texts(t), "|"); sent != "this is Olga" {
			t.Fatalf("sent %q", sent)
		}
		if back := r.handBack(HandbackInput{Session: s.ID, Actor: olga, Message: "the bot is back", Note: "refund of 20 EUR promised"}); back.Mode != holdshort.ModeAI || back.TakenBy != "" {
			t.Errorf("%+v", back)
		}
		if sent := strings.Join(r.box.texts(t), "|"); sent != "the bot is back|name?" {
			t.Errorf("sent %q", sent)
		}
		if now := r.request(req.ID); now.AskedAt.IsZero() || now.Status != holdshort.RequestOpen {
			t.Errorf("%+v", now)
		}
		said := strings.Join(r.said(s), "\n")
		for _, want := range []string{"user text are you a person?", "assistant suppressed I am a bot", "assistant text this is Olga", "system hitl_handback olga handled this conversation in person from ",
			"What was agreed: refund of 20 EUR promised", "assistant hitl_question name?"} {
			if strings.Count(said, want) != 1 {
				t.Errorf("%q is not there once in\n%s", want, said)
			}
		}
		model, err := r.ModelHistory(t.Context(), acme, s.ID, asks.ID)
		for _, m := range model {
			if m.Type == holdshort.TypeSuppressed {
				t.Errorf("the model sees what nobody heard: %+v", m)
			}
		}
		if err != nil || len(model) < 5 {
			t.Errorf("%d messages for the model, %v", len(model), err)
		}
		for _, name := range []string{"hitl.live_takeover.started", "hitl.live_takeover.ended"} {
			if events := r.events(s, name); len(events) != 1 || events[0].Actor != "olga" {
				t.Errorf("%s: %+v", name, events)
			}
		}
		r.pass(15 * time.Second)
		if got := r.hear(s, "Ben"); got.Outcome != RoutedDecision {
			t.Errorf("%+v", got)
		}
	})
}

// TestTakeoverRights: who may take over, speak and hand back; every refusal leaves its event.
func TestTakeoverRights(t *testing.T) {
	r := newRoom(t, Config{})
	s := r.session(OpenSessionInput{})
	take := func(who holdshort.Actor) error {
		_, err := r.Takeover(t.Context(), acme, TakeoverInput{Session: s.ID, Actor: who})
		return err
	}
	say := func(who holdshort.Actor) error {
		_, err := r.SayAs(t.Context(), acme, SayInput{Session: s.ID, Actor: who, Text: "hello"})
		return err
	}
	back := func(who holdshort.Actor) error {
		_, err := r.Handback(t.Context(), acme, HandbackInput{Session: s.ID, Actor: who})
		return err
	}
	for _, c := range []struct {
		name   string
		do     func(holdshort.Actor) error
		actor  holdshort.Actor
		want   holdshort.Code
		denied string
	}{
		{"say before anybody took it", say, olga, holdshort.WrongState, ""},
		{"hand back what nobody has", back, olga, holdshort.WrongState, ""},
		{"take: the user", take, ben, holdshort.Forbidden, actTakeover},
		{"take: a stranger", take, eve, holdshort.NotFound, actTakeover},
		{"take: nobody", take, holdshort.Actor{}, holdshort.NotFound, actTakeover},
		{"take: an agent with the role", take, robot, holdshort.Forbidden, actTakeover},
		{"take: an operator", take, olga, "", ""},
		{"take again", take, olga, "", ""},
		{"take what another has", take, oskar, holdshort.WrongState, ""},
		{"say: the user", say, ben, holdshort.Forbidden, actSay},
		{"say: a stranger", say, eve, holdshort.NotFound, actSay},
		{"say: an agent", say, robot, holdshort.Forbidden, actSay},
		{"say: who has it", say, olga, "", ""},
		{"say: another operator", say, oskar, "", ""},
		{"say: an operator's service", say, shop, "", ""},
		{"back: the user", back, ben, holdshort.Forbidden, actHandback},
		{"back: another operator", back, oskar, "", ""},
		{"back again", back, olga, holdshort.WrongState, ""},
	} {
		r.denials.last = nil // one refusal a second is recorded for each actor
		before := len(r.events(s, "access.denied"))
		if err := c.do(c.actor); holdshort.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		events := r.events(s, "access.denied")
		switch {
		case c.denied == "" && len(events) != before:
			t.Errorf("%s: denied", c.name)
		case c.denied != "" && (len(events) != before+1 || events[before].Code != c.denied || events[before].Actor != c.actor.ID):
			t.Errorf("%s: %+v", c.name, events[before:])
		}
	}
	if n := len(r.events(s, "hitl.live_takeover.started")); n != 1 {
		t.Errorf("%d takeovers", n)
	}
	if said := strings.Join(r.said(s), "|"); !strings.Contains(said, "olga handled this") || !strings.Contains(said, "oskar handed it back") || !strings.Contains(said, "Nothing was noted") {
		t.Errorf("%q", said)
	}
	for name, bad := range map[string]SayInput{"empty": {Text: " \n"}, "long": {Text: strings.Repeat("a", 70<<10)}, "no text": {Text: "\xff"}, "no id": {Text: "x", ID: "mine"}} {
		bad.Session, bad.Actor = s.ID, olga
		if _, err := r.SayAs(t.Context(), acme, bad); holdshort.CodeOf(err) != holdshort.Invalid && holdshort.CodeOf(err) != holdshort.TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	old := r.chatting("")
	r.session(OpenSessionInput{ID: holdshort.NewSessionID(r.clock.now()), Channel: old.Channel, Address: old.Address})
	if _, err := r.Takeover(t.Context(), acme, TakeoverInput{Session: old.ID, Actor: olga}); holdshort.CodeOf(err) != holdshort.Closed {
		t.Errorf("a session that ended: %v", err)
	}
	if _, err := r.Takeover(t.Context(), "rival", TakeoverInput{Session: s.ID, Actor: olga}); holdshort.CodeOf(err) != holdshort.NotFound {
		t.Errorf("another tenant: %v", err)
	}
}

// TestSuppressedAtTheOutbox: what was put into the outbox before the takeover and not sent is not sent either, and the history says so; who
// reads the session without an address does not see it.
func TestSuppressedAtTheOutbox(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask"), teller()}})
	s := r.chatting("")
	r.box.set(failing("late", "name?"))
	r.tell(s, "late")
	r.begin("ask", s, `"name?"`)
	r.box.set(nil)
	r.takeOver(s, olga)
	r.pass(time.Minute)
	if sent := r.box.texts(t); len(sent) != 0 {
		t.Fatalf("sent %q", sent)
	}
	page, err := r.History(t.Context(), acme, HistoryQuery{Session: s.ID})
	if err != nil || len(page.Items) != 1 || page.Items[0].Type != holdshort.TypeQuestion {
		t.Errorf("the user's history: %+v %v", page.Items, err)
	}
	page, err = r.History(t.Context(), acme, HistoryQuery{Session: s.ID, Suppressed: true})
	if err != nil || len(page.Items) != 2 || page.Items[0].Type != holdshort.TypeSuppressed || page.Items[0].ModelVisible {
		t.Errorf("the operator's history: %+v %v", page.Items, err)
	}
	r.handBack(HandbackInput{Session: s.ID, Actor: olga})
	if sent := strings.Join(r.box.texts(t), "|"); sent != "name?" { // at once, not when it is looked at again
		t.Errorf("sent %q", sent)
	}
	reader := r.session(OpenSessionInput{})
	r.takeOver(reader, olga)
	r.tell(reader, "psst")
	if page, err := r.History(t.Context(), acme, HistoryQuery{Session: reader.ID}); err != nil || len(page.Items) != 0 {
		t.Errorf("%+v %v", page.Items, err)
	}
}

// TestHandbackHandsOver: messages that a run was given and had not taken when it ended, while a person had the session, get a run at handback.
func TestHandbackHandsOver(t *testing.T) {
	hold := make(chan struct{})
	type message struct {
		Text string `json:"text"`
	}
	slow := flow.New("slow", 1, func(c *flow.Context, first message) (string, error) {
		if first.Text == "first" {
			if _, err := flow.Step(c, "work", func(context.Context) (string, error) { <-hold; return "", nil }); err != nil {
				return "", err
			}
		}
		return first.Text, nil
	})
	r := newRoom(t, Config{Flows: []flow.Flow{slow}})
	s := r.chatting("slow")
	receive := func(id, text string) Received {
		got, err := r.Receive(t.Context(), acme, Inbound{Channel: "chat", Address: "+1", ID: id, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first, second := receive("1", "first"), receive("2", "second")
	if first.Outcome != RoutedStart || second.Outcome != RoutedPost {
		t.Fatalf("%+v %+v", first, second)
	}
	r.takeOver(s, olga)
	close(hold)
	r.settle()
	if run := r.run(first.Run); run.Status != holdshort.RunCompleted {
		t.Fatalf("%+v", run)
	}
	if receive("3", "third").Outcome != RoutedPerson {
		t.Error("a message went past the person")
	}
	r.handBack(HandbackInput{Session: s.ID, Actor: olga})
	runs, err := r.Runs(t.Context(), acme, RunQuery{Session: s.ID})
	if err != nil || len(runs.Items) != 2 || string(runs.Items[0].Result) != `"second"` {
		t.Errorf("%+v %v", runs.Items, err)
	}
}

// TestTakeoverRace: of many who take one session at once, one has it; nothing is said twice.
func TestTakeoverRace(t *testing.T) {
	onBoth(t, Config{}, func(t *testing.T, r *room) {
		s := r.chatting("")
		var wg sync.WaitGroup
		won := make(chan string, 16)
		for i := range 16 {
			who := olga
			who.ID = "op" + string(rune('a'+i))
			wg.Go(func() {
				_, err := r.Takeover(t.Context(), acme, TakeoverInput{Session: s.ID, Actor: who})
				switch holdshort.CodeOf(err) {
				case "":
					won <- who.ID
				case holdshort.WrongState:
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		close(won)
		winner := <-won
		now, err := r.SessionByID(t.Context(), acme, s.ID)
		if _, more := <-won; more || err != nil || now.TakenBy != winner {
			t.Errorf("%s won, %+v %v", winner, now, err)
		}
		if n := len(r.events(s, "hitl.live_takeover.started")); n != 1 {
			t.Errorf("%d takeovers", n)
		}
	})
}

// TestTakeoverSurvives: a restart changes nothing about who has the session.
func TestTakeoverSurvives(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	s := r.chatting("")
	r.takeOver(s, olga)
	r.tell(s, "psst")
	r.restart()
	r.settle()
	if got := r.hear(s, "hello"); got.Outcome != RoutedPerson || len(r.box.texts(t)) != 0 {
		t.Errorf("%+v", got)
	}
	if v, err := r.SessionFor(t.Context(), acme, s.ID, olga); err != nil || v.HitlState != HitlTakeover || v.TakenBy != "olga" {
		t.Errorf("%+v %v", v, err)
	}
}
