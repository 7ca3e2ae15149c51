package sqldb

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

var (
	// How far back one look goes: by an index alone, so that it costs little.
	farthest        = statement(`SELECT COUNT(*), COALESCE(MIN(pos), 0) FROM (SELECT pos FROM events WHERE tenant = ? AND pos < ? AND pos > ? ORDER BY pos DESC LIMIT ?) AS looked`)
	farthestSession = statement(`SELECT COUNT(*), COALESCE(MIN(pos), 0) FROM (SELECT pos FROM events
		WHERE tenant = ? AND session_id = ? AND session_id <> '' AND pos < ? AND pos > ? ORDER BY pos DESC LIMIT ?) AS looked`)
	eventFrom   = statement(`SELECT pos, at FROM events WHERE tenant = ? AND pos >= ? ORDER BY pos LIMIT 1`)
	unsealedOf  = few("at", `events WHERE tenant = ? AND pos > ? ORDER BY pos`)
	mostPadding = []int{1, 4, 16, 64, 256}
)

// Past reads backwards. What an index cannot find it filters, within a stretch of so many events: the cursor goes on behind them.
func (tx *Tx) Past(q store.PastQuery) (out store.Past, err error) {
	limit := q.Limit
	if limit <= 0 || limit > store.MostPast {
		limit = store.MostPast
	}
	before, after := q.Before, q.After
	if before <= 0 {
		before = math.MaxInt64
	}
	l := list("events", eventColumns).where("tenant = ?", string(tx.tenant))
	if !within(l, q) {
		return out, nil
	}
	next := int64(0)
	if q.Run == "" && len(l.filters) > 1 {
		if next, after, err = tx.stretch(q.Session, before, after); err != nil {
			return out, err
		}
	}
	switch {
	case q.Run != "":
		l.where("stream = ?", string(q.Run))
		l.where("+pos < ? AND +pos > ?", before, after) // not by the position's index: it would walk the tenant's whole log
		if q.Session != "" {
			l.where("session_id = ?", string(q.Session))
		}
		l.order = " ORDER BY seq DESC"
	case q.Session != "":
		l.where("session_id = ? AND session_id <> ''", string(q.Session))
		fallthrough
	default:
		l.where("pos < ? AND pos > ?", before, after)
		l.order = " ORDER BY pos DESC"
	}
	err = tx.query(l.statement(), append(l.args, int64(limit)+1), func(scan func(...any) error) error {
		_, e, err := scanEvent(scan)
		if err == nil {
			out.Items = append(out.Items, e)
		}
		return err
	})
	out.Next = next
	if len(out.Items) > limit {
		out.Items = out.Items[:limit]
		out.Next = out.Items[limit-1].Position
	}
	return out, err
}

// within puts the filters into the listing that no index answers. It reports false if nothing can match.
func within(l *listing, q store.PastQuery) bool {
	if q.Request != "" {
		l.where("request_id = ?", string(q.Request))
	}
	if q.Actor != "" {
		l.where("actor = ?", q.Actor)
	}
	if !q.Since.IsZero() {
		l.where("at >= ?", micros(q.Since))
	}
	if !q.Until.IsZero() {
		l.where("at < ?", micros(q.Until))
	}
	if len(q.Types) == 0 {
		return true
	}
	var names []any
	for _, name := range holdshort.EventNames {
		if holdshort.MatchEvent(name, q.Types) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return false
	}
	if len(names) == len(holdshort.EventNames) {
		return true
	}
	// A few lengths only, so that there are few statements to prepare.
	room := mostPadding[slices.IndexFunc(mostPadding, func(n int) bool { return n >= len(names) })]
	for len(names) < room {
		names = append(names, names[0])
	}
	l.where("type IN (?"+strings.Repeat(", ?", room-1)+")", names...)
	return true
}

// stretch gives the position behind which one look ends, and the cursor with which the next one goes on: 0 if the log ends there.
func (tx *Tx) stretch(session holdshort.SessionID, before, after int64) (next, from int64, err error) {
	s, args := farthest, []any{string(tx.tenant), before, after, int64(store.MostLooked)}
	if session != "" {
		s, args = farthestSession, []any{string(tx.tenant), string(session), before, after, int64(store.MostLooked)}
	}
	err = tx.query(s, args, func(scan func(...any) error) error {
		var n, least int64
		if err := scan(&n, &least); err != nil {
			return err
		}
		if n == store.MostLooked {
			next, after = least, least-1
		}
		return nil
	})
	return next, after, err
}

// PositionAt halves the log until it has the place: a few looks at an index, however long the log is.
func (tx *Tx) PositionAt(at time.Time) (int64, error) {
	last, err := tx.Position()
	if err != nil {
		return 0, err
	}
	low, high, found := int64(1), last+1, last+1
	for low < high {
		middle := low + (high-low)/2
		var pos, written int64
		err := tx.query(eventFrom, []any{string(tx.tenant), middle}, func(scan func(...any) error) error { return scan(&pos, &written) })
		if err != nil {
			return 0, err
		}
		if written >= micros(at) {
			high, found = middle, pos
		} else {
			low = pos + 1
		}
	}
	return found, nil
}

func (tx *Tx) Sealing() (s store.Sealing, err error) {
	err = tx.query(selectLastSeal, nil, func(scan func(...any) error) error {
		s.Last, err = scanSeal(scan)
		return err
	})
	if err != nil {
		return s, err
	}
	if s.PrunedTo, err = readMeta(tx, "pruned_to"); err != nil {
		return s, err
	}
	s.Unsealed, err = tx.tally(unsealedOf, s.Last.To)
	return s, err
}
