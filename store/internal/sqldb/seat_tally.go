package sqldb

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// seatCells counts what stands at one seat by kind and urgency, each up to one more than is counted. Ids sort by the time they were made.
var seatCells = func() *Statement {
	var arms []string
	for k := range seatKinds {
		for u := range urgencies {
			arms = append(arms, fmt.Sprintf(`SELECT %d, %d, COUNT(*), COALESCE(MIN(id), '') FROM (SELECT id FROM seats
				WHERE tenant = ? AND seat = ? AND kind = %d AND urgency = %d ORDER BY id LIMIT %d)`, k, u, k, u, store.MostCounted+1))
		}
	}
	return different(strings.Join(arms, " UNION ALL "), fmt.Sprintf(`SELECT k.kind, u.urgency, c.n, c.id FROM generate_series(0::bigint, %d) AS k (kind) CROSS JOIN generate_series(0::bigint, %d) AS u (urgency)
		CROSS JOIN LATERAL (SELECT COUNT(*) AS n, MIN(id) AS id FROM (SELECT s.id FROM seats s WHERE s.tenant = ? AND s.seat = ? AND s.kind = k.kind AND s.urgency = u.urgency ORDER BY s.id LIMIT %d) AS cell) AS c
		WHERE c.n > 0`, len(seatKinds)-1, len(urgencies)-1, store.MostCounted+1))
}()

var (
	seatCell  = statement(`SELECT id FROM seats WHERE tenant = ? AND seat = ? AND kind = ? AND urgency = ? ORDER BY id LIMIT 1001`)
	seatMine  = statement(`SELECT COUNT(*), COALESCE(SUM(` + atSeats + `), 0) FROM (SELECT tenant, id, urgency, kind FROM requests WHERE tenant = ? AND status = 'open' AND assignee = ? AND assignee <> '' ORDER BY id LIMIT 1001) AS r`)
	seatSoon  = statement(`SELECT COUNT(*), COALESCE(SUM(` + atSeats + `), 0) FROM (SELECT tenant, id, urgency, kind FROM requests WHERE tenant = ? AND status = 'open' AND due_at < ? ORDER BY due_at, id LIMIT 2001) AS r`)
	allSoon   = statement(`SELECT COUNT(*) FROM (SELECT id FROM requests WHERE tenant = ? AND status = 'open' AND due_at < ? ORDER BY due_at, id LIMIT 1001) AS few`)
	fewSoon   = statement(`SELECT COUNT(*) FROM requests WHERE tenant = ? AND id {each} AND status = 'open' AND due_at < ?`)
	createdAt = statement(`SELECT created_at FROM requests WHERE tenant = ? AND id = ?`)
)

type cell struct{ kind, urgency int64 }

// cellCount is how much of a cell each seat has.
type cellCount struct {
	seats []string
	most  int64
	sum   int64
}

func (tx *Tx) DeskTally(seats []string, mine string, soon time.Time) (out store.DeskTally, err error) {
	out.ByKind, out.ByPriority = map[holdshort.Kind]store.Tally{}, map[holdshort.Priority]store.Tally{}
	cells := map[cell]*cellCount{}
	oldest := ""
	for _, seat := range seats {
		args := []any{string(tx.tenant), seat}
		if tx.db.Dialect == SQLite {
			args = slices.Repeat(args, len(seatKinds)*len(urgencies))
		}
		err := tx.query(seatCells, args, func(scan func(...any) error) error {
			var at cell
			var n int64
			var id string
			if err := scan(&at.kind, &at.urgency, &n, &id); err != nil || n == 0 {
				return err
			}
			c := cells[at]
			if c == nil {
				c = &cellCount{}
				cells[at] = c
			}
			c.seats, c.most, c.sum = append(c.seats, seat), max(c.most, n), c.sum+n
			if oldest == "" || id < oldest {
				oldest = id
			}
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	for at, c := range cells {
		n := c.sum
		if c.most > store.MostCounted {
			n = c.most
		} else if len(c.seats) > 1 && !everything(c.seats) {
			if n, err = tx.distinct(at, c.seats); err != nil {
				return out, err
			}
		}
		out.All.Count += n
		if at.kind != otherKind && at.kind < int64(len(seatKinds)) {
			addTally(out.ByKind, seatKinds[at.kind], n)
		}
		if at.urgency >= 0 && at.urgency < int64(len(urgencies)) {
			addTally(out.ByPriority, urgencies[at.urgency], n)
		}
	}
	out.All = capped(out.All)
	for k, t := range out.ByKind {
		out.ByKind[k] = capped(t)
	}
	for p, t := range out.ByPriority {
		out.ByPriority[p] = capped(t)
	}
	if oldest == "" {
		return out, nil
	}
	at, err := readNumber(queries{tx}, createdAt, string(tx.tenant), oldest)
	if err != nil {
		return out, err
	}
	out.All.Oldest = fromMicros(at)
	if out.Mine, err = tx.tallyMine(seats, mine); err != nil {
		return out, err
	}
	out.Soon, err = tx.tallySoon(seats, micros(soon), out.All)
	return out, err
}

func addTally[K comparable](m map[K]store.Tally, key K, n int64) {
	t := m[key]
	t.Count += n
	m[key] = t
}

// queries lets readNumber flush first.
type queries struct{ *Tx }

func (q queries) read(s *Statement, args []any, each func(scan func(dest ...any) error) error) error {
	return q.query(s, args, each)
}

// distinct counts what is at several seats once.
func (tx *Tx) distinct(at cell, seats []string) (int64, error) {
	ids := map[string]bool{}
	for _, seat := range seats {
		err := tx.query(seatCell, []any{string(tx.tenant), seat, at.kind, at.urgency}, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			ids[id] = true
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return int64(len(ids)), nil
}

func (tx *Tx) tallyMine(seats []string, mine string) (t store.Tally, err error) {
	if mine == "" {
		return t, nil
	}
	var looked int64
	err = tx.query(seatMine, []any{each(seats), string(tx.tenant), mine}, func(scan func(...any) error) error { return scan(&looked, &t.Count) })
	t = capped(t)
	t.More = t.More || looked > store.MostCounted
	return t, err
}

// tallySoon counts what falls due. Whoever has little is counted by what they have; else a bounded stretch of what falls due first is looked at,
// and where that does not reach, More says so.
func (tx *Tx) tallySoon(seats []string, soon int64, all store.Tally) (t store.Tally, err error) {
	if soon == 0 || soon == math.MaxInt64 {
		return t, nil
	}
	tenant := string(tx.tenant)
	if everything(seats) {
		t.Count, err = readNumber(queries{tx}, allSoon, tenant, soon)
		return capped(t), err
	}
	if !all.More {
		ids, few, err := tx.fewAt(seats)
		if err != nil {
			return t, err
		}
		if few {
			t.Count, err = readNumber(queries{tx}, fewSoon, tenant, each(ids), soon)
			return t, err
		}
	}
	var looked int64
	err = tx.query(seatSoon, []any{each(seats), tenant, soon}, func(scan func(...any) error) error { return scan(&looked, &t.Count) })
	t = capped(t)
	t.More = t.More || looked > fewSeats
	return t, err
}
