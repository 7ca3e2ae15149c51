package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

func texts(list []holdshort.Message) string {
	var out []string
	for _, m := range list {
		out = append(out, m.Parts[0].Text)
	}
	return strings.Join(out, " ")
}

func (r *room) appendAll(s holdshort.Session, list ...NewMessage) []holdshort.Message {
	r.Helper()
	got, err := r.AppendMessages(r.Context(), acme, AppendInput{Session: s.ID, Actor: shop, Messages: list})
	if err != nil {
		r.Fatal(err)
	}
	return got
}

// TestHistoryWindow: by default what is pinned or of the last hour, oldest first; in pages of any size nothing is lost or shown twice.
func TestHistoryWindow(t *testing.T) {
	r := newRoom(t, Config{})
	s := r.session(OpenSessionInput{})
	now := r.clock.now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	list := r.appendAll(s,
		NewMessage{Text: "e", Sender: "system", At: ago(10 * time.Minute)}, NewMessage{Text: "d", Sender: "agent", At: ago(30 * time.Minute)}, NewMessage{Text: "f"},
		NewMessage{Text: "b", At: ago(3 * time.Hour), Sender: "System"}, NewMessage{Text: "a", At: ago(48 * time.Hour)}, NewMessage{Text: "c", At: ago(61 * time.Minute)})
	for _, i := range []int{3, 4} {
		if m, err := r.Pin(t.Context(), acme, s.ID, list[i].ID, true, ben); err != nil || !m.Pinned || m.Revision != 2 {
			t.Fatalf("%+v %v", m, err)
		}
	}
	for _, c := range []struct {
		name string
		q    HistoryQuery
		want string
	}{
		{"default", HistoryQuery{}, "a b d e f"},
		{"two hours", HistoryQuery{Window: 2 * time.Hour}, "a b c d e f"},
		{"fifteen minutes", HistoryQuery{Window: 15 * time.Minute}, "a b e f"},
		{"everything", HistoryQuery{Window: Whole}, "a b c d e f"},
		{"pinned", HistoryQuery{Pinned: true}, "a b"},
		{"without system", HistoryQuery{WithoutSystem: true}, "a d f"},
		{"pinned without system", HistoryQuery{Pinned: true, WithoutSystem: true}, "a"},
	} {
		c.q.Session = s.ID
		for _, limit := range []int{0, 1, 2, 3} {
			var got []holdshort.Message
			q := c.q
			for q.Limit = limit; ; {
				page, err := r.History(t.Context(), acme, q)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, page.Items...)
				r.clock.move(time.Minute) // the window does not move with the reader
				if q.Cursor = page.Next; q.Cursor == "" {
					break
				}
			}
			r.clock.at = now
			if texts(got) != c.want {
				t.Errorf("%s in pages of %d: %q, want %q", c.name, limit, texts(got), c.want)
			}
		}
		var each []holdshort.Message
		if err := r.EachMessage(t.Context(), acme, c.q, func(m holdshort.Message) error { each = append(each, m); return nil }); err != nil || texts(each) != c.want {
			t.Errorf("%s, each: %q %v", c.name, texts(each), err)
		}
	}
	if _, err := r.Pin(t.Context(), acme, s.ID, list[4].ID, false, olga); err != nil {
		t.Fatal(err)
	}
	if page, err := r.History(t.Context(), acme, HistoryQuery{Session: s.ID}); err != nil || texts(page.Items) != "b d e f" {
		t.Errorf("unpinned: %q %v", texts(page.Items), err)
	}
	for _, cursor := range []string{"x", ".", "-1.x", "0.", "00.x", "zz.eyJ9"} {
		if _, err := r.History(t.Context(), acme, HistoryQuery{Session: s.ID, Cursor: cursor}); cursor != "0." && holdshort.CodeOf(err) != holdshort.Invalid {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
}

// TestPinRights: the user and those who look after the system pin; nobody pins across sessions or tenants.
func TestPinRights(t *testing.T) {
	r := newRoom(t, Config{})
	s, other := r.session(OpenSessionInput{}), r.session(OpenSessionInput{User: "carl"})
	m := r.appendAll(s, NewMessage{Text: "keep me"})[0]
	for _, c := range []struct {
		name    string
		tenant  holdshort.TenantID
		session holdshort.SessionID
		message holdshort.MessageID
		actor   holdshort.Actor
		want    holdshort.Code
	}{
		{"a stranger", acme, s.ID, m.ID, eve, holdshort.NotFound},
		{"through another session", acme, other.ID, m.ID, olga, holdshort.NotFound},
		{"another tenant", "rival", s.ID, m.ID, olga, holdshort.NotFound},
		{"no such message", acme, s.ID, holdshort.NewMessageID(r.clock.now()), ben, holdshort.NotFound},
		{"an auditor", acme, s.ID, m.ID, holdshort.Actor{ID: "audrey", Kind: holdshort.Person, Roles: []string{"auditor"}}, holdshort.Forbidden},
		{"the user", acme, s.ID, m.ID, ben, ""},
		{"again", acme, s.ID, m.ID, ben, ""},
	} {
		if _, err := r.Pin(t.Context(), c.tenant, c.session, c.message, true, c.actor); holdshort.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if got, err := r.MessageByID(t.Context(), acme, m.ID); err != nil || !got.Pinned || got.Revision != 2 {
		t.Errorf("%+v %v", got, err)
	}
}

// TestModelHistory: the window counts back from the run's start however long it pauses; the last of it, what is pinned, and nothing that the
// model is not to see.
func TestModelHistory(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask")}, History: HistoryConfig{Last: 4}})
	s := r.session(OpenSessionInput{})
	now := r.clock.now()
	list := r.appendAll(s, NewMessage{Text: "pinned", At: now.Add(-48 * time.Hour)}, NewMessage{Text: "gone", At: now.Add(-2 * time.Hour)}, NewMessage{Text: "old", At: now.Add(-50 * time.Minute)},
		NewMessage{Text: "new", At: now.Add(-5 * time.Minute)})
	if _, err := r.Pin(t.Context(), acme, s.ID, list[0].ID, true, ben); err != nil {
		t.Fatal(err)
	}
	run := r.begin("ask", s, `"name?"`)
	model := func(want string) {
		t.Helper()
		got, err := r.ModelHistory(t.Context(), acme, s.ID, run.ID)
		if err != nil || texts(got) != want {
			t.Errorf("%q %v, want %q", texts(got), err, want)
		}
	}
	model("pinned old new name?")
	r.clock.move(time.Second)
	if got := r.hear(s, "well"); got.Outcome != RoutedDecision {
		t.Fatalf("%+v", got)
	}
	r.pass(100 * time.Hour)
	model("pinned old new name? well")
	r.appendAll(s, NewMessage{Text: "late"})
	model("pinned new name? well late") // four besides what is pinned
	if got, err := r.ModelHistory(t.Context(), acme, s.ID, ""); err != nil || texts(got) != "pinned late" {
		t.Errorf("without a run: %q %v", texts(got), err)
	}
	other := r.session(OpenSessionInput{})
	if _, err := r.ModelHistory(t.Context(), acme, other.ID, run.ID); holdshort.CodeOf(err) != holdshort.NotFound {
		t.Errorf("another session: %v", err)
	}
}

// TestLongHistory: a history of many pages is read one page at a time, also while it grows, and stops when the reader has enough.
func TestLongHistory(t *testing.T) {
	onBoth(t, Config{}, func(t *testing.T, r *room) {
		s := r.session(OpenSessionInput{})
		const many = 1100
		for i := 0; i < many; i += store.MaxPage {
			var batch []NewMessage
			for j := i; j < min(i+store.MaxPage, many); j++ {
				batch = append(batch, NewMessage{ExternalID: fmt.Sprint("x", j), Text: fmt.Sprint(j), At: time.Unix(int64(j), 0)})
			}
			r.appendAll(s, batch...)
		}
		n := 0
		err := r.EachMessage(t.Context(), acme, HistoryQuery{Session: s.ID, Window: Whole}, func(m holdshort.Message) error {
			if n == 10 { // nobody is kept from writing while somebody reads
				r.appendAll(s, NewMessage{Text: fmt.Sprint(many)})
			}
			if m.Parts[0].Text != fmt.Sprint(n) {
				return fmt.Errorf("%d is %+v", n, m)
			}
			n++
			return nil
		})
		if err != nil || n != many+1 {
			t.Errorf("%d messages, %v", n, err)
		}
		enough, n := errors.New("enough"), 0
		err = r.EachMessage(t.Context(), acme, HistoryQuery{Session: s.ID, Window: Whole}, func(holdshort.Message) error {
			if n++; n == 250 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || n != 250 {
			t.Errorf("%d, %v", n, err)
		}
	})
}

// TestSessionView: what a session waits for, and for whom it is there at all.
func TestSessionView(t *testing.T) {
	r := newRoom(t, Config{Flows: []flow.Flow{asker("ask")}})
	s := r.chatting("")
	state := func(want HitlState, open int) {
		t.Helper()
		v, err := r.SessionFor(t.Context(), acme, s.ID, ben)
		if err != nil || v.HitlState != want || len(v.Open) != open || v.Open == nil || v.ID != s.ID {
			t.Errorf("%+v %v, want %s", v, err, want)
		}
	}
	state(HitlNone, 0)
	r.begin("ask", s, `"one?"`)
	r.begin("ask", s, `"two?"`)
	state(HitlWaiting, 2)
	v, _ := r.SessionFor(t.Context(), acme, s.ID, olga)
	if want := r.requests(s); v.Open[0] != want[0].ID || v.Open[1] != want[1].ID {
		t.Errorf("%v", v.Open)
	}
	r.clock.move(6 * time.Minute) // past its time, not swept yet
	state(HitlWaiting, 1)
	for name, c := range map[string]struct {
		tenant holdshort.TenantID
		actor  holdshort.Actor
	}{"stranger": {acme, eve}, "nobody": {acme, holdshort.Actor{}}, "another tenant": {"rival", olga}} {
		if _, err := r.SessionFor(t.Context(), c.tenant, s.ID, c.actor); holdshort.CodeOf(err) != holdshort.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.DeleteSession(t.Context(), acme, s.ID, ben); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SessionFor(t.Context(), acme, s.ID, olga); holdshort.CodeOf(err) != holdshort.NotFound {
		t.Errorf("deleted: %v", err)
	}
}

// TestStartedRunTakesMessages: a run that was started in a session takes its messages if nobody else does.
func TestStartedRunTakesMessages(t *testing.T) {
	for _, c := range []struct {
		name    string
		session string // its flow
		before  string // a message first: it starts the session's flow
		start   string
		want    Routing
		ours    bool
	}{
		{"no flow of its own", "", "", "talk", RoutedPost, true},
		{"its own flow", "talk", "", "talk", RoutedPost, true},
		{"another flow", "talk", "", "other", RoutedStart, false},
		{"somebody has them", "talk", "hello", "talk", RoutedPost, false},
		{"who had them is gone", "talk", "stop", "talk", RoutedPost, true},
	} {
		for _, workers := range []string{"here", "queued"} {
			t.Run(c.name+" "+workers, func(t *testing.T) {
				other := flow.New("other", 1, func(c *flow.Context, _ struct{}) (string, error) { return flow.Wait[string](c, "post", 0) })
				r := newRoom(t, Config{Flows: []flow.Flow{talker(), other}})
				s := r.chatting(c.session)
				if c.before != "" {
					r.hear(s, c.before)
				}
				if workers == "queued" { // as if every worker were busy
					for range cap(r.slots) {
						r.slots <- struct{}{}
					}
				}
				run, err := r.Start(t.Context(), acme, StartInput{Flow: c.start, Session: s.ID, User: s.User, Input: []byte(`{"text":"hi"}`)})
				if err != nil {
					t.Fatal(err)
				}
				for workers == "queued" && len(r.slots) > 0 {
					<-r.slots
				}
				r.settle()
				got := r.hear(s, "more")
				if got.Outcome != c.want || (got.Run == run.ID) != c.ours {
					t.Errorf("%+v, started %s", got, run.ID)
				}
			})
		}
	}
}

// TestRoleOf: what other systems call a speaker.
func TestRoleOf(t *testing.T) {
	for sender, want := range map[string]holdshort.Role{"": "user", " ": "user", "USER": "user", "end-user": "user", "user_agent": "user", "Assistant": "assistant", "agent-7": "assistant",
		"AI_ASSISTANT": "assistant", "system": "system", "bot": "system", "tool": "system", "developer": "system"} {
		if got := holdshort.RoleOf(sender); got != want {
			t.Errorf("%q is %s, want %s", sender, got, want)
		}
	}
	for _, role := range []holdshort.Role{holdshort.RoleUser, holdshort.RoleAssistant, holdshort.RoleSystem} {
		if holdshort.RoleOf(string(role)) != role || holdshort.RoleOf(strings.ToUpper(string(role))) != role {
			t.Errorf("%s does not stay what it is", role)
		}
	}
}
