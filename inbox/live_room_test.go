package inbox

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// slowRoom returns a room that reads no events by itself: the test hands them over when the requests have changed again.
func (b *liveBed) slowRoom() *room {
	b.Helper()
	r := &room{hub: b.hub, tenant: liveTenant, due: make(chan struct{}, 1), lines: map[*ear]bool{}, people: map[string]*watcher{},
		looking: map[holdshort.RequestID]map[string]*looker{}}
	r.ctx, r.stop = context.WithCancel(b.Context())
	b.Cleanup(r.stop)
	var err error
	if r.at, err = b.engine.Position(b.Context(), liveTenant); err != nil {
		b.Fatal(err)
	}
	return r
}

// subscribe adds a page that lists a view.
func (b *liveBed) subscribe(r *room, who string, query string) *ear {
	b.Helper()
	request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/live?view="+query, nil)
	request.Header.Set("X-Who", who)
	viewer, err := b.people.ResolveActor(request)
	if err != nil {
		b.Fatal(err)
	}
	page := newEar(viewerOf(viewer), wantsOf(request.URL.Query()))
	if !r.add(page) {
		b.Fatal("the room is closed")
	}
	return page
}

// eventsSince returns the events after a position that may change the row of a request.
func (b *liveBed) eventsSince(position int64, id holdshort.RequestID) (events []holdshort.Event) {
	b.Helper()
	page, err := b.engine.Events(b.Context(), liveTenant, engine.EventQuery{After: position})
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range page.Items {
		if e.Request == id && redraws(&e) {
			events = append(events, e)
		}
	}
	return events
}

// A list may be read while a request is in it, although the room first reads the request when it has left the view. The
// event that took it out tells the list so, however often the room has read the request by then.
func TestLiveTellsWhatTheRoomNeverSaw(t *testing.T) {
	b := newLiveBed(t)
	ana := b.people.set("ana", policy.Reviewer)
	assign := func(id holdshort.RequestID, to string) {
		t.Helper()
		if _, err := b.engine.Assign(t.Context(), liveTenant, engine.AssignInput{Request: id, Actor: ana, To: to}); err != nil {
			t.Fatal(err)
		}
	}
	for query, change := range map[string]func(holdshort.RequestID){
		"":                     func(id holdshort.RequestID) { b.answer(id, ana) },
		"kind%3Dclarification": func(id holdshort.RequestID) { b.answer(id, ana) },
		"due%3Dsoon":           func(id holdshort.RequestID) { b.answer(id, ana) },
		"view%3Dmine":          func(id holdshort.RequestID) { assign(id, "ana"); assign(id, "ben") },
	} {
		r := b.slowRoom()
		page, other := b.subscribe(r, "ana", query), b.subscribe(r, "ana", "kind%3Dapproval")
		id := b.ask("opened and closed before the room reads it", roles(policy.Reviewer)).ID
		change(id)
		events := b.eventsSince(r.at, id)
		if len(events) < 3 {
			t.Fatalf("%q: %d events", query, len(events))
		}
		for _, e := range events {
			clear(page.rows)
			page.order = nil
			if err := r.tell([]holdshort.Event{e}); err != nil {
				t.Fatal(err)
			}
		}
		if row, told := page.rows[id]; !told || row != nil {
			t.Errorf("%q is not told by %s that the request left", query, events[len(events)-1].Type)
		}
		if len(other.order) > 0 {
			t.Errorf("a list of another kind is told %v", other.order)
		}
	}
}

// A search returns every request that its viewer may see, open or closed. Its page is told of them all: a requester who may
// not decide hears what became of the request.
func TestLiveTellsSearchesWhatTheyReturn(t *testing.T) {
	b := newLiveBed(t)
	b.people.set("eve")
	b.people.set("mal")
	fin := b.people.set("fin", "finance")
	r := b.slowRoom()
	requester, decider, stranger := b.subscribe(r, "eve", "q%3Drefund"), b.subscribe(r, "fin", "q%3Drefund"), b.subscribe(r, "mal", "q%3Drefund")
	inbox := b.subscribe(r, "eve", "")
	id := b.ask("refund", roles("finance"), func(in *engine.AskInput) { in.Actor.ForUser = "eve" }).ID
	b.answer(id, fin)
	if err := r.tell(b.eventsSince(r.at, id)); err != nil {
		t.Fatal(err)
	}
	for _, page := range []*ear{requester, decider} {
		if row := page.rows[id]; row == nil {
			t.Errorf("the search of %s is not told of the closed request", page.who.actor.ID)
		}
	}
	for _, page := range []*ear{stranger, inbox} {
		if len(page.order) > 0 {
			t.Errorf("%s is told of a request that the list never returns", page.who.actor.ID)
		}
	}
}

// The events of a new request may reach the room one by one. The first of them counts it.
func TestLiveCountsEventsOneByOne(t *testing.T) {
	b := newLiveBed(t)
	b.people.set("ana", policy.Reviewer)
	b.ask("counted before", roles(policy.Reviewer))
	r := b.slowRoom()
	page := b.subscribe(r, "ana", "")
	r.readCounts(page.person)
	id := b.ask("which?", roles(policy.Reviewer)).ID
	for _, e := range b.eventsSince(r.at, id) {
		if err := r.tell([]holdshort.Event{e}); err != nil {
			t.Fatal(err)
		}
		if n := page.person.counts.All.N; n != 2 {
			t.Errorf("%d requests are counted after %s", n, e.Type)
		}
	}
}
