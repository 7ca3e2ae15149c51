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
)

var errBusy = errors.New("the line is busy")

// teller says each of its input.
func teller() flow.Flow {
	return flow.New("tell", 1, func(c *flow.Context, texts []string) (int, error) {
		for i, text := range texts {
			flow.Say(c, fmt.Sprint("say", i), text)
		}
		return len(texts), nil
	})
}

func (r *room) tell(s holdshort.Session, texts ...string) holdshort.Run {
	r.Helper()
	return r.begin("tell", s, `["`+strings.Join(texts, `","`)+`"]`)
}

func (r *room) waiting(s holdshort.Session) []holdshort.Delivery {
	r.Helper()
	list, err := r.OutboxOf(r.Context(), acme, s.ID)
	if err != nil {
		r.Fatal(err)
	}
	return list
}

func failing(texts ...string) func(holdshort.Delivery) error {
	return func(d holdshort.Delivery) error {
		for _, text := range texts {
			if strings.Contains(string(d.Body), text) {
				return errBusy
			}
		}
		return nil
	}
}

// TestOrder: deliveries of a session go out one after the other; another session does not wait for them.
func TestOrder(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	one := r.chatting("")
	two := r.session(OpenSessionInput{Channel: "chat", Address: "+2", User: "eva"})
	r.box.set(failing("first"))
	r.tell(one, "first", "second")
	r.tell(two, "other")
	if got := r.box.texts(t); len(got) != 1 || got[0] != "other" {
		t.Fatalf("sent %q", got)
	}
	r.box.set(nil)
	r.pass(2 * time.Second)
	if got := strings.Join(r.box.texts(t), "|"); got != "first|second" {
		t.Errorf("sent %q", got)
	}
	if got := r.events(one, "response:*"); len(got) < 5 {
		t.Errorf("%d events", len(got))
	}
}

// TestBackoff: the pauses double from a second to five minutes, a fifth more or less; after twenty attempts it is dead.
func TestBackoff(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	s := r.chatting("")
	var keys []string
	r.box.set(func(d holdshort.Delivery) error { keys = append(keys, d.Key); return errBusy })
	r.tell(s, "hello")
	id := r.waiting(s)[0].ID
	for attempt := 1; attempt < giveUpAt; attempt++ {
		d, err := r.DeliveryByID(t.Context(), acme, id)
		if err != nil || d.Attempt != attempt || d.LastError != errBusy.Error() {
			t.Fatalf("attempt %d: %+v %v", attempt, d, err)
		}
		pause := d.DueAt.Sub(r.clock.now())
		want := min(time.Second<<(attempt-1), 5*time.Minute)
		if attempt > 9 {
			want = 5 * time.Minute
		}
		if pause < want*79/100 || pause > want*121/100 {
			t.Errorf("pause %d is %v, want about %v", attempt, pause, want)
		}
		r.pass(pause - time.Millisecond)
		if len(keys) != attempt {
			t.Fatalf("attempt %d came early", attempt+1)
		}
		r.pass(time.Millisecond)
	}
	d, _ := r.DeliveryByID(t.Context(), acme, id)
	if d.Status != holdshort.DeliveryDead || d.Attempt != giveUpAt {
		t.Fatalf("%+v", d)
	}
	for _, k := range keys {
		if k != keys[0] {
			t.Errorf("key %q, then %q", keys[0], k)
		}
	}
	if n := len(r.events(s, "delivery.dead")); n != 1 {
		t.Errorf("%d events of its death", n)
	}
}

// TestPark: a head that cannot be sent holds up those behind it for two minutes, then it is parked, still tried, and never in the way again.
func TestPark(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	s := r.chatting("")
	r.box.set(failing("first"))
	r.tell(s, "first", "second", "third")
	r.pass(parkAfter - time.Second)
	if got := r.box.texts(t); len(got) != 0 {
		t.Fatalf("sent %q", got)
	}
	r.pass(2 * time.Second)
	if got := strings.Join(r.box.texts(t), "|"); got != "second|third" {
		t.Fatalf("sent %q", got)
	}
	if list := r.waiting(s); len(list) != 1 || list[0].Status != holdshort.DeliveryParked {
		t.Fatalf("%+v", list)
	}
	if n := len(r.events(s, "delivery.parked")); n != 1 {
		t.Errorf("%d parked events", n)
	}
	r.pass(10 * time.Minute) // it was tried meanwhile, in vain
	if list := r.waiting(s); len(list) != 1 || list[0].Status != holdshort.DeliveryParked || list[0].Attempt < 3 {
		t.Fatalf("%+v", list)
	}
	r.tell(s, "fourth")
	if got := strings.Join(r.box.texts(t), "|"); got != "fourth" {
		t.Fatalf("sent %q", got)
	}
	r.box.set(nil)
	r.pass(6 * time.Minute)
	if got := strings.Join(r.box.texts(t), "|"); got != "first" {
		t.Errorf("sent %q", got)
	}
}

// TestRefusedForGood: no second attempt, and a person can have it sent again.
func TestRefusedForGood(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	s := r.chatting("")
	tries := 0
	r.box.set(func(holdshort.Delivery) error { tries++; return Refused(errBusy) })
	r.tell(s, "hello", "there")
	id := r.events(s, "delivery.dead")
	if len(id) != 2 || tries != 2 || len(r.waiting(s)) != 0 {
		t.Fatalf("%d tries, %d events", tries, len(id))
	}
	r.pass(time.Hour)
	if tries != 2 {
		t.Fatalf("%d tries", tries)
	}
	first := holdshort.DeliveryID(strings.Split(string(id[0].Data), `"`)[3])
	for _, c := range []struct {
		name  string
		actor holdshort.Actor
		want  holdshort.Code
	}{
		{"stranger", holdshort.Actor{ID: "eve", Kind: holdshort.Person}, holdshort.NotFound},
		{"owner", ben, holdshort.Forbidden},
		{"operator", boss, ""},
		{"operator again", boss, holdshort.WrongState},
	} {
		_, err := r.Redeliver(t.Context(), acme, first, c.actor)
		if got := holdshort.CodeOf(err); got != c.want {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.want)
		}
	}
	r.box.set(nil)
	r.settle()
	if got := r.box.texts(t); len(got) != 1 || got[0] != "hello" {
		t.Errorf("sent %q", got)
	}
	if _, err := r.Redeliver(t.Context(), acme, first, boss); err != nil {
		t.Fatal(err)
	}
	r.settle()
	if got := r.box.texts(t); len(got) != 1 || got[0] != "hello" {
		t.Errorf("sent %q", got)
	}
}

// TestPanickingAndHangingSenders: neither takes the engine or the other deliveries with it.
func TestPanickingAndHangingSenders(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	r.box.timeout = 20 * time.Millisecond
	release := make(chan struct{})
	defer close(release)
	one, two, three := r.chatting(""), r.session(OpenSessionInput{Channel: "chat", Address: "+2"}), r.session(OpenSessionInput{Channel: "chat", Address: "+3"})
	r.box.set(func(d holdshort.Delivery) error {
		switch d.SessionID {
		case one.ID:
			panic("no network card")
		case two.ID:
			<-release
			return errBusy
		}
		return nil
	})
	r.tell(one, "panics")
	r.tell(two, "hangs")
	r.tell(three, "arrives")
	if got := r.box.texts(t); len(got) != 1 || got[0] != "arrives" {
		t.Fatalf("sent %q", got)
	}
	if list := r.waiting(one); len(list) != 1 || list[0].LastError != "the sender panicked: no network card" {
		t.Errorf("%+v", list)
	}
	if list := r.waiting(two); len(list) != 1 || !strings.Contains(list[0].LastError, "no answer within 20ms") || list[0].Status != holdshort.DeliveryQueued {
		t.Errorf("%+v", list)
	}
}

// TestDropped: what asks about something that is closed is not sent, whether it closed before the first attempt, between two, or while the
// channel had it.
func TestDropped(t *testing.T) {
	for _, when := range []string{"before", "between", "during"} {
		t.Run(when, func(t *testing.T) {
			r := newRoom(t, Config{Flows: []flow.Flow{asker("ask"), teller()}})
			s := r.chatting("")
			r.box.set(failing("head", "name"))
			if when == "before" {
				r.tell(s, "head")
			}
			answer := func() {
				if _, err := r.Decide(context.Background(), acme, DecideInput{Request: r.requests(s)[0].ID, Action: holdshort.Answer, Value: []byte(`"x"`), Actor: ben}); err != nil {
					t.Error(err)
				}
			}
			if when == "during" {
				r.box.set(func(holdshort.Delivery) error { answer(); return errBusy })
			}
			r.begin("ask", s, `"name?"`)
			if when != "during" {
				answer()
			}
			r.settle()
			for _, d := range r.waiting(s) {
				if d.RequestID != "" {
					t.Errorf("%+v is still to be sent", d)
				}
			}
			r.box.set(nil)
			r.pass(time.Hour)
			for _, o := range r.box.letters(t) {
				if o.Request != nil {
					t.Errorf("sent %+v", o)
				}
			}
			if got := r.events(s, "response:failed"); got[len(got)-1].Code != string(codeRequestClosed) {
				t.Errorf("%+v", got[len(got)-1])
			}
		})
	}
}

// TestTakeover: while a person speaks, what runs say is dropped and what they ask waits for the handback, without holding up the person.
func TestTakeover(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask"), teller()}})
	s := r.chatting("")
	r.box.set(failing("name"))
	r.begin("ask", s, `"name?"`)
	mode := func(input holdshort.SessionInput) {
		t.Helper()
		err := r.update(t.Context(), acme, func(c *change) error {
			ses, err := c.Session(s.ID)
			if err == nil {
				ses, err = ses.Apply(input, c.now)
			}
			if err != nil {
				return err
			}
			return c.PutSession(ses)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	mode(holdshort.TakeoverStart)
	r.box.set(nil)
	r.tell(s, "as I was saying")
	r.pass(2 * time.Second)
	err := r.update(t.Context(), acme, func(c *change) error {
		chat, err := c.chat(s.ID)
		if err == nil {
			chat.tell(utterance{kind: "text", shape: "message", text: "this is ana", key: "person/1"})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.settle()
	if got := strings.Join(r.box.texts(t), "|"); got != "this is ana" {
		t.Fatalf("sent %q", got)
	}
	if got := r.events(s, "response:failed"); len(got) == 0 || got[len(got)-1].Code != "takeover" {
		t.Errorf("%+v", got)
	}
	mode(holdshort.Handback)
	r.pass(time.Minute)
	if got := strings.Join(r.box.texts(t), "|"); got != "name?" {
		t.Errorf("sent %q", got)
	}
}

// TestNodeDiesWhileSending: the delivery belongs to the dead node until its lease ends, then it goes out under the same key; an answer of the
// dead that comes after that changes nothing.
func TestNodeDiesWhileSending(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	s := r.chatting("")
	r.box.set(failing("hello"))
	r.tell(s, "hello")
	r.box.set(nil)
	r.clock.move(2 * time.Second)
	dead, err := r.claimDeliveries(t.Context(), 10)
	if err != nil || len(dead) != 1 || !dead[0].send {
		t.Fatalf("%+v %v", dead, err)
	}
	r.pass(sendTimeout + leaseMargin - time.Second)
	if got := r.box.texts(t); len(got) != 0 {
		t.Fatalf("sent %q", got)
	}
	r.clock.move(2 * time.Second)
	next, err := r.claimDeliveries(t.Context(), 10)
	if err != nil || len(next) != 1 || next[0].Key != dead[0].Key || next[0].Attempt != 3 {
		t.Fatalf("%+v %v", next, err)
	}
	for _, late := range []error{errBusy, nil} {
		if err := r.settleDelivery(dead[0], late); err != nil {
			t.Fatal(err)
		}
		if d, err := r.DeliveryByID(t.Context(), acme, dead[0].ID); err != nil || d.Status != holdshort.DeliverySending || d.Lease.Epoch != next[0].Lease.Epoch {
			t.Fatalf("%+v %v", d, err)
		}
	}
	r.carry(next[0])
	if got := r.box.texts(t); len(got) != 1 || got[0] != "hello" {
		t.Fatalf("sent %q", got)
	}
	if err := r.settleDelivery(dead[0], errBusy); err != nil {
		t.Fatal(err)
	}
	if d, err := r.DeliveryByID(t.Context(), acme, dead[0].ID); err != nil || d.Status != holdshort.DeliverySent {
		t.Errorf("%+v %v", d, err)
	}
}

// TestNoSender: what no node can send waits.
func TestNoSender(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	s := r.session(OpenSessionInput{Channel: "pigeon", Address: "roof"})
	r.tell(s, "hello")
	r.pass(48 * time.Hour)
	list := r.waiting(s)
	if len(list) != 1 || list[0].Status != holdshort.DeliveryQueued || list[0].Attempt != 0 {
		t.Fatalf("%+v", list)
	}
	r.config.Senders = map[string]Sender{"chat": r.box, "pigeon": r.box}
	r.restart()
	r.settle()
	if got := r.box.texts(t); len(got) != 1 || got[0] != "hello" {
		t.Errorf("sent %q", got)
	}
}

// TestManyNodesSendOnce: two engines over one PostgreSQL never hand one delivery to the channel twice.
func TestManyNodesSendOnce(t *testing.T) {
	r := onPostgres(t, Config{Flows: []flow.Flow{teller()}})
	other, err := New(r.store, r.config)
	if err != nil {
		t.Fatal(err)
	}
	const sessions = 5
	for i := range sessions {
		s := r.session(OpenSessionInput{Channel: "chat", Address: fmt.Sprint("+", i)})
		if _, err := r.Start(t.Context(), acme, StartInput{Flow: "tell", Session: s.ID, User: s.User, Input: []byte(fmt.Sprintf(`["%d a","%d b","%d c"]`, i, i, i))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		var wg sync.WaitGroup
		for _, e := range []*Engine{r.Engine, other} {
			wg.Go(func() {
				if _, err := e.tickOutbox(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	last := map[byte]byte{}
	texts := r.box.texts(t)
	for _, text := range texts {
		if text[2] <= last[text[0]] {
			t.Errorf("%q after %q", text, last[text[0]])
		}
		last[text[0]] = text[2]
	}
	if len(texts) != 3*sessions {
		t.Errorf("%d sent: %q", len(texts), texts)
	}
}

// TestExpiredQuestionIsNotSent: also when the sweeper has not come by yet.
func TestExpiredQuestionIsNotSent(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask")}})
	s := r.chatting("")
	r.box.set(failing("name"))
	r.begin("ask", s, `"name?"`)
	r.box.set(nil)
	r.clock.move(5 * time.Minute)
	if n, err := r.tickOutbox(t.Context()); n != 1 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	if d, err := r.DeliveryByID(t.Context(), acme, questionDelivery(r.requests(s)[0].ID)); err != nil || d.Status != holdshort.DeliveryDropped || len(r.box.texts(t)) != 0 {
		t.Errorf("%+v %v", d, err)
	}
}

// TestParkWaitsForTheAnswer: what the channel has at the moment is not parked under its hands.
func TestParkWaitsForTheAnswer(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{teller()}})
	s := r.chatting("")
	r.box.set(failing("hello"))
	r.tell(s, "hello")
	r.clock.move(parkAfter - time.Second)
	r.box.set(nil)
	out, err := r.claimDeliveries(t.Context(), 10)
	if err != nil || len(out) != 1 {
		t.Fatalf("%+v %v", out, err)
	}
	r.pass(time.Second)
	if d, err := r.DeliveryByID(t.Context(), acme, out[0].ID); err != nil || d.Status != holdshort.DeliverySending {
		t.Fatalf("%+v %v", d, err)
	}
	r.carry(out[0])
	r.pass(time.Hour)
	if d, err := r.DeliveryByID(t.Context(), acme, out[0].ID); err != nil || d.Status != holdshort.DeliverySent || len(r.events(s, "delivery.parked")) != 0 {
		t.Errorf("%+v %v", d, err)
	}
}
