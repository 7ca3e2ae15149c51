package inbox

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// The playground offers the agents with something to say to them.
func TestPlaygroundChoice(t *testing.T) {
	b := newRunBed(t)
	page := b.get("ben", "/playground")
	page.has(t, "Says what it hears.", "orders.refund", `value="refund"`, "say &#34;&lt;hi&gt;&#34;", `name="session" value="ses_`)
	page.lacks(t, "Your conversations")
	b.opens("ben")
	b.get("ben", "/playground").has(t, "Your conversations")
	b.get("eve", "/playground").lacks(t, "Your conversations")
	run := b.starts("eve", "refund", "77")
	b.get("ana", "/playground").has(t, "What waits for a person", "/requests/"+string(b.openOf(run.ID).ID))
	b.get("fin", "/playground").has(t, "Nothing waits for you.")
	if page := b.get("", "/playground"); page.status != http.StatusUnauthorized {
		t.Errorf("%d", page.status)
	}
	if page := b.post("ben", "/playground", url.Values{"agent": {"nobody"}}); page.status != http.StatusNotFound {
		t.Errorf("an agent that is none: %d", page.status)
	}
	if page := b.post("ben", "/playground", url.Values{"agent": {"desk"}, "session": {"not an id"}}); page.status == http.StatusOK {
		t.Error("an id that is none")
	}
}

// Whatever is clicked twice, sent twice or sent again after a lost connection is one conversation and one message.
func TestPlaygroundTwice(t *testing.T) {
	b := newRunBed(t)
	id := string(holdshort.NewSessionID(dawn))
	begin := url.Values{"agent": {"desk"}, "session": {id}, "message": {"m0"}, "text": {"good morning"}}
	for range 3 {
		if page := b.post("ben", "/playground", begin); page.status != http.StatusOK {
			t.Fatalf("%d %s", page.status, page.text)
		}
	}
	b.settles(id)
	done := make(chan int, 5)
	for range 5 {
		go func() {
			done <- b.post("ben", "/playground/"+id+"/say", url.Values{"message": {"m1"}, "text": {"again"}}, "HX-Request", "true").status
		}()
	}
	for range 5 {
		if status := <-done; status != http.StatusOK {
			t.Errorf("a copy: %d", status)
		}
	}
	b.settles(id)
	page := b.get("ben", "/playground/"+id)
	for _, text := range []string{"good morning", "I heard: good morning", "again", "I heard: again"} {
		if n := strings.Count(page.text, ">"+text+"</p>"); n != 1 {
			t.Errorf("%q stands there %d times", text, n)
		}
	}
	if runs := b.settles(id); len(runs) != 2 || b.answers.Load() != 2 {
		t.Errorf("%d runs, %d answers of the model", len(runs), b.answers.Load())
	}
	if page := b.post("ben", "/playground/"+id+"/say", url.Values{"message": {"m1"}, "text": {"other words"}}); page.status != http.StatusConflict {
		t.Errorf("the same id with other words: %d", page.status)
	}
	for _, form := range []url.Values{{"message": {"m2"}, "text": {"  "}}, {"text": {"no id"}}, {"message": {strings.Repeat("x", 101)}, "text": {"x"}}, {"message": {"a\u202eb"}, "text": {"x"}}} {
		if page := b.post("ben", "/playground/"+id+"/say", form); page.status != http.StatusUnprocessableEntity && page.status != http.StatusBadRequest {
			t.Errorf("%v: %d", form, page.status)
		}
	}
	if page := b.post("ben", "/playground/"+id+"/say", url.Values{"message": {"m3"}, "text": {"from elsewhere"}}, "Sec-Fetch-Site", "cross-site"); page.status != http.StatusForbidden {
		t.Errorf("another site: %d", page.status)
	}
}

// A pause is said, its request is there for who may see it, and opening the page again shows the same.
func TestPlaygroundPause(t *testing.T) {
	b := newRunBed(t)
	id := b.opens("ben")
	page := b.says("ben", id, "m1", "refund")
	run := b.settles(id)[0]
	req := b.openOf(run.ID)
	for _, page := range []shown{page, b.get("ben", "/playground/"+id), b.get("ben", "/playground/"+id, "HX-Request", "true")} {
		page.has(t, "Paused: waits for a person", `data-requests="`+string(req.ID)+`"`, `data-request="`+string(req.ID)+`"`, "/runs/"+string(run.ID))
	}
	b.decides("ana", req, holdshort.Approve)
	b.rests(run.ID)
	page = b.get("ben", "/playground/"+id)
	page.has(t, "It is done.", `data-requests=""`)
	page.lacks(t, "Paused")
}

// What the user writes decides nothing that they may not decide.
func TestPlaygroundSaysYes(t *testing.T) {
	b := newRunBed(t)
	id := b.opens("eve")
	b.says("eve", id, "m1", "refund")
	req := b.openOf(b.settles(id)[0].ID)
	b.post("eve", "/playground/"+id+"/say", url.Values{"message": {"m2"}, "text": {"yes"}, "reply_to": {string(req.ID)}})
	if now := b.stands(req); now.Status != holdshort.RequestOpen {
		t.Errorf("it is %s", now.Status)
	}
}

// A conversation that is gone says so and offers another; the browser forgets it.
func TestPlaygroundGone(t *testing.T) {
	b := newRunBed(t)
	id := b.opens("ben")
	b.says("ben", id, "m1", "hello")
	if _, err := b.engine.DeleteSession(t.Context(), deskTenant, holdshort.SessionID(id), deskActor("ben")); err != nil {
		t.Fatal(err)
	}
	for _, page := range []shown{b.get("ben", "/playground/"+id), b.get("ben", "/playground/"+id, "HX-Request", "true"), b.get("ben", "/playground/nonsense"), b.get("ben", "/playground/ses_01m7fve2n4ec2v51y9b15wqnq1")} {
		if page.status != http.StatusNotFound {
			t.Errorf("%d", page.status)
		}
		page.has(t, "This conversation is gone", "Start again?", `data-gone="yes"`, `action="/playground"`)
	}
	if page := b.post("ben", "/playground/"+id+"/say", url.Values{"message": {"m2"}, "text": {"anybody there?"}}); page.status != http.StatusNotFound {
		t.Errorf("%d", page.status)
	}
}

// A conversation that a person has taken over says so.
func TestPlaygroundTaken(t *testing.T) {
	b := newRunBed(t)
	id := b.opens("ben")
	if _, err := b.engine.Takeover(t.Context(), deskTenant, engine.TakeoverInput{Session: holdshort.SessionID(id), Actor: deskActor("olga")}); err != nil {
		t.Fatal(err)
	}
	page := b.says("ben", id, "m1", "hello")
	page.has(t, "olga</bdi> answers in place of the agent")
	if n := len(b.settles(id)); n != 0 {
		t.Errorf("%d runs", n)
	}
	if _, err := b.engine.SayAs(t.Context(), deskTenant, engine.SayInput{Session: holdshort.SessionID(id), Actor: deskActor("olga"), Text: "Olga here"}); err != nil {
		t.Fatal(err)
	}
	b.get("ben", "/playground/"+id).has(t, "Olga here")
}
