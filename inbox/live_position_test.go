package inbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// Every part of a page carries the position of the log up to which it is complete, so that a stream can follow it from there.
func TestPartsCarryPosition(t *testing.T) {
	b := newDeskBed(t)
	req := b.call("orders.refund", `{"amount":1}`)
	at, err := b.engine.Position(t.Context(), deskTenant)
	if err != nil {
		t.Fatal(err)
	}
	want := strconv.FormatInt(at, 10)
	for _, path := range []string{"/", "/?view=decided", "/?q=orders.refund", "/?part=rows", "/requests/" + string(req.ID) + "/card"} {
		if got := b.get("ana", path, "HX-Request", "true").header.Get("Holdshort-Position"); got != want {
			t.Errorf("%s is of position %q, want %s", path, got, want)
		}
	}
	b.get("ana", "/requests/"+string(req.ID)+"/card", "HX-Request", "true").has(t, ` data-position="`+want+`"`)
	b.get("ana", "/").has(t, ` data-position="`+want+`"`)
	answer := b.post("ana", "/requests/"+string(req.ID)+"/comment", url.Values{"text": {"is it paid?"}}, "HX-Request", "true")
	if after, err := b.engine.Position(t.Context(), deskTenant); err != nil || after <= at {
		t.Fatalf("the comment left no event: position %d after %d, %v", after, at, err)
	} else {
		answer.has(t, fmt.Sprintf(` data-position="%d" data-drawn="%d"`, after, after)) // the card shows the comment
	}
}

// The rows that a script asks for are those that the view's query returns, and no others.
func TestRowsBelongToTheirView(t *testing.T) {
	b := newDeskBed(t)
	open, rejected, two := b.call("orders.refund", `{"n":1}`), b.call("orders.refund", `{"n":2}`), b.call("orders.refund", `{"n":3,"two":true}`)
	mail := b.call("mail.send", `{"n":4}`)
	b.decides("ben", rejected, holdshort.Reject)
	b.decides("ana", two, holdshort.Approve)
	b.decides("ben", two, holdshort.Approve)
	assign := engine.AssignInput{Request: open.ID, Actor: deskActor("olga"), To: "ben"}
	if _, err := b.engine.Assign(t.Context(), deskTenant, assign); err != nil {
		t.Fatal(err)
	}
	ids := "&part=row&id=" + strings.Join([]string{string(open.ID), string(rejected.ID), string(two.ID)}, "&id=")
	for view, want := range map[string][]holdshort.Request{
		"":                              {open},
		"kind=clarification":            nil,
		"view=mine":                     nil,
		"view=decided":                  {rejected, two},
		"view=decided&outcome=rejected": {rejected},
		"view=decided&by=me":            {two},
		"q=orders.refund":               {open, rejected, two},
		"q=orders.refund&view=mine":     nil,
		"q=orders.refund&view=decided":  {rejected, two},
		"q=orders.refund&due=soon":      nil,
	} {
		answer := b.get("ana", "/?"+view+ids, "HX-Request", "true")
		if got := idsOf(want...); answer.status != http.StatusOK || strings.Join(answer.rows(), " ") != strings.Trim(got, "[]") {
			t.Errorf("%s has %v, want %s (%d)", view, answer.rows(), got, answer.status)
		}
	}
	fresh := b.get("ana", "/?q=orders.refund&part=row&new="+string(open.ID)+"&new="+string(mail.ID), "HX-Request", "true")
	if got := fresh.rows(); len(got) != 1 || got[0] != string(open.ID) {
		t.Errorf("of two new requests the search has %v, want %s", got, open.ID)
	}
}

// A request enters a search when it is decided or assigned, however many newer ones the search finds.
func TestOldRequestEntersSearch(t *testing.T) {
	b := newDeskBed(t)
	old, other := b.call("orders.refund", `{"n":0}`), b.call("mail.send", `{"n":0}`)
	for i := range rowsShown + 1 {
		b.call("orders.refund", fmt.Sprintf(`{"n":%d}`, i+1))
	}
	b.decides("ben", old, holdshort.Reject)
	b.decides("ben", other, holdshort.Reject)
	for _, words := range []string{"orders.refund", string(old.ID), "req_"} {
		answer := b.get("ana", "/?view=decided&part=row&q="+words+"&new="+string(old.ID)+"&new="+string(other.ID), "HX-Request", "true")
		want := idsOf(old)
		if words == "req_" {
			want = idsOf(old, other)
		}
		if got := fmt.Sprint(answer.rows()); got != want {
			t.Errorf("the search for %s has %s, want %s", words, got, want)
		}
	}
}

// A page may be drawn at a position that the broadcast has not reached yet: nothing was missed then. A position that the
// log itself has not reached belongs to another log.
func TestReplayAheadOfBroadcast(t *testing.T) {
	b := newLiveBed(t)
	ana := b.people.set("ana", policy.Reviewer)
	b.ask("one", roles(policy.Reviewer))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/live", nil)
	r.Header.Set("X-Who", "ana")
	who, err := b.people.ResolveActor(r)
	if err != nil {
		t.Fatal(err)
	}
	page := newEar(viewerOf(who), wants{rows: true, view: view{Name: "inbox"}})
	room, err := b.hub.join(t.Context(), liveTenant, page)
	if err != nil {
		t.Fatal(err)
	}
	defer room.leave(page)
	drawn := page.from + 1
	if !b.hub.replay(t.Context(), page, drawn) {
		t.Errorf("a position that the log has not reached counts as told")
	}
	b.answer(b.ask("two", roles(policy.Reviewer)).ID, ana)
	if b.hub.replay(t.Context(), page, drawn) {
		t.Errorf("a page that was drawn after the broadcast's position is told to load everything again")
	}
}

// A request that several people decided is in the list of each of them.
func TestDecidedByMeHearsQuorum(t *testing.T) {
	b := newLiveBed(t)
	ana, ben := b.people.set("ana", policy.Reviewer), b.people.set("ben", policy.Reviewer)
	page := b.listen("ana", "view=view%3Ddecided%26by%3Dme")
	page.next("hello")
	req := b.ask("both", holdshort.Audience{Roles: []string{policy.Reviewer}, Quorum: 2}, func(in *engine.AskInput) { in.Kind = holdshort.Approval })
	for _, who := range []holdshort.Actor{ana, ben} {
		in := engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: who}
		if _, err := b.engine.Decide(t.Context(), liveTenant, in); err != nil {
			t.Fatal(err)
		}
	}
	if _, gone := page.row(req.ID); gone {
		t.Error("the request left the list instead of entering it")
	}
}

// The position behind rows is that of the last event they show. With an older one a page would take them for older than its list.
func TestRowsCarryTheirPosition(t *testing.T) {
	b := newLiveBed(t)
	b.hub.pace = 0
	b.people.set("ana", policy.Reviewer)
	var pages []*listener
	for range mostStreams {
		page := b.listen("ana", "view=")
		page.next("hello")
		pages = append(pages, page)
	}
	var last holdshort.Request
	for range 50 {
		last = b.ask("which?", roles(policy.Reviewer))
	}
	for _, page := range pages {
		page.row(last.ID)
	}
	b.in.Close()
	asked := map[string]int64{}
	events, err := b.engine.Events(t.Context(), liveTenant, engine.EventQuery{Types: []string{"hitl.request.created"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events.Items {
		asked[string(e.Request)] = e.Position
	}
	for _, page := range pages {
		page.ended()
		waiting := int64(0)
		for line := range strings.Lines(page.text()) {
			if name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name == "id" {
				position, err := strconv.ParseInt(value, 10, 64)
				if err != nil || position < waiting {
					t.Fatalf("rows up to position %d are marked as %s", waiting, value)
				}
			} else if name == "data" {
				for _, id := range requestIDs.FindAllString(value, -1) {
					waiting = max(waiting, asked[id])
				}
			}
		}
	}
}
