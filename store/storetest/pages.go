package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// testSessionList: by activity, everybody's or one user's, none twice and none missed.
func testSessionList(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	var sessions []holdshort.Session
	for i := range 23 {
		s := newSession(birth.Add(time.Duration(i) * time.Second))
		s.User, s.UpdatedAt = fmt.Sprint("user", i%3), birth.Add(time.Duration(i*7%5)*time.Hour+time.Duration(i*5%3)*40*time.Second)
		if i%4 == 0 {
			s.Mode = holdshort.ModeTakeover
		}
		if i%6 == 5 {
			s.User = ""
		}
		sessions = append(sessions, s)
	}
	b.update(func(tx store.Tx) error {
		for _, s := range sessions {
			if err := tx.PutSession(s); err != nil {
				return err
			}
		}
		return nil
	})
	b.updateOf(rival, func(tx store.Tx) error {
		s := newSession(birth)
		s.User = "user1"
		return tx.PutSession(s)
	})
	for name, c := range map[string]struct {
		query store.SessionQuery
		fits  func(holdshort.Session) bool
	}{
		"all":      {store.SessionQuery{}, func(holdshort.Session) bool { return true }},
		"taken":    {store.SessionQuery{Mode: holdshort.ModeTakeover}, func(s holdshort.Session) bool { return s.Mode == holdshort.ModeTakeover }},
		"ai":       {store.SessionQuery{Mode: holdshort.ModeAI}, func(s holdshort.Session) bool { return s.Mode == holdshort.ModeAI }},
		"owner":    {store.SessionQuery{Owner: "user1"}, func(s holdshort.Session) bool { return s.User == "user1" }},
		"together": {store.SessionQuery{Owner: "user2", Mode: holdshort.ModeTakeover}, func(s holdshort.Session) bool { return s.User == "user2" && s.Mode == holdshort.ModeTakeover }},
		"nobody":   {store.SessionQuery{Owner: "-"}, func(holdshort.Session) bool { return false }},
		"no mode":  {store.SessionQuery{Mode: "no such mode"}, func(holdshort.Session) bool { return false }},
	} {
		sorted := slices.Clone(sessions)
		slices.SortFunc(sorted, func(x, y holdshort.Session) int {
			return cmp.Or(minute(y).Compare(minute(x)), cmp.Compare(y.ID, x.ID))
		})
		var want []string
		for _, s := range sorted {
			if c.fits(s) {
				want = append(want, string(s.ID))
			}
		}
		for _, limit := range []int{1, 4, 200} {
			got := walk(b, limit, func(tx store.ReadTx, cursor string, limit int) (store.Page[holdshort.Session], error) {
				q := c.query
				q.Cursor, q.Limit = cursor, limit
				return tx.Sessions(q)
			}, func(s holdshort.Session) string { return string(s.ID) })
			if !slices.Equal(got, want) {
				b.Errorf("%s by %d: got %v, want %v", name, limit, got, want)
			}
		}
	}
	testSessionMoves(b, sessions[3])
}

func minute(s holdshort.Session) time.Time { return s.UpdatedAt.Truncate(time.Minute) }

// testSessionMoves: what happens in a session moves it, another user has it from then on, and erased it is nobody's.
func testSessionMoves(b *bed, s holdshort.Session) {
	ofUser := func(user string) []holdshort.SessionID {
		page := load(b, func(tx store.ReadTx) (store.Page[holdshort.Session], error) {
			return tx.Sessions(store.SessionQuery{Owner: user})
		})
		var ids []holdshort.SessionID
		for _, s := range page.Items {
			ids = append(ids, s.ID)
		}
		return ids
	}
	later := minute(holdshort.Session{UpdatedAt: birth.AddDate(1, 0, 0)})
	for _, step := range []struct {
		user string
		at   time.Time
	}{{"dora", later}, {"dora", later.Add(20 * time.Second)}, {"dora", later.Add(70 * time.Second)}, {"ella", later.Add(80 * time.Second)}, {"dora", later.Add(80 * time.Second)}, {"dora", later.Add(-time.Hour)}, {"dora", later}} {
		b.update(func(tx store.Tx) error {
			s, err := tx.Session(s.ID)
			s.User, s.UpdatedAt = step.user, step.at
			return firstError(err, tx.PutSession(s))
		})
		if n := b.number("SELECT COUNT(*) FROM sessions WHERE id = ? AND active = ? AND updated_at = ?", string(s.ID), step.at.Truncate(time.Minute).UnixMicro(), step.at.UnixMicro()); n != 1 {
			b.Errorf("at %s it is not in its place", step.at)
		}
		if got := ofUser(step.user); !slices.Equal(got, []holdshort.SessionID{s.ID}) {
			b.Errorf("at %s %s has %v", step.at, step.user, got)
		}
	}
	if first := load(b, func(tx store.ReadTx) (store.Page[holdshort.Session], error) {
		return tx.Sessions(store.SessionQuery{Limit: 1})
	}); first.Items[0].ID != s.ID {
		b.Errorf("the first is %s, want %s: something happened there", first.Items[0].ID, s.ID)
	}
	if got := ofUser("dora"); !slices.Equal(got, []holdshort.SessionID{s.ID}) || slices.Contains(ofUser(s.User), s.ID) {
		b.Errorf("dora has %v, %s has %v", got, s.User, ofUser(s.User))
	}
	owners := func() int64 {
		return b.number("SELECT COUNT(*) FROM sessions WHERE owner <> '-' AND owner <> '' AND id = ?", string(s.ID))
	}
	if owners() != 1 {
		b.Error("the session has no owner: the test shows nothing")
	}
	b.update(func(tx store.Tx) error { return tx.EraseSession(s.ID, "ana") })
	if got := ofUser("dora"); len(got) > 0 || owners() != 0 {
		b.Errorf("after it was erased dora has %v", got)
	}
	b.db.Exec(b, "UPDATE sessions SET owner = '' WHERE tenant = ?", string(acme)) // as in a database of before
	if got := ofUser("user1"); len(got) != 23 {
		b.Errorf("where owners are not known, %d of 23 are given to look at", len(got))
	}
}

// testPast: backwards through the log, by whatever filter, each event once.
func testPast(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	streams := b.log(40)
	req := newRequest(birth)
	b.db.Advance(t, time.Hour)
	b.update(func(tx store.Tx) error {
		return firstError(tx.AddEvent(holdshort.Event{Type: "hitl.request.asked", Run: holdshort.RunID(streams[0]), Request: req.ID, Actor: "ben"}),
			tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Run: holdshort.RunID(streams[0]), Request: req.ID, Actor: "cleo"}),
			tx.AddEvent(holdshort.Event{Type: "access.denied", Actor: "ben"}))
	})
	b.updateOf(rival, func(tx store.Tx) error {
		return tx.AddEvent(holdshort.Event{Type: "hitl.request.asked", Request: req.ID, Actor: "ben"})
	})
	all := b.events(acme)
	later := all[len(all)-1].At
	for name, c := range map[string]struct {
		query store.PastQuery
		fits  func(holdshort.Event) bool
	}{
		"all":               {store.PastQuery{}, func(holdshort.Event) bool { return true }},
		"run":               {store.PastQuery{Run: holdshort.RunID(streams[0])}, func(e holdshort.Event) bool { return e.Stream == streams[0] }},
		"session":           {store.PastQuery{Session: holdshort.SessionID(streams[2])}, func(e holdshort.Event) bool { return string(e.Session) == streams[2] }},
		"run and session":   {store.PastQuery{Run: holdshort.RunID(streams[0]), Session: holdshort.SessionID(streams[2])}, func(e holdshort.Event) bool { return e.Stream == streams[0] && e.Session != "" }},
		"request":           {store.PastQuery{Request: req.ID}, func(e holdshort.Event) bool { return e.Request == req.ID }},
		"request of a run":  {store.PastQuery{Request: req.ID, Run: holdshort.RunID(streams[0])}, func(e holdshort.Event) bool { return e.Request == req.ID }},
		"actor":             {store.PastQuery{Actor: "ben"}, func(e holdshort.Event) bool { return e.Actor == "ben" }},
		"types":             {store.PastQuery{Types: []string{"hitl.*", "access.denied"}}, func(e holdshort.Event) bool { return e.Type != "run.created" }},
		"every type":        {store.PastQuery{Types: []string{"*"}}, func(holdshort.Event) bool { return true }},
		"no type":           {store.PastQuery{Types: []string{"made.up"}}, func(holdshort.Event) bool { return false }},
		"actor and type":    {store.PastQuery{Actor: "ben", Types: []string{"access.*"}}, func(e holdshort.Event) bool { return e.Actor == "ben" && e.Type == "access.denied" }},
		"since":             {store.PastQuery{Since: later}, func(e holdshort.Event) bool { return !e.At.Before(later) }},
		"until":             {store.PastQuery{Until: later}, func(e holdshort.Event) bool { return e.At.Before(later) }},
		"session and actor": {store.PastQuery{Session: holdshort.SessionID(streams[2]), Actor: "ann"}, func(e holdshort.Event) bool { return string(e.Session) == streams[2] && e.Actor == "ann" }},
		"after a position":  {store.PastQuery{After: all[10].Position}, func(e holdshort.Event) bool { return e.Position > all[10].Position }},
		"before a position": {store.PastQuery{Before: all[10].Position, Actor: "ann"}, func(e holdshort.Event) bool { return e.Position < all[10].Position }},
		"nobody":            {store.PastQuery{Actor: "nobody"}, func(holdshort.Event) bool { return false }},
		"not a text":        {store.PastQuery{Actor: "a\x00b"}, func(holdshort.Event) bool { return false }},
	} {
		var want []int64
		for _, e := range slices.Backward(all) {
			if c.fits(e) {
				want = append(want, e.Position)
			}
		}
		for _, limit := range []int{1, 3, 0} {
			var got []int64
			q := c.query
			for q.Limit = limit; ; {
				past := load(b, func(tx store.ReadTx) (store.Past, error) { return tx.Past(q) })
				for _, e := range past.Items {
					got = append(got, e.Position)
				}
				if q.Before = past.Next; past.Next == 0 {
					break
				}
			}
			if !slices.Equal(got, want) {
				b.Errorf("%s by %d: got %v, want %v", name, limit, got, want)
			}
		}
	}
	for at, want := range map[time.Time]int64{{}: all[0].Position, all[0].At: all[0].Position, later: all[40].Position, later.Add(time.Microsecond): all[42].Position + 1} {
		if got := load(b, func(tx store.ReadTx) (int64, error) { return tx.PositionAt(at) }); got != want {
			b.Errorf("at %s: position %d, want %d", at, got, want)
		}
	}
	if got := loadOf(b, "nobody", func(tx store.ReadTx) (int64, error) { return tx.PositionAt(birth) }); got != 1 {
		b.Errorf("in an empty log: position %d", got)
	}
}

// testTail: it says from where on it looked, and sees what is wrong there and nowhere else.
func testTail(t *testing.T, d Driver) {
	b := open(t, d, Options{})
	if v := b.tail(10); v.Events != 0 || len(v.Faults) != 0 {
		b.Errorf("an empty log: %+v", v)
	}
	none := load(b, store.ReadTx.Sealing)
	if none.Last.Number != 0 || none.Unsealed.Count != 0 {
		b.Errorf("before anything happened: %+v", none)
	}
	b.log(20)
	first := b.seal(1000)
	b.log(10)
	second := b.seal(1000)
	b.log(4)
	b.stamp()
	s := load(b, store.ReadTx.Sealing)
	if s.Last.Number != second.Number || s.Last.To != second.To || !s.Last.At.Equal(second.At) || s.Unsealed.Count != 4 || s.Unsealed.More || s.PrunedTo != 0 {
		b.Errorf("sealed to %+v", s)
	}
	last := b.number("SELECT MAX(pos) FROM events")
	for _, c := range []struct {
		events      int
		from, seals int64
	}{{5, last - 4, 0}, {int(last - first.To), first.To + 1, 1}, {int(last - 1), 2, 1}, {1000, 1, 2}, {0, 1, 2}} {
		v := b.tail(c.events)
		if v.From != c.from || v.To != last || v.Events != last-c.from+1 || v.Seals != c.seals || v.Unsealed != 5 || len(v.Faults) > 0 {
			b.Errorf("the last %d of %d: %+v", c.events, last, v)
		}
	}
	b.db.Exec(t, "UPDATE events SET actor = 'eve' WHERE pos = ?", first.To+3)
	if v := b.tail(5); len(v.Faults) > 0 {
		b.Errorf("what lies before was looked at: %+v", v)
	}
	v := b.tail(1000)
	if !slices.ContainsFunc(v.Faults, func(f store.Fault) bool { return f.Seal == second.Number && strings.Contains(f.Problem, "sealed") }) {
		b.Errorf("a changed event was not seen: %+v", v)
	}
}
