package inbox

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// opens begins a conversation of somebody on the playground and gives its id.
func (b *runBed) opens(who string) string {
	b.t.Helper()
	id := string(holdshort.NewSessionID(dawn))
	page := b.post(who, "/playground", url.Values{"agent": {"desk"}, "session": {id}, "message": {"first"}})
	if page.status != http.StatusOK {
		b.t.Fatalf("open: %d %s", page.status, page.text)
	}
	return id
}

// says sends a message and waits until what it started rests.
func (b *runBed) says(who, session, id, text string) shown {
	b.t.Helper()
	page := b.post(who, "/playground/"+session+"/say", url.Values{"message": {id}, "text": {text}})
	if page.status != http.StatusOK {
		b.t.Fatalf("say: %d %s", page.status, page.text)
	}
	b.settles(session)
	return b.get(who, "/playground/"+session)
}

// settles waits for the runs of a session.
func (b *runBed) settles(session string) []holdshort.Run {
	b.t.Helper()
	page, err := b.engine.Runs(b.t.Context(), deskTenant, engine.RunQuery{Session: holdshort.SessionID(session)})
	if err != nil {
		b.t.Fatal(err)
	}
	for i, run := range page.Items {
		page.Items[i] = b.rests(run.ID)
	}
	return page.Items
}

// A session is its user's and those who look after the system: nobody else sees that there is one.
func TestSessionRights(t *testing.T) {
	b := newRunBed(t)
	id := b.opens("ben")
	b.says("ben", id, "m1", `hello <script>alert("x")</script> a`+"\u202e"+`b`)
	for who, want := range map[string]int{"ben": 200, "adm": 200, "olga": 200, "aud": 200, "eve": 404, "ana": 404, "fin": 404, "": 401} {
		page := b.get(who, "/sessions/"+id)
		if page.status != want {
			t.Errorf("%q: %d", who, page.status)
		}
		if seen := strings.Contains(page.text, "I heard: hello"); seen != (want == 200) {
			t.Errorf("%q sees what was said: %v", who, seen)
		}
		page.lacks(t, "<script>alert", "\u202e")
		list := b.get(who, "/sessions")
		if listed := strings.Contains(list.text, "/sessions/"+id); listed != (want == 200) {
			t.Errorf("%q has it in their list: %v", who, listed)
		}
		if chat := b.get(who, "/playground/"+id); want == 404 && (chat.status != 404 || strings.Contains(chat.text, "hello") || !strings.Contains(chat.text, "This conversation is gone")) {
			t.Errorf("%q on the playground: %d", who, chat.status)
		}
		if want != 200 || who == "aud" {
			if say := b.post(who, "/playground/"+id+"/say", url.Values{"message": {"x" + who}, "text": {"refund"}}); say.status == 200 {
				t.Errorf("%q speaks in it", who)
			}
		}
	}
	if runs := b.settles(id); len(runs) != 1 {
		t.Errorf("%d runs", len(runs))
	}
	b.get("adm", "/sessions/"+id).has(t, "The agent answers.", "desk", "playground", "U+202E")
}

// The page says who answers, what waits, and what hangs on the conversation.
func TestSessionPage(t *testing.T) {
	b := newRunBed(t)
	id := b.opens("ben")
	b.says("ben", id, "m1", "refund")
	req := b.openOf(b.settles(id)[0].ID)
	page := b.get("olga", "/sessions/"+id)
	page.has(t, "Paused: waits for a person", "/requests/"+string(req.ID), "holding short", `data-live-session="`+id+`"`, `id="take"`)
	page.lacks(t, "tool_calls") // what the agent noted for itself is not what the user sees
	if _, err := b.engine.Takeover(t.Context(), deskTenant, engine.TakeoverInput{Session: holdshort.SessionID(id), Actor: deskActor("olga")}); err != nil {
		t.Fatal(err)
	}
	b.get("olga", "/sessions/"+id).has(t, "olga</bdi> answers since", "The agent is silent.")
	b.get("olga", "/sessions?mode=takeover").has(t, "/sessions/"+id, "a person answers")
	b.get("olga", "/sessions?mode=proxy").lacks(t, "/sessions/"+id)
	b.get("olga", "/sessions?user=nobody").has(t, "No session is like that")
}

// What has not reached the user is said.
func TestSessionNotDelivered(t *testing.T) {
	b := newRunBed(t)
	s, err := b.engine.OpenSession(t.Context(), deskTenant, engine.OpenSessionInput{User: "ben", Channel: "pigeons", Address: "roof", Agent: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	b.says("ben", string(s.ID), "m1", "hello")
	b.get("adm", "/sessions/"+string(s.ID)).has(t, "Not delivered yet", "pigeons", "I heard: hello")
}

// However long a conversation is, its end is shown.
func TestLongSession(t *testing.T) {
	b := newRunBed(t)
	id := b.opens("ben")
	var batch []engine.NewMessage
	for i := range 150 {
		batch = append(batch, engine.NewMessage{ExternalID: fmt.Sprint(i), Sender: "user", Text: fmt.Sprintf("line-%03d.", i)})
	}
	for part := range 3 {
		for i := range batch {
			batch[i].ExternalID, batch[i].Text = fmt.Sprint(part, "-", i), fmt.Sprintf("line-%03d.", part*150+i)
		}
		if _, err := b.engine.AppendMessages(t.Context(), deskTenant, engine.AppendInput{Session: holdshort.SessionID(id), Actor: deskActor("adm"), Messages: batch}); err != nil {
			t.Fatal(err)
		}
	}
	page := b.get("adm", "/sessions/"+id)
	page.has(t, "line-449.", "line-250.", "Earlier messages are not shown here")
	page.lacks(t, "line-249.", "line-000.")
}
