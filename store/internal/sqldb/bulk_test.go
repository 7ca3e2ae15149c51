package sqldb

import (
	"slices"
	"strings"
	"testing"
)

// TestMerge: rows of one statement go together, the order on a table stays, and who says anything else comes last, as it is.
func TestMerge(t *testing.T) {
	timer := func(subject string) Write {
		return Write{Statement: setTimer, Args: []any{"acme", "sleep", subject, "", int64(1)}, Want: 1}
	}
	drop := func(subject string) Write {
		return Write{Statement: dropTimer, Args: []any{"acme", "sleep", subject, ""}, Want: Any}
	}
	count := Write{Statement: addCounter, Args: []any{"acme", "n", int64(1)}, Want: Any}
	tenant := Write{Statement: insertTenant, Args: []any{"new", int64(1)}, Want: Any}
	got := Merge([][]Write{{timer("a"), count, timer("b")}, {drop("c"), timer("c")}, {tenant, timer("d")}, {timer("e"), drop("e")}})

	var texts []string
	for _, w := range got {
		text, _, _ := strings.Cut(w.Statement.Text(Postgres), " (")
		texts = append(texts, strings.Join(strings.Fields(text)[:3], " "))
	}
	want := []string{"INSERT INTO timers", "INSERT INTO counters", "DELETE FROM timers", "INSERT INTO timers", "DELETE FROM timers", "INSERT INTO tenants", "INSERT INTO timers"}
	if !slices.Equal(texts, want) {
		t.Fatalf("merged to %q, want %q", texts, want)
	}
	if subjects, ok := got[0].Args[2].([]string); !ok || !slices.Equal(subjects, []string{"a", "b", "e"}) || got[0].Want != 3 {
		t.Errorf("the first statement has %v and wants %d rows, want those of a, b and e", got[0].Args, got[0].Want)
	}
	if text := got[0].Statement.Text(Postgres); !strings.Contains(text, "unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) AS u (p1, p2, p3, p4, p5)") {
		t.Errorf("it says %s", text)
	}
}

// TestGuards: what could touch another number of rows than it must is guarded, what cannot is not.
func TestGuards(t *testing.T) {
	for s, guarded := range map[*Statement]bool{insertRun: false, updateRun: true, setTimer: false, dropTimer: true, fenceRun: true, insertTenant: true, acquireLease: true, insertEvent: false} {
		g := s.Guarded()
		if (g != nil) != guarded {
			t.Errorf("%s: guarded %v, want %v", s.Text(Postgres), g != nil, guarded)
		}
		if g != nil && strings.Count(g.Text(Postgres), "$") != strings.Count(s.Text(Postgres), "$")+1 {
			t.Errorf("%s has not one parameter more", g.Text(Postgres))
		}
	}
}

// TestHeads: what was undone is forgotten, what was committed is not, and nobody guesses about a stream that moved.
func TestHeads(t *testing.T) {
	h := NewHeads(false)
	h.note("acme", "run_1", head{seq: 1})
	h.Commit()
	h.note("acme", "run_1", head{seq: 2})
	if end, ok := h.find("acme", "run_1"); !ok || end.seq != 2 {
		t.Errorf("within the transaction the stream ends at %d (%v), want 2", end.seq, ok)
	}
	h.Forget()
	if end, ok := h.find("acme", "run_1"); ok {
		t.Errorf("after something was undone the stream is said to end at %d", end.seq)
	}
	for i := range mostHeads + 10 {
		h.note("acme", string(rune(i)), head{seq: 1})
		h.Commit()
	}
	if len(h.committed) > mostHeads {
		t.Errorf("%d streams are remembered, want at most %d", len(h.committed), mostHeads)
	}
	g := NewHeads(true)
	g.learn("acme", ends{{"run_1", head{seq: 3}}})
	if end, ok := g.find("acme", "run_1"); !ok || end.seq != 3 {
		t.Errorf("learned %d (%v)", end.seq, ok)
	}
	if !g.Moved(moved("acme", "run_1")) || g.Moved(ErrStreamMoved) || !g.isShared("acme", "run_1") {
		t.Error("a stream that moved is not known as shared")
	}
	g.learn("acme", ends{{"run_1", head{seq: 4}}})
	if _, ok := g.find("acme", "run_1"); ok {
		t.Error("it guesses about a stream that moved")
	}
}
