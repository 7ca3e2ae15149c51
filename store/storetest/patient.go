package storetest

import (
	"context"
	"testing"

	"github.com/holdshort/holdshort/store"
)

// testPatience: forty that can wait are queued before one that cannot. It goes with the next commit, and most of them do not; then they have
// their turn.
func testPatience(t *testing.T, d Driver) {
	g := newGate()
	b := open(t, d, Options{Narrow: true, OnStatement: g.hook})
	b.update(newPlace().write)
	const many = 40
	var members []member
	var places []place
	for range many {
		p := newPlace()
		places = append(places, p)
		members = append(members, member{ctx: store.Patient(context.Background()), fn: p.write, rows: []store.Row{store.RunRow(p.run.ID)}})
	}
	urgent := newPlace()
	places = append(places, urgent)
	members = append(members, member{fn: urgent.write, rows: []store.Row{store.RunRow(urgent.run.ID)}})
	c := b.gather(g, members)
	receive(b, "the next commit", g.reached)
	g.pass()
	receive(b, "the commit after it", g.reached)
	if left := urgent.left(b); left != 5 {
		b.Errorf("%d of 5 rows of the one that could not wait are there after the next commit", left)
	}
	done := 0
	for _, p := range places[:many] {
		if p.left(b) == 5 {
			done++
		}
	}
	if done > many/2 {
		b.Errorf("%d of %d that can wait went before it or with it", done, many)
	}
	g.pass()
	for i, e := range c.finish() {
		if left := places[i].left(b); e.err != nil || left != 5 {
			b.Errorf("member %d: got %v and %d of 5 rows", i, e.err, left)
		}
	}
}
