package inbox

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// A page that comes back reads what it missed for itself alone. What it finds changed the room has yet to tell the others: if it took that for
// told, a request that was just decided would stay in their lists as open.
func TestAttackReplayTellsNobodyElse(t *testing.T) {
	t.Parallel()
	b := newLiveBed(t)
	ana := b.people.set("ana", policy.Reviewer)
	page := b.listen("ana", "view=")
	page.next("hello")
	req := b.ask("it is decided while somebody comes back", roles(policy.Reviewer))
	page.row(req.ID)
	b.hub.mu.Lock()
	r := b.hub.rooms[liveTenant]
	b.hub.mu.Unlock()
	told := r.memory.get(req.ID)
	if told == nil || told.Status != holdshort.RequestOpen {
		t.Fatalf("the room remembers %+v", told)
	}
	b.answer(req.ID, ana)
	var gone toldRows
	for len(gone.Gone) == 0 {
		page.next("rows").into(t, &gone)
	}
	for last := int64(-1); last < 0 || r.toldUpTo() < last; { // it tells no more of it
		var err error
		if last, err = b.engine.Position(t.Context(), liveTenant); err != nil {
			t.Fatal(err)
		}
	}
	r.memory.mu.Lock()
	r.memory.young, r.memory.old = map[holdshort.RequestID]*holdshort.Request{req.ID: told}, nil // as it was before the room told it
	r.memory.mu.Unlock()
	l := newEar(viewerOf(b.people.of["ana"]), wants{rows: true, view: view{Name: "inbox"}})
	l.room, l.from = r, r.toldUpTo()
	if b.hub.replay(t.Context(), l, 0) {
		t.Fatal("a few events are too many to be told")
	}
	if html, ok := l.rows[req.ID]; !ok || html != nil {
		t.Errorf("the page that came back is told %q, %v", html, ok)
	}
	if now := r.memory.get(req.ID); now.Status != holdshort.RequestOpen {
		t.Errorf("the room takes it for told: it remembers %s", now.Status)
	}
}

func (r *room) toldUpTo() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}
