package sqldb

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	fewSeats  = 2000 // what is gathered and put in order here; more is read in the order of an index
	mostLooks = 10   // chunks that are looked through for one page
	lastID    = "\U0010ffff"
)

// place is where an open request stands in the lists.
type place struct {
	id      string
	urgency int64
	due     int64
}

var (
	requestsByID = statement(`SELECT ` + requestColumns + ` FROM requests WHERE tenant = ? AND id {each}`)
	placesByID   = statement(`SELECT id, urgency, due_at, kind, assignee FROM requests WHERE tenant = ? AND id {each} AND status = 'open'`)
	assigned     = statement(`SELECT id, urgency, due_at, kind, assignee, ` + atSeats + ` FROM (SELECT tenant, id, urgency, due_at, kind, assignee FROM requests
		WHERE tenant = ? AND status = 'open' AND assignee = ? AND assignee <> '' ORDER BY id LIMIT ?) AS r`)
	dueFirst = statement(`SELECT id, urgency, due_at, kind, assignee, ` + atSeats + ` FROM (SELECT tenant, id, urgency, due_at, kind, assignee FROM requests
		WHERE tenant = ? AND status = 'open' AND due_at < ? AND (due_at, id) > (?, ?) ORDER BY due_at, id LIMIT ?) AS r ORDER BY due_at, id`)
	dueOfAll = statement(`SELECT id, urgency, due_at, kind, assignee, 1 FROM requests
		WHERE tenant = ? AND status = 'open' AND due_at < ? AND (due_at, id) > (?, ?) ORDER BY due_at, id LIMIT ?`)
	seatPlaces = statement(`SELECT id FROM seats WHERE tenant = ? AND seat = ? ORDER BY kind, urgency, id LIMIT ?`)
)

// atSeats is 1 for a request r that stands at one of the seats.
var atSeats = `CASE WHEN EXISTS (SELECT 1 FROM seats s WHERE s.tenant = r.tenant AND s.seat {each} AND s.kind = ` + kindNumber + ` AND s.urgency = r.urgency AND s.id = r.id) THEN 1 ELSE 0 END`

var kindNumber = func() string {
	var b strings.Builder
	b.WriteString("CASE r.kind")
	for i, k := range seatKinds {
		if i == otherKind {
			continue
		}
		fmt.Fprintf(&b, " WHEN '%s' THEN %d", k, i)
	}
	fmt.Fprintf(&b, " ELSE %d END", otherKind)
	return b.String()
}()

// each is the parameter of {each}.
func each[T ~string](values []T) string {
	if len(values) == 0 {
		return "[]"
	}
	raw, _ := json.Marshal(values)
	return string(raw)
}

// everything: the seats have all that is open.
func everything(seats []string) bool {
	return slices.Contains(seats, store.NamedSeat) && slices.Contains(seats, store.RestSeat)
}

func (tx *Tx) Desk(q store.DeskQuery) (out store.Page[holdshort.Request], err error) {
	if q.Limit <= 0 || q.Limit > store.MaxPage {
		q.Limit = store.MaxPage
	}
	d := &desk{tx: tx, DeskQuery: q, dueBefore: math.MaxInt64}
	if !q.DueBefore.IsZero() {
		d.dueBefore = micros(q.DueBefore)
	}
	if err := d.start(); err != nil || len(q.Seats) == 0 {
		return out, err
	}
	few, small, err := d.gather()
	switch {
	case err != nil:
		return out, err
	case small:
		return d.sorted(few)
	case q.Order == store.ByExpiry:
		return d.walk(d.nextDue)
	}
	return d.walk(d.nextSeats)
}

// desk is one page on its way.
type desk struct {
	tx *Tx
	store.DeskQuery
	dueBefore int64
	columns   []string // that its order goes by
	list      string   // names the order in cursors
	after     place    // the cursor
	all       bool     // the seats have everything
}

func (d *desk) start() error {
	switch d.Order {
	case store.ByUrgency:
		d.columns, d.after = []string{"urgency", "id"}, place{urgency: -1}
	case store.ByNewest:
		d.columns, d.after = []string{"id"}, place{id: lastID}
	case store.ByExpiry:
		d.columns, d.after = []string{"due_at", "id"}, place{due: math.MinInt64}
	default:
		return &holdshort.Error{Code: holdshort.Invalid, Field: "sort", Message: "unknown order", Hint: "use urgency, newest or due"}
	}
	d.list, d.all = "desk:"+strings.Join(d.columns, "+"), everything(d.Seats)
	if d.Cursor == "" {
		return nil
	}
	values, err := decodeCursor(d.list, d.Cursor, d.columns)
	if err != nil {
		return err
	}
	d.after.id = values[len(values)-1].(string)
	switch d.Order {
	case store.ByUrgency:
		d.after.urgency = values[0].(int64)
	case store.ByExpiry:
		d.after.due = values[0].(int64)
	}
	return nil
}

func (d *desk) cursor(p place) string {
	switch d.Order {
	case store.ByUrgency:
		return encodeCursor(d.list, []any{p.urgency, p.id})
	case store.ByExpiry:
		return encodeCursor(d.list, []any{p.due, p.id})
	}
	return encodeCursor(d.list, []any{p.id})
}

// compare is the order.
func (d *desk) compare(a, b place) int {
	switch {
	case d.Order == store.ByNewest:
		return strings.Compare(b.id, a.id)
	case d.Order == store.ByUrgency && a.urgency != b.urgency:
		return int(a.urgency - b.urgency)
	case d.Order == store.ByExpiry && a.due < b.due:
		return -1
	case d.Order == store.ByExpiry && a.due > b.due:
		return 1
	}
	return strings.Compare(a.id, b.id)
}

func (d *desk) fits(p place, kind, assignee string) bool {
	return (len(d.Kinds) == 0 || slices.Contains(d.Kinds, holdshort.Kind(kind))) && (d.Priority == "" || p.urgency == int64(slices.Index(urgencies, d.Priority))) &&
		(d.Assignee == "" || assignee == d.Assignee) && (d.dueBefore == math.MaxInt64 || p.due < d.dueBefore)
}

// gather reads the places of what may fit, if that is little and its order is not that of the seats.
func (d *desk) gather() (few []place, small bool, err error) {
	bounded := d.dueBefore != math.MaxInt64
	take := func(s *Statement, flagged bool, args ...any) (rows int, err error) {
		few = few[:0]
		err = d.tx.query(s, args, func(scan func(...any) error) error {
			var p place
			var kind, assignee string
			at := int64(1)
			dest := []any{&p.id, &p.urgency, &p.due, &kind, &assignee}
			if flagged {
				dest = append(dest, &at)
			}
			if err := scan(dest...); err != nil {
				return err
			}
			rows++
			if at == 1 && d.fits(p, kind, assignee) {
				few = append(few, p)
			}
			return nil
		})
		return rows, err
	}
	tenant := string(d.tx.tenant)
	if d.Assignee != "" {
		rows, err := take(assigned, true, each(d.Seats), tenant, d.Assignee, int64(fewSeats+1))
		if err != nil || rows <= fewSeats {
			return few, true, err
		}
	}
	if bounded {
		s, args := d.dueList(math.MinInt64, "", d.dueBefore, fewSeats+1)
		rows, err := take(s, true, args...)
		if err != nil || rows <= fewSeats {
			return few, true, err
		}
	}
	if !d.all && (bounded || d.Assignee != "" || d.Order == store.ByExpiry) {
		ids, ok, err := d.tx.fewAt(d.Seats)
		if err != nil || !ok {
			return nil, false, err
		}
		_, err = take(placesByID, false, tenant, each(ids))
		return few, true, err
	}
	return nil, false, nil
}

// fewAt gives the ids of what stands at the seats, if that is not too much.
func (tx *Tx) fewAt(seats []string) (ids []string, few bool, err error) {
	for _, seat := range seats {
		err := tx.query(seatPlaces, []any{string(tx.tenant), seat, int64(fewSeats + 1)}, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
		if err != nil || len(ids) > 2*fewSeats {
			return nil, false, err
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids, len(ids) <= fewSeats, nil
}

func (d *desk) dueList(due int64, id string, before int64, limit int) (*Statement, []any) {
	if d.all {
		return dueOfAll, []any{string(d.tx.tenant), before, due, id, int64(limit)}
	}
	return dueFirst, []any{each(d.Seats), string(d.tx.tenant), before, due, id, int64(limit)}
}

// sorted makes the page of places that were gathered.
func (d *desk) sorted(few []place) (out store.Page[holdshort.Request], err error) {
	few = slices.DeleteFunc(few, func(p place) bool { return d.compare(p, d.after) <= 0 })
	slices.SortFunc(few, d.compare)
	if len(few) > d.Limit {
		few = few[:d.Limit]
		out.Next = d.cursor(few[d.Limit-1])
	}
	err = d.tx.loadPlaces(few, &out, nil)
	return out, err
}

// walk reads chunk after chunk until the page is full, there is no more, or it has looked enough.
func (d *desk) walk(next func(limit int) (chunk []place, last place, more bool, err error)) (out store.Page[holdshort.Request], err error) {
	for range mostLooks {
		chunk, last, more, err := next(d.Limit - len(out.Items) - len(out.Corrupt))
		if err != nil {
			return out, err
		}
		err = d.tx.loadPlaces(chunk, &out, func(r *holdshort.Request, due int64) bool {
			return r.Status == holdshort.RequestOpen && d.fits(place{due: due, urgency: int64(slices.Index(urgencies, r.Priority))}, string(r.Kind), r.Assignee)
		})
		if err != nil || !more {
			out.Next = ""
			return out, err
		}
		out.Next, d.after = d.cursor(last), last
		if len(out.Items)+len(out.Corrupt) >= d.Limit {
			return out, nil
		}
	}
	return out, nil
}

// nextDue goes on in the order in which open requests fall due.
func (d *desk) nextDue(limit int) (chunk []place, last place, more bool, err error) {
	looks := max(2*limit, 200)
	before := d.dueBefore
	if before == math.MaxInt64 && d.all {
		looks = limit + 1
	}
	s, args := d.dueList(d.after.due, d.after.id, before, looks)
	if before == math.MaxInt64 {
		s = map[*Statement]*Statement{dueOfAll: everDueOfAll, dueFirst: everDueFirst}[s]
		args = slices.Delete(args, len(args)-4, len(args)-3)
	}
	rows, last := 0, d.after
	err = d.tx.query(s, args, func(scan func(...any) error) error {
		var p place
		var kind, assignee string
		var at int64
		if err := scan(&p.id, &p.urgency, &p.due, &kind, &assignee, &at); err != nil {
			return err
		}
		rows++
		if len(chunk) == limit {
			more = true // the rest is for the next page
			return nil
		}
		last = p
		if at == 1 && d.fits(p, kind, assignee) {
			chunk = append(chunk, p)
		}
		return nil
	})
	return chunk, last, more || rows == looks, err
}

var (
	everDueFirst = statement(strings.Replace(dueFirst.source, "due_at < ? AND ", "", 1))
	everDueOfAll = statement(strings.Replace(dueOfAll.source, "due_at < ? AND ", "", 1))
)

// nextSeats goes on in the order of the seats.
func (d *desk) nextSeats(limit int) (chunk []place, last place, more bool, err error) {
	s := d.seatList()
	if s == nil {
		return nil, d.after, false, nil // a kind or a priority that there is not
	}
	for _, seat := range d.Seats {
		var args []any
		for range s.arms {
			args = append(args, string(d.tx.tenant), seat)
			if s.both {
				args = append(args, d.after.urgency)
			}
			args = append(args, d.after.id, int64(limit+1))
		}
		err := d.tx.query(s.Statement, append(args, int64(limit+1)), func(scan func(...any) error) error {
			var p place
			err := scan(&p.urgency, &p.id)
			chunk = append(chunk, p)
			return err
		})
		if err != nil {
			return nil, last, false, err
		}
	}
	slices.SortFunc(chunk, d.compare)
	chunk = slices.CompactFunc(chunk, func(a, b place) bool { return a.id == b.id })
	if len(chunk) > limit {
		chunk, more = chunk[:limit], true
	}
	if len(chunk) > 0 {
		last = chunk[len(chunk)-1]
	}
	return chunk, last, more, nil
}

// loadPlaces adds the requests at places that fit to a page, in the order of the places.
func (tx *Tx) loadPlaces(places []place, out *store.Page[holdshort.Request], fits func(r *holdshort.Request, due int64) bool) error {
	if len(places) == 0 {
		return nil
	}
	ids := make([]string, len(places))
	for i, p := range places {
		ids[i] = p.id
	}
	rows, broken, err := tx.requestsOf(ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, ok := rows[id]
		switch {
		case !ok:
		case slices.Contains(broken, id):
			out.Corrupt = append(out.Corrupt, id)
		case fits == nil || fits(&r, dueOf(&r)):
			out.Items = append(out.Items, r)
		}
	}
	return nil
}

func dueOf(r *holdshort.Request) int64 {
	if due := r.Due(); !due.IsZero() {
		return micros(due)
	}
	return math.MaxInt64
}

// requestsOf loads requests by their ids; those that cannot be read are named.
func (tx *Tx) requestsOf(ids []string) (rows map[string]holdshort.Request, broken []string, err error) {
	rows = make(map[string]holdshort.Request, len(ids))
	err = tx.query(requestsByID, []any{string(tx.tenant), each(ids)}, func(scan func(...any) error) error {
		r, id, err := tx.scanRequest(scan)
		if errors.Is(err, holdshort.Corrupt) {
			broken, err = append(broken, id), nil
		}
		rows[id] = r
		return err
	})
	return rows, broken, err
}
