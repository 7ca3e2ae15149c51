package api_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
)

type shownSession struct {
	ID        holdshort.SessionID   `json:"id"`
	User      string                `json:"user"`
	Mode      string                `json:"mode"`
	HitlState string                `json:"hitl_state"`
	Open      []holdshort.RequestID `json:"open_requests"`
}

type shownTaken struct {
	Outcome string              `json:"outcome"`
	Message *holdshort.Message  `json:"message"`
	Run     *shownRun           `json:"run"`
	Request *shownRequest       `json:"request"`
	Replies []holdshort.Message `json:"replies"`
	Hitl    *struct {
		TaskID      holdshort.RunID     `json:"task_id"`
		RequestID   holdshort.RequestID `json:"request_id"`
		ApprovalURL string              `json:"approval_url"`
	} `json:"hitl"`
}

func texts(all []holdshort.Message) string {
	var out []string
	for _, m := range all {
		for _, p := range m.Parts {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, " | ")
}

// chat opens a session of ben's.
func (d *door) chat(t *testing.T) holdshort.SessionID {
	t.Helper()
	a := d.call(t, "ben", "POST", "/v1/sessions", map[string]any{"flow": "chat"})
	if a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var s shownSession
	a.into(t, &s)
	if s.User != "ben" || s.Mode != "ai" || s.HitlState != "none" || s.Open == nil {
		t.Errorf("%s", a.body)
	}
	return s.ID
}

func TestOpenSession(t *testing.T) {
	d := newHouse(t)
	id := d.chat(t)
	again := d.call(t, "ben", "POST", "/v1/sessions", map[string]any{"id": id, "user": "ben"})
	if again.status != 200 {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	taken := d.call(t, "eve", "POST", "/v1/sessions", map[string]any{"id": id})
	if taken.status != 409 || taken.code(t) != "session_id_taken" {
		t.Errorf("of another: %d %s", taken.status, taken.body)
	}
	forOther := d.call(t, "eve", "POST", "/v1/sessions", map[string]any{"user": "ben"})
	if forOther.status != 403 {
		t.Errorf("in another's name: %d %s", forOther.status, forOther.body)
	}
	if a := d.call(t, "stranger", "POST", "/v1/sessions", map[string]any{"id": id}); a.status != 201 {
		t.Errorf("the same id in another tenant: %d %s", a.status, a.body)
	}
	first := d.call(t, "ben", "POST", "/v1/sessions", map[string]any{"flow": "chat"}, "Idempotency-Key", "k1")
	second := d.call(t, "ben", "POST", "/v1/sessions", map[string]any{"flow": "chat"}, "Idempotency-Key", "k1")
	var one, two shownSession
	first.into(t, &one)
	second.into(t, &two)
	if one.ID != two.ID || second.status != 201 || second.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s %d %s", one.ID, second.status, second.body)
	}
	if a := d.call(t, "ben", "POST", "/v1/sessions", map[string]any{"flow": "other"}, "Idempotency-Key", "k1"); a.status != 422 || a.code(t) != "idempotency_key_reused" {
		t.Errorf("%d %s", a.status, a.body)
	}
	hidden, unknown := d.call(t, "eve", "GET", "/v1/sessions/"+string(id), nil), d.call(t, "eve", "GET", "/v1/sessions/ses_unknown", nil)
	if hidden.status != 404 || strings.ReplaceAll(string(hidden.body), string(id), "ses_unknown") != string(unknown.body) {
		t.Errorf("hidden %s, unknown %s", hidden.body, unknown.body)
	}
}

// TestMessages: a message starts a run, its pause comes back with it, the next one answers it; a copy joins the first one's result.
func TestMessages(t *testing.T) {
	d := newHouse(t)
	id := d.chat(t)
	path := "/v1/sessions/" + string(id) + "/messages"
	a := d.call(t, "ben", "POST", path+"?wait=10s", map[string]any{"id": "m1", "text": "hello", "metadata": map[string]any{"from": "web"}})
	var first shownTaken
	a.into(t, &first)
	if a.status != 200 || first.Message == nil || first.Message.Role != holdshort.RoleUser || first.Run == nil || first.Run.Status != holdshort.RunWaiting || first.Request == nil ||
		first.Hitl == nil || first.Hitl.RequestID != first.Request.ID || first.Hitl.TaskID != first.Run.ID || !strings.Contains(texts(first.Replies), "You wrote: hello | Shall I go on?") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	copied := d.call(t, "ben", "POST", path+"?wait=10s", map[string]any{"id": "m1", "text": "hello", "metadata": map[string]any{"from": "web"}})
	var second shownTaken
	copied.into(t, &second)
	if copied.status != 200 || second.Message == nil || second.Message.ID != first.Message.ID || second.Run == nil || second.Run.ID != first.Run.ID || copied.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a copy: %d %s", copied.status, copied.body)
	}
	if other := d.call(t, "ben", "POST", path, map[string]any{"id": "m1", "text": "something else"}); other.status != 409 || other.code(t) != "duplicate" {
		t.Errorf("the same id, another text: %d %s", other.status, other.body)
	}
	side := "/v1/sessions/" + string(d.chat(t)) + "/messages?wait=10s"
	var one, two shownTaken
	d.call(t, "ben", "POST", side, map[string]any{"text": "hello"}, "Idempotency-Key", "k").into(t, &one)
	d.call(t, "ben", "POST", side, map[string]any{"text": "hello"}, "Idempotency-Key", "k").into(t, &two)
	if one.Message == nil || two.Message == nil || one.Message.ID != two.Message.ID {
		t.Errorf("under one key: %+v %+v", one.Message, two.Message)
	}
	if other := d.call(t, "ben", "POST", side, map[string]any{"text": "bye"}, "Idempotency-Key", "k"); other.status != 422 || other.code(t) != "idempotency_key_reused" {
		t.Errorf("the same key, another text: %d %s", other.status, other.body)
	}
	var s shownSession
	d.call(t, "ben", "GET", "/v1/sessions/"+string(id), nil).into(t, &s)
	if s.HitlState != "waiting" || len(s.Open) != 1 || s.Open[0] != first.Request.ID {
		t.Errorf("%+v", s)
	}
	var done shownTaken
	for i := 0; done.Run == nil || !done.Run.Status.Ended(); i++ { // the kernel may ask again when an answer comes in the very moment of the question
		if i > 20 {
			t.Fatalf("%+v", done)
		}
		a = d.call(t, "ben", "POST", path+"?wait=10s", map[string]any{"text": "yes", "reply_to": first.Request.ID})
		if a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		done = shownTaken{}
		a.into(t, &done)
	}
	if done.Request != nil || !strings.Contains(texts(done.Replies), "Done.") || string(done.Run.Result) != `"done"` {
		t.Errorf("%s", a.body)
	}
}

// TestMessagesAreTheOwners: nobody else writes or reads in a session.
func TestMessagesAreTheOwners(t *testing.T) {
	d := newHouse(t)
	id := d.chat(t)
	path := "/v1/sessions/" + string(id)
	for _, who := range []string{"eve", "ana", "stranger", "gate"} {
		for _, c := range [][2]string{{"GET", "/messages"}, {"POST", "/messages"}, {"POST", "/messages/batch"}, {"POST", "/messages/msg_1/pin"}, {"GET", "/events"}, {"DELETE", ""}, {"GET", ""}, {"POST", "/takeover"}, {"POST", "/say"}} {
			body := map[string]any{"text": "hi"}
			if strings.HasSuffix(c[1], "batch") {
				body = map[string]any{"messages": []any{map[string]any{"text": "hi"}}}
			}
			if c[0] != "POST" || strings.HasSuffix(c[1], "pin") || strings.HasSuffix(c[1], "takeover") {
				body = nil
			}
			var in any
			if body != nil {
				in = body
			}
			if a := d.call(t, who, c[0], path+c[1], in); a.status != 404 && a.status != 403 || a.code(t) == "" {
				t.Errorf("%s %s %s: %d %s", who, c[0], c[1], a.status, a.body)
			}
		}
	}
	// A key may speak for ben if it may speak for users.
	d.keys["bot"] = d.key(t, tenant, "", nil, []string{holdshort.ScopePost, holdshort.ScopeActAsUser})
	if a := d.call(t, "bot", "POST", path+"/messages?wait=5s", map[string]any{"text": "hi"}); a.status != 404 {
		t.Errorf("a key that names nobody: %d %s", a.status, a.body)
	}
	if a := d.call(t, "bot", "POST", path+"/messages?wait=5s", map[string]any{"text": "hi"}, "Holdshort-User", "ben"); a.status != 200 {
		t.Errorf("a key that speaks for ben: %d %s", a.status, a.body)
	}
}

// TestHistory: pages, windows, pins and a stream of everything.
func TestHistory(t *testing.T) {
	d := newHouse(t)
	id := d.chat(t)
	path := "/v1/sessions/" + string(id) + "/messages"
	old := time.Now().Add(-48 * time.Hour).UTC()
	const batches, each = 5, 100
	for b := range batches {
		var list []map[string]any
		for i := range each {
			role := "User"
			switch i % 4 {
			case 1:
				role = "ai-assistant"
			case 2:
				role = "System"
			}
			list = append(list, map[string]any{"id": fmt.Sprint("x", b*each+i), "role": role, "content": fmt.Sprint("message ", b*each+i), "at": old.Add(time.Duration(b*each+i) * time.Second)})
		}
		a := d.call(t, "admin", "POST", path+"/batch", map[string]any{"messages": list})
		if a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if b == 0 { // each once by its id
			if a := d.call(t, "admin", "POST", path+"/batch", map[string]any{"messages": list}); a.status != 200 {
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
	}
	type page struct {
		Items []holdshort.Message `json:"items"`
		Next  *string             `json:"next_cursor"`
	}
	var recent page
	d.call(t, "ben", "GET", path, nil).into(t, &recent)
	if len(recent.Items) != 0 {
		t.Errorf("%d messages of the last hour", len(recent.Items))
	}
	var all []holdshort.Message
	for cursor := ""; ; {
		var p page
		a := d.call(t, "ben", "GET", path+"?window=all&limit=60&cursor="+cursor, nil)
		a.into(t, &p)
		if a.status != 200 {
			t.Fatalf("%s", a.body)
		}
		if all = append(all, p.Items...); p.Next == nil {
			break
		}
		cursor = *p.Next
	}
	if len(all) != batches*each || all[0].Role != holdshort.RoleUser || all[1].Role != holdshort.RoleAssistant || all[2].Role != holdshort.RoleSystem {
		t.Fatalf("%d messages, %+v", len(all), all[:min(3, len(all))])
	}
	streamed := d.call(t, "ben", "GET", path+"?window=all", nil, "Accept", "application/x-ndjson")
	if streamed.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%v", streamed.header)
	}
	lines := bufio.NewScanner(bytes.NewReader(streamed.body))
	n := 0
	for ; lines.Scan(); n++ {
		var m holdshort.Message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.ID != all[n].ID {
			t.Fatalf("line %d: %s %v", n, lines.Bytes(), err)
		}
	}
	if n != len(all) {
		t.Errorf("%d lines of %d messages", n, len(all))
	}
	var without page
	d.call(t, "ben", "GET", path+"?window=all&limit=200&include_system=false", nil).into(t, &without)
	for _, m := range without.Items {
		if m.Role == holdshort.RoleSystem {
			t.Errorf("%+v", m)
		}
	}
	pinned := all[10]
	if a := d.call(t, "ben", "POST", path+"/"+string(pinned.ID)+"/pin", nil); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	d.call(t, "ben", "GET", path, nil).into(t, &recent)
	if len(recent.Items) != 1 || recent.Items[0].ID != pinned.ID || !recent.Items[0].Pinned {
		t.Errorf("%+v", recent)
	}
	if a := d.call(t, "ben", "POST", path+"/"+string(pinned.ID)+"/unpin", nil); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for bad, want := range map[string]int{"?window=soon": 400, "?window=-1h": 400, "?limit=201": 400, "?limit=x": 400, "?cursor=nonsense": 400, "?pinned=perhaps": 400} {
		if a := d.call(t, "ben", "GET", path+bad, nil); a.status != want || a.code(t) == "" {
			t.Errorf("%s: %d %s", bad, a.status, a.body)
		}
	}
}

// TestTakeover: a person takes a session over, speaks in it and hands it back.
func TestTakeover(t *testing.T) {
	d := newHouse(t)
	id := d.chat(t)
	path := "/v1/sessions/" + string(id)
	if a := d.call(t, "olga", "POST", path+"/say", map[string]any{"text": "hello"}); a.status != 409 {
		t.Errorf("before the takeover: %d %s", a.status, a.body)
	}
	if a := d.call(t, "ben", "POST", path+"/takeover", nil); a.status != 403 {
		t.Errorf("by its user: %d %s", a.status, a.body)
	}
	var s shownSession
	a := d.call(t, "olga", "POST", path+"/takeover", nil)
	a.into(t, &s)
	if a.status != 200 || s.Mode != "takeover" || s.HitlState != "takeover" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	one := d.call(t, "olga", "POST", path+"/say", map[string]any{"text": "this is olga"}, "Idempotency-Key", "s1")
	two := d.call(t, "olga", "POST", path+"/say", map[string]any{"text": "this is olga"}, "Idempotency-Key", "s1")
	if one.status != 201 || two.status != 201 || two.header.Get("Idempotent-Replayed") != "true" || !bytes.Equal(one.body, two.body) {
		t.Errorf("%d %s, again %d %s", one.status, one.body, two.status, two.body)
	}
	var taken shownTaken
	a = d.call(t, "ben", "POST", path+"/messages?wait=1s", map[string]any{"text": "are you there?"})
	a.into(t, &taken)
	if a.status != 200 || taken.Run != nil {
		t.Errorf("while taken over: %d %s", a.status, a.body)
	}
	a = d.call(t, "olga", "POST", path+"/handback", map[string]any{"message": "bye", "note": "agreed on a refund"})
	a.into(t, &s)
	if a.status != 200 || s.Mode != "ai" {
		t.Errorf("%d %s", a.status, a.body)
	}
	var history struct {
		Items []holdshort.Message `json:"items"`
	}
	d.call(t, "ben", "GET", path+"/messages", nil).into(t, &history)
	if got := texts(history.Items); strings.Count(got, "this is olga") != 1 || !strings.Contains(got, "bye") {
		t.Errorf("%s", got)
	}
}

func TestDeleteSession(t *testing.T) {
	d := newHouse(t)
	id := d.chat(t)
	path := "/v1/sessions/" + string(id)
	var taken shownTaken
	d.call(t, "ben", "POST", path+"/messages?wait=10s", map[string]any{"text": "hello"}).into(t, &taken)
	if a := d.call(t, "ben", "DELETE", path, nil); a.status != 200 || !strings.Contains(string(a.body), `"erased":true`) {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, c := range [][2]string{{"GET", ""}, {"GET", "/messages"}, {"DELETE", ""}} {
		if a := d.call(t, "ben", c[0], path+c[1], nil); a.status != 404 {
			t.Errorf("%s %s: %d %s", c[0], c[1], a.status, a.body)
		}
	}
	if taken.Request == nil || d.status(t, taken.Request.ID) != holdshort.RequestCanceled {
		t.Errorf("%+v", taken)
	}
}

// TestConcurrentCopies: many copies of a message at once are one message.
func TestConcurrentCopies(t *testing.T) {
	d := newHouse(t)
	id := d.chat(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := map[holdshort.MessageID]int{}
	for range 20 {
		wg.Go(func() {
			a := d.call(t, "ben", "POST", "/v1/sessions/"+string(id)+"/messages?wait=10s", map[string]any{"id": "once", "text": "hello"})
			var got shownTaken
			if a.status != 200 || json.Unmarshal(a.body, &got) != nil || got.Message == nil {
				t.Errorf("%d %s", a.status, a.body)
				return
			}
			mu.Lock()
			ids[got.Message.ID]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(ids) != 1 {
		t.Errorf("%v", ids)
	}
}
