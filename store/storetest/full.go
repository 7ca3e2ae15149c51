package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testFullDisk: in the middle of a group there is no room left. The database rolls everything back by itself, so the group is void and each
// member runs again alone: those that fit are there as a whole, the others not at all, and each was told the truth.
func testFullDisk(t *testing.T, d Driver) {
	for _, size := range []int{1, 256} {
		t.Run(fmt.Sprintf("groups of %d", size), func(t *testing.T) {
			g := newGate()
			testNoRoom(open(t, d, Options{MaxGroup: size, Narrow: true, OnStatement: g.hook}), g)
		})
	}
}

func testNoRoom(b *bed, g *gate) {
	b.update(newPlace().write)
	var places []place
	var members []member
	for i := range 24 {
		p := newPlace()
		p.run.Input = []byte(fmt.Sprintf("%q", strings.Repeat("x", 64<<10)))
		places = append(places, p)
		m := member{fn: p.write, rows: []store.Row{store.RunRow(p.run.ID)}}
		if i%8 == 3 {
			m.fn = func(tx store.Tx) error { // it sees the fault at once, and ignores it
				p.write(tx)
				tx.Run(p.run.ID)
				return nil
			}
		}
		members = append(members, m)
	}
	free := b.db.Fill(b, 400<<10)
	endings := b.gather(g, members).finish()
	fit, full := 0, 0
	for i, e := range endings {
		left := places[i].left(b)
		switch {
		case e.err == nil && left == 5:
			fit++
		case e.err == nil:
			b.Errorf("member %d was told that all is well, and %d of 5 rows are there", i, left)
		case left != 0:
			b.Errorf("member %d was told %v, and %d of 5 rows are there", i, e.err, left)
		default:
			b.refused(e.err, holdshort.StoreFull)
			if holdshort.HintOf(e.err) == "" {
				b.Errorf("%v does not say what to do", e.err)
			}
			full++
		}
	}
	if fit == 0 || full == 0 {
		b.Errorf("%d fitted and %d did not: the test shows nothing", fit, full)
	}
	b.view(func(tx store.ReadTx) error { return nil }) // reading goes on
	free()
	p := newPlace()
	b.update(p.write)
	if n := p.left(b); n != 5 {
		b.Errorf("%d of 5 rows after there was room again", n)
	}
	b.verifies()
	b.db.Crash(b)
	for i, e := range endings {
		if left := places[i].left(b); (e.err == nil) != (left == 5) || left != 0 && left != 5 {
			b.Errorf("after a crash %d of 5 rows of member %d are there, who was told %v", left, i, e.err)
		}
	}
}
