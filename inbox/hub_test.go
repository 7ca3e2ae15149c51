package inbox

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// TestLiveGathers: a thousand changes in a moment are told in a few pushes, each request once in each, and the last word is right.
func TestLiveGathers(t *testing.T) {
	b := newLiveBed(t)
	ana := b.people.set("ana", policy.Reviewer)
	b.hub.pace = 150 * time.Millisecond
	var pushes atomic.Int64
	b.hub.sent = func() { pushes.Add(1) }
	page := b.listen("ana", "view=")
	page.next("hello")
	begin := time.Now()
	var ids []holdshort.RequestID
	for i := range 20 {
		ids = append(ids, b.ask(fmt.Sprint("question ", i), roles(policy.Reviewer)).ID)
	}
	var work sync.WaitGroup
	for _, id := range ids {
		work.Go(func() {
			for i := range 50 {
				to := "ana"
				if i%2 == 0 {
					to = "ben"
				}
				if _, err := b.engine.Assign(t.Context(), liveTenant, engine.AssignInput{Request: id, Actor: ana, To: to}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	last := map[string]string{}
	for len(last) < len(ids) || slices.ContainsFunc(ids, func(id holdshort.RequestID) bool {
		return !strings.Contains(last[string(id)], `data-assignee="ana"`)
	}) {
		var rows toldRows
		page.next("rows").into(t, &rows)
		seen := map[string]bool{}
		for _, r := range rows.Upsert {
			if seen[r.ID] {
				t.Errorf("%s is told twice in one push", r.ID)
			}
			seen[r.ID], last[r.ID] = true, r.HTML
		}
	}
	took := time.Since(begin)
	if most := int64(took/b.hub.pace) + 3; pushes.Load() > most {
		t.Errorf("%d pushes in %v, want at most %d", pushes.Load(), took, most)
	}
}

// TestLiveRestart: pages that lose the server, and come back to another, are told what happened meanwhile.
func TestLiveRestart(t *testing.T) {
	b := newLiveBed(t)
	ana := b.people.set("ana", policy.Reviewer)
	page := b.listen("ana", "view=")
	page.next("hello")
	left := b.ask("it is decided while nobody hears", roles(policy.Reviewer))
	page.row(left.ID)
	card := b.ask("it is looked at", roles(policy.Reviewer))
	page.row(card.ID)
	b.in.Close()
	last := page.ended()
	b.close()
	if last.name != "bye" || last.id == "" {
		t.Fatalf("the last is %+v", last)
	}
	b.answer(left.ID, ana)
	came := b.ask("it came while nobody heard", roles(policy.Reviewer))
	if _, err := b.engine.Comment(t.Context(), liveTenant, engine.CommentInput{Request: card.ID, Actor: ana, Text: "hm"}); err != nil {
		t.Fatal(err)
	}
	b.open()
	page = b.listen("ana", "view=&after="+last.id+"&card="+string(card.ID))
	var hello struct{ Missed bool }
	page.next("hello").into(t, &hello)
	if hello.Missed {
		t.Error("three events are too many to be told")
	}
	var rows toldRows
	page.next("rows").into(t, &rows)
	if len(rows.Upsert) != 1 || rows.Upsert[0].ID != string(came.ID) || !slices.Equal(rows.Gone, []string{string(left.ID)}) {
		t.Errorf("after the restart: %+v", rows)
	}
	var changed struct{ ID, Event string }
	page.next("card").into(t, &changed)
	if changed.ID != string(card.ID) || changed.Event != "hitl.request.commented" {
		t.Errorf("the card: %+v", changed)
	}
	for _, after := range []string{"0", "-4", "x", "999999999"} { // long ago, never, nonsense, and a log that is no more
		for i := 0; after == "0" && i <= mostReread; i++ {
			b.ask("one of many", roles("nobody"))
		}
		b.caughtUp() // what the room has yet to tell is not missed
		again := b.listen("ana", "view=&after="+after)
		again.next("hello").into(t, &hello)
		if !hello.Missed {
			t.Errorf("after=%s: the page is not told to ask anew", after)
		}
		again.end()
	}
}

// caughtUp waits until the room has told everything that is in the log.
func (b *liveBed) caughtUp() {
	b.Helper()
	position, err := b.engine.Position(b.Context(), liveTenant)
	if err != nil {
		b.Fatal(err)
	}
	b.hub.mu.Lock()
	room := b.hub.rooms[liveTenant]
	b.hub.mu.Unlock()
	eventually(b, "the room is behind the log", func() bool {
		room.mu.Lock()
		defer room.mu.Unlock()
		return room.at >= position
	})
}

// TestLiveRights: who may no longer look is told no more, and who may see other things asks anew.
func TestLiveRights(t *testing.T) {
	b := newLiveBed(t)
	b.hub.recheck = 30 * time.Millisecond
	b.people.set("ana", "finance")
	b.people.set("ben", "finance")
	ana, ben := b.listen("ana", "view="), b.listen("ben", "view=")
	ana.next("hello")
	ben.next("hello")
	b.people.remove("ana")
	b.people.set("ben", "ops")
	for _, l := range []*listener{ana, ben} {
		var bye struct {
			Why    string
			Resync bool
		}
		last := l.ended()
		if last.into(t, &bye); last.name != "bye" || bye.Why != "rights" || !bye.Resync {
			t.Errorf("the last is %+v", last)
		}
	}
	if l := b.listen("ana", ""); l.status != http.StatusUnauthorized {
		t.Errorf("who is gone gets %d", l.status)
	}
	if l := b.listen("ben", ""); l.status != http.StatusOK {
		t.Errorf("who is still here gets %d", l.status)
	}
}

// TestLiveStreamsOfOnePerson: nobody holds more than twenty, and nobody pays for another.
func TestLiveStreamsOfOnePerson(t *testing.T) {
	b := newLiveBed(t)
	b.people.set("ana")
	b.people.set("ben")
	var open []*listener
	for range mostStreams {
		l := b.listen("ana", "")
		l.next("hello")
		open = append(open, l)
	}
	if l := b.listen("ana", ""); l.status != http.StatusTooManyRequests {
		t.Errorf("one more gets %d", l.status)
	}
	if l := b.listen("ben", ""); l.status != http.StatusOK {
		t.Errorf("ben gets %d", l.status)
	}
	open[0].end()
	open[0].ended()
	eventually(t, "a closed stream counts", func() bool { return b.listen("ana", "").status == http.StatusOK })
}

// eventually looks again and again, for things that the other side does in its own time.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit, look := time.After(time.Minute), time.NewTicker(5*time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-limit:
			t.Fatal("it stays so: " + what)
		}
	}
}

// TestLiveEnds: when the last page closes nothing is left running, and nothing is remembered.
func TestLiveEnds(t *testing.T) {
	b := newLiveBed(t)
	b.people.set("ana", policy.Reviewer)
	b.people.set("ben", policy.Reviewer)
	req := b.ask("question", roles(policy.Reviewer))
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	before := runtime.NumGoroutine()
	var pages []*listener
	for i := range 15 {
		who := []string{"ana", "ben"}[i%2]
		l := b.listen(who, "view=&card="+string(req.ID))
		l.next("hello")
		pages = append(pages, l)
	}
	b.ask("another", roles(policy.Reviewer))
	for _, l := range pages {
		l.next("rows")
		l.end()
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	eventually(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	if len(b.hub.rooms) != 0 || len(b.hub.open) != 0 {
		t.Errorf("%d rooms and the streams of %d people are left", len(b.hub.rooms), len(b.hub.open))
	}
}

// stuck is a connection whose reader does not read until it is let.
type stuck struct {
	*httptest.ResponseRecorder
	mu    sync.Mutex
	after int // writes that go through
	let   chan struct{}
}

func (s *stuck) Write(raw []byte) (int, error) {
	s.mu.Lock()
	s.after--
	wait := s.after < 0
	s.mu.Unlock()
	if wait {
		<-s.let
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ResponseRecorder.Write(raw)
}

func (s *stuck) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Body.String()
}

// TestLiveSlowReader: a page that does not read holds up nobody and costs no more than a few hundred rows; when it reads again it is told to ask anew.
func TestLiveSlowReader(t *testing.T) {
	b := newLiveBed(t)
	b.people.set("ana", policy.Reviewer)
	b.people.set("ben", policy.Reviewer)
	slow := &stuck{ResponseRecorder: httptest.NewRecorder(), after: 1, let: make(chan struct{})}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/live?view=", nil)
	r.Header.Set("X-Who", "ana")
	over := make(chan struct{})
	go func() {
		defer close(over)
		b.hub.serve(slow, r)
	}()
	eventually(t, "no hello", func() bool { return strings.Contains(slow.text(), "hello") })
	quick := b.listen("ben", "view=")
	quick.next("hello")
	var last holdshort.Request
	for i := range mostPending + 50 {
		last = b.ask(fmt.Sprint("question ", i), roles(policy.Reviewer))
	}
	quick.row(last.ID)
	b.hub.mu.Lock()
	room := b.hub.rooms[liveTenant]
	b.hub.mu.Unlock()
	room.mu.Lock()
	for l := range room.lines {
		l.mu.Lock()
		if l.who.actor.ID == "ana" && (len(l.rows) > 0 || len(l.order) > 0 || l.resync != "behind") {
			t.Errorf("%d rows wait for who does not read, resync %q", len(l.rows), l.resync)
		}
		l.mu.Unlock()
	}
	room.mu.Unlock()
	close(slow.let)
	eventually(t, "no resync", func() bool { return strings.Contains(slow.text(), `event: resync`+"\n"+`data: {"why":"behind"}`) })
	next := b.ask("after it", roles(policy.Reviewer))
	eventually(t, "the stream is stuck", func() bool { return strings.Contains(slow.text(), string(next.ID)) })
	b.in.Close()
	<-over
}

// TestLivePresence: those who have a request open see who else does, by name, and never themselves.
func TestLivePresence(t *testing.T) {
	b := newLiveBed(t)
	b.hub.dwell = 0
	b.people.set("ana", "finance")
	b.people.set("ben", "finance")
	b.people.set("eve")
	req := b.ask("who looks?", roles("finance"))
	who := func(l *listener) []string {
		var p struct {
			ID  string
			Who []string
		}
		l.next("presence").into(t, &p)
		if p.ID != string(req.ID) {
			t.Errorf("presence of %s", p.ID)
		}
		return p.Who
	}
	ana := b.listen("ana", "card="+string(req.ID))
	if got := who(ana); len(got) != 0 {
		t.Errorf("ana sees %v", got)
	}
	eve := b.listen("eve", "card="+string(req.ID))
	eve.next("hello")
	ben := b.listen("ben", "card="+string(req.ID))
	if got := who(ben); !slices.Equal(got, []string{"Ana"}) {
		t.Errorf("ben sees %v", got)
	}
	if got := who(ana); !slices.Equal(got, []string{"Ben"}) {
		t.Errorf("ana sees %v", got)
	}
	again := b.listen("ben", "card="+string(req.ID)) // a second page of his is not a second ben
	who(again)
	again.end()
	again.ended()
	ben.end()
	if got := who(ana); len(got) != 0 {
		t.Errorf("when ben is gone ana sees %v", got)
	}
	// Another node says so in the log; looks of this node are written once.
	carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person, Roles: []string{"finance"}, Assurance: holdshort.AssuranceLogin}
	if err := b.engine.Viewed(t.Context(), liveTenant, req.ID, carl); err != nil {
		t.Fatal(err)
	}
	if got := who(ana); !slices.Equal(got, []string{"carl"}) {
		t.Errorf("ana sees %v", got)
	}
	b.hub.mu.Lock()
	room := b.hub.rooms[liveTenant]
	b.hub.mu.Unlock()
	room.look(time.Now().Add(lookFades + time.Second))
	if got := who(ana); len(got) != 0 {
		t.Errorf("two minutes later ana sees %v", got)
	}
	var looks []string
	eventually(t, "no look of ana is in the log", func() bool {
		looks = nil
		page, err := b.engine.Events(t.Context(), liveTenant, engine.EventQuery{Types: []string{"hitl.request.viewed"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Items {
			looks = append(looks, e.Actor)
		}
		return slices.Contains(looks, "ana")
	})
	room.look(time.Now().Add(time.Hour))
	if n := len(slices.DeleteFunc(looks, func(who string) bool { return who != "ana" })); n != 1 {
		t.Errorf("ana's look is in the log %d times", n)
	}
	if text := eve.text(); strings.Contains(text, "presence") || strings.Contains(text, string(req.ID)) {
		t.Errorf("eve was told:\n%s", text)
	}
}

// TestLiveCounts: what goes up and down with what happens comes to what the engine counts, without asking it again.
func TestLiveCounts(t *testing.T) {
	b := newLiveBed(t)
	b.hub.again, b.hub.recheck = time.Hour, time.Hour
	people := map[string]holdshort.Actor{"ana": b.people.set("ana", policy.Reviewer), "fin": b.people.set("fin", "finance"), "adm": b.people.set("adm", policy.Admin), "eve": b.people.set("eve")}
	var open []holdshort.Request // the room has never seen the first of them
	for range 5 {
		open = append(open, b.ask("from before", roles("finance")))
	}
	pages := map[string]*listener{}
	for name := range people {
		pages[name] = b.listen(name, "")
		pages[name].next("counts") // they are read once, before anything happens
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 150 {
		switch n := random.IntN(4); {
		case n < 2 || len(open) == 0:
			open = append(open, b.ask(fmt.Sprint("question ", i), []holdshort.Audience{roles("finance"), roles(policy.Reviewer), {Users: []string{"eve"}}}[random.IntN(3)], func(in *engine.AskInput) {
				in.Priority = []holdshort.Priority{holdshort.PriorityLow, holdshort.PriorityHigh, holdshort.PriorityCritical}[random.IntN(3)]
				in.ExpiresIn = []time.Duration{time.Minute, time.Hour}[random.IntN(2)]
			}))
		case n == 2:
			req := open[random.IntN(len(open))]
			if _, err := b.engine.Assign(t.Context(), liveTenant, engine.AssignInput{Request: req.ID, Actor: people["adm"], To: []string{"ana", "fin", ""}[random.IntN(3)]}); err != nil {
				t.Fatal(err)
			}
		default:
			at := random.IntN(len(open))
			if _, err := b.engine.CancelRequest(t.Context(), liveTenant, engine.CancelRequestInput{Request: open[at].ID, Actor: people["adm"], Reason: "enough"}); err != nil {
				t.Fatal(err)
			}
			open = slices.Delete(open, at, at+1)
		}
	}
	for name, actor := range people {
		want, err := b.engine.DeskCounts(t.Context(), liveTenant, actor)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		eventually(t, name+" is told other counts than "+string(countsText(want)), func() bool {
			select {
			case e := <-pages[name].events:
				if e.name == "counts" {
					got = e.data
				}
			default:
			}
			return sameCounts(t, got, string(countsText(want)))
		})
	}
}

// TestLiveCountsOfUnseen: a room that falls behind looks at a request for the first time when it was assigned and canceled already. It does
// not know who had it before, so it has the counts read soon.
func TestLiveCountsOfUnseen(t *testing.T) {
	b := newLiveBed(t)
	b.hub.again, b.hub.recheck = time.Hour, time.Hour
	b.people.set("ana", policy.Reviewer)
	adm := b.people.set("adm", policy.Admin)
	var asked []holdshort.Request
	for range 3 {
		asked = append(asked, b.ask("from before", roles(policy.Reviewer)))
	}
	assign := func(req holdshort.Request) {
		if _, err := b.engine.Assign(t.Context(), liveTenant, engine.AssignInput{Request: req.ID, Actor: adm, To: "ana"}); err != nil {
			t.Error(err)
		}
	}
	assign(asked[0])
	page := b.listen("ana", "")
	page.next("counts")
	b.hub.mu.Lock()
	room := b.hub.rooms[liveTenant]
	b.hub.mu.Unlock()
	room.mu.Lock()
	b.ask("holds the room up", roles(policy.Reviewer))
	eventually(t, "the room does not read", func() bool { return len(room.events) == 0 })
	assign(asked[1])
	if _, err := b.engine.CancelRequest(t.Context(), liveTenant, engine.CancelRequestInput{Request: asked[1].ID, Actor: adm, Reason: "enough"}); err != nil {
		t.Error(err)
	}
	b.ask("one more", roles(policy.Reviewer))
	room.mu.Unlock()
	eventually(t, "ana is not told that she has one of four", func() bool {
		select {
		case e := <-page.events:
			return e.name == "counts" && strings.Contains(e.data, `"all":"4","mine":"1"`)
		default:
			return false
		}
	})
}

// sameCounts: the oldest is only as old as the last reading knew, and none is the same as nothing.
func sameCounts(t *testing.T, a, b string) bool {
	read := func(text string) (all map[string]any) {
		if text == "" {
			return nil
		}
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		delete(all, "oldest")
		for _, group := range []string{"kinds", "priorities"} {
			for name, n := range all[group].(map[string]any) {
				if n == "0" {
					delete(all[group].(map[string]any), name)
				}
			}
		}
		return all
	}
	return fmt.Sprint(read(a)) == fmt.Sprint(read(b))
}

// TestLiveExpiry: what is past its time leaves the list and the counts.
func TestLiveExpiry(t *testing.T) {
	b := newLiveBed(t)
	b.hub.again, b.hub.recheck = time.Hour, time.Hour
	b.people.set("ana", policy.Reviewer)
	page := b.listen("ana", "view=")
	page.next("counts")
	req := b.ask("soon over", roles(policy.Reviewer), func(in *engine.AskInput) { in.ExpiresIn = time.Second })
	page.row(req.ID)
	eventually(t, "it does not expire", func() bool {
		_, err := b.engine.Expire(t.Context(), liveTenant, req.ID)
		return err == nil
	})
	if _, gone := page.row(req.ID); !gone {
		t.Error("what is expired stays")
	}
	page.counted(`"all":"0","mine":"0","unknown":"0","soon":"0"`)
}

// TestLiveRunsAndSessions: a page of a run or a session is told when something happens in it, and nobody else's.
func TestLiveRunsAndSessions(t *testing.T) {
	b := newLiveBed(t)
	b.people.set("ana", policy.Operator)
	b.people.set("eve")
	session, err := b.engine.OpenSession(t.Context(), liveTenant, engine.OpenSessionInput{User: "ben", Channel: "web", Address: "ben"})
	if err != nil {
		t.Fatal(err)
	}
	ana, eve := b.listen("ana", "session="+string(session.ID)), b.listen("eve", "session="+string(session.ID))
	ana.next("hello")
	eve.next("hello")
	b.ask("In a session", holdshort.Audience{Owner: true}, func(in *engine.AskInput) {
		in.Session, in.Actor.ForUser = session.ID, "ben"
	})
	var about struct{ ID holdshort.SessionID }
	if ana.next("session").into(t, &about); about.ID != session.ID {
		t.Errorf("ana is told of %q", about.ID)
	}
	b.in.Close()
	eve.ended()
	if text := eve.text(); strings.Contains(text, string(session.ID)) || strings.Contains(text, "event: rows") {
		t.Errorf("eve is told:\n%s", text)
	}
}
