package sqldb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// seatArms is a statement that reads one seat: each of its arms a stretch of the table that is in order already.
type seatArms struct {
	*Statement
	arms int
	both bool // the order goes by urgency and id
}

func (d *desk) seatList() *seatArms {
	kinds := make([]int64, 0, len(seatKinds))
	for k := range int64(len(seatKinds)) {
		if len(d.Kinds) == 0 || slices.ContainsFunc(d.Kinds, func(want holdshort.Kind) bool { return seatKind(want) == k }) {
			kinds = append(kinds, k)
		}
	}
	from, to := 0, len(urgencies)
	if d.Priority != "" {
		if from = slices.Index(urgencies, d.Priority); from < 0 {
			return nil
		}
		to = from + 1
	}
	both := d.Order == store.ByUrgency
	if d.tx.db.Dialect == SQLite {
		return unionOfSeats(kinds, from, to, both)
	}
	return lateralOfSeats(kinds, from, to, both)
}

// unionOfSeats says each stretch of the table by itself: SQLite joins nothing sideways.
func unionOfSeats(kinds []int64, from, to int, both bool) *seatArms {
	const head = "SELECT * FROM (SELECT urgency, id FROM seats WHERE tenant = ? AND seat = ? AND kind = "
	var arms []string
	for _, k := range kinds {
		if both && to-from == len(urgencies) {
			arms = append(arms, fmt.Sprintf("%s%d AND (urgency, id) > (?, ?) ORDER BY urgency, id LIMIT ?) AS arm", head, k))
			continue
		}
		for u := from; u < to; u++ {
			if both {
				arms = append(arms, fmt.Sprintf("%s%d AND urgency = %d AND (urgency, id) > (?, ?) ORDER BY urgency, id LIMIT ?) AS arm", head, k, u))
			} else {
				arms = append(arms, fmt.Sprintf("%s%d AND urgency = %d AND id < ? ORDER BY id DESC LIMIT ?) AS arm", head, k, u))
			}
		}
	}
	return &seatArms{Statement: cached("SELECT urgency, id FROM (" + strings.Join(arms, " UNION ALL ") + ") AS seat" + seatOrder(both)), arms: len(arms), both: both}
}

// lateralOfSeats says them once: PostgreSQL would take longer to plan so many than to read them.
func lateralOfSeats(kinds []int64, from, to int, both bool) *seatArms {
	numbers := func(from, to int, value func(int) int64) string {
		var out []string
		for i := from; i < to; i++ {
			out = append(out, fmt.Sprintf("(%d)", value(i)))
		}
		return "(VALUES " + strings.Join(out, ", ") + ")"
	}
	text := "SELECT seat.urgency, seat.id FROM " + numbers(0, len(kinds), func(i int) int64 { return kinds[i] }) + " AS k (kind) CROSS JOIN " +
		numbers(from, to, func(i int) int64 { return int64(i) }) + " AS u (urgency) CROSS JOIN LATERAL (SELECT s.urgency, s.id FROM seats s WHERE s.tenant = ? AND s.seat = ? AND s.kind = k.kind AND s.urgency = u.urgency AND "
	if both {
		text += "(s.urgency, s.id) > (?, ?) ORDER BY s.id LIMIT ?) AS seat"
	} else {
		text += "s.id < ? ORDER BY s.id DESC LIMIT ?) AS seat"
	}
	return &seatArms{Statement: cached(text + seatOrder(both)), arms: 1, both: both}
}

func seatOrder(both bool) string {
	if both {
		return " ORDER BY urgency, id LIMIT ?"
	}
	return " ORDER BY id DESC LIMIT ?"
}

// cached gives the statement of a text that was put together; there are few.
func cached(text string) *Statement {
	if s, ok := listings.Load(text); ok {
		return s.(*Statement)
	}
	s, _ := listings.LoadOrStore(text, statement(text))
	return s.(*Statement)
}
