package sqldb

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/words"
)

const (
	tailLooks = 500 // requests that are not indexed yet and are looked through
	mostSeen  = 64  // sights that one query names
)

const hitColumns = `r.id, r.urgency, r.due_at, r.status, r.kind, r.session_id, r.run_id, r.assignee`

// A hit is a request that has the terms. The newest come first: on SQLite by the number of the row, on PostgreSQL by id. The inner query is bounded
// before anything is looked up beside it.
var (
	hits = different(`SELECT r.rowid, `+hitColumns+` FROM (SELECT rowid AS n FROM search WHERE search MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?) AS hit
		CROSS JOIN requests r ON r.rowid = hit.n WHERE +r.tenant = ? ORDER BY hit.n DESC`,
		`SELECT 0, `+hitColumns+` FROM (SELECT id FROM documents WHERE words @@ ?::text::tsquery AND id < ? AND tenant = ? ORDER BY id DESC LIMIT ?) AS hit
		JOIN requests r ON r.id = hit.id AND r.tenant = ? ORDER BY r.id DESC`)
	countHits = different(`SELECT COUNT(*) FROM (SELECT rowid FROM search WHERE search MATCH ? LIMIT ?)`,
		`SELECT COUNT(*) FROM (SELECT 1 FROM documents WHERE words @@ ?::text::tsquery AND tenant = ? LIMIT ?) AS few`)
	someHits = different(hits.texts[0], `SELECT 0, `+hitColumns+` FROM (SELECT id FROM documents WHERE words @@ ?::text::tsquery AND id < ? AND tenant = ? LIMIT ?) AS hit
		JOIN requests r ON r.id = hit.id AND r.tenant = ?`)
	unindexed = different(`SELECT r.rowid, `+entryColumns+` FROM (SELECT * FROM (SELECT rowid AS n, tenant, run_id FROM requests WHERE rowid > ? ORDER BY rowid DESC LIMIT 4000) WHERE tenant = ? ORDER BY n DESC LIMIT ?) AS t
		CROSS JOIN requests r ON r.rowid = t.n`+withRun+` ORDER BY t.n DESC`,
		`SELECT 0, `+entryColumns+` FROM (SELECT * FROM requests WHERE ?::bigint >= 0 AND tenant = ? ORDER BY id DESC LIMIT ?) AS r`+withRun+`
		WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.tenant = r.tenant AND d.id = r.id) ORDER BY r.id DESC`)
	hitsByID      = statement(`SELECT 0, ` + hitColumns + ` FROM requests r WHERE r.tenant = ? AND r.id >= ? AND r.id < ? ORDER BY r.id DESC LIMIT ?`)
	hitsByRun     = statement(`SELECT 0, ` + hitColumns + ` FROM requests r WHERE r.tenant = ? AND r.run_id >= ? AND r.run_id < ? AND r.run_id <> '' ORDER BY r.run_id DESC, r.id DESC LIMIT ?`)
	hitsBySession = statement(`SELECT 0, ` + hitColumns + ` FROM requests r WHERE r.tenant = ? AND r.session_id >= ? AND r.session_id < ? AND r.session_id <> '' ORDER BY r.session_id DESC, r.id DESC LIMIT ?`)
)

// search is one page on its way.
type search struct {
	tx       *Tx
	q        store.SearchQuery
	order    desk // how it is sorted, and the cursor
	words    words.Query
	walking  bool // the page before was one of a walk
	drifting bool
	number   int64  // where the walk goes on: SQLite
	id       string // PostgreSQL
}

// hit is a request that may fit.
type hit struct {
	place
	number int64
	suits  bool // it is one of those that were asked for
}

// Search finds by the index, and looks through what is too new to be in it.
func (tx *Tx) Search(q store.SearchQuery) (out store.Page[holdshort.Request], err error) {
	if q.Limit <= 0 || q.Limit > store.MaxPage {
		q.Limit = store.MaxPage
	}
	s := &search{tx: tx, q: q, words: words.Parse(q.Words), number: math.MaxInt64, id: lastID}
	if err := s.begin(); err != nil {
		return out, err
	}
	if len(q.Among) > 0 {
		return s.among()
	}
	if id := idIn(q.Words); id != "" {
		few, err := s.byID(id)
		if err != nil {
			return out, err
		}
		return s.page(few, false)
	}
	if s.words.Empty() {
		return out, nil
	}
	lexicon, err := tx.lexicon()
	if err != nil {
		return out, err
	}
	match := s.match(lexicon.of(tx.tenant))
	switch {
	case s.walking:
		return s.walk(match, nil)
	case s.drifting:
		return s.drift(match, nil)
	}
	recent, err := s.tail()
	if err != nil {
		return out, err
	}
	if dense, err := s.dense(match); err != nil {
		return out, err
	} else if dense && q.Cursor == "" {
		return s.drift(match, recent)
	}
	many, err := s.many(match)
	if err != nil {
		return out, err
	}
	if many && q.Cursor == "" {
		return s.walk(match, recent)
	}
	few, err := s.hits(someHits, match, store.MostMatched)
	if err != nil {
		return out, err
	}
	return s.page(append(few, recent...), true)
}

// idIn gives the id, or the beginning of one, that a query is.
func idIn(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, prefix := range []string{"req_", "run_", "ses_"} {
		if strings.HasPrefix(text, prefix) && !strings.ContainsAny(text, " \t\n") && isText(text) {
			return text
		}
	}
	return ""
}

// walkList names the order of a walk in cursors.
const walkList = "search>walk"

func (s *search) lite() bool { return s.tx.db.Dialect == SQLite }

// begin reads the cursor, which says how the page before was found.
func (s *search) begin() error {
	s.order = desk{tx: s.tx, DeskQuery: store.DeskQuery{Order: s.q.Order, Limit: s.q.Limit}}
	if s.q.Cursor != "" && s.lite() {
		if values, err := decodeCursor(walkList, s.q.Cursor, []string{"number"}); err == nil {
			s.walking, s.number = true, values[0].(int64)
		}
	} else if s.q.Cursor != "" {
		if values, err := decodeCursor(walkList, s.q.Cursor, []string{"id"}); err == nil {
			s.walking, s.id = true, values[0].(string)
		} else if values, err := decodeCursor(driftList, s.q.Cursor, []string{"id"}); err == nil {
			s.drifting, s.id = true, values[0].(string)
		}
	}
	if !s.walking && !s.drifting {
		s.order.Cursor = s.q.Cursor
	}
	return s.order.start()
}

func (s *search) match(v vocabulary) string {
	lists := s.words.Terms(v.word, v.prefix)
	if len(s.q.Sights) > 0 {
		var any []string
		for _, sight := range s.q.Sights[:min(len(s.q.Sights), mostSeen)] {
			any = append(any, v.sight(sight))
		}
		lists = append(lists, any)
	}
	return s.tx.db.expression(lists)
}

// many: more have the terms than are put in order.
func (s *search) many(match string) (bool, error) {
	args := []any{match, int64(store.MostMatched + 1)}
	if !s.lite() {
		args = []any{match, string(s.tx.tenant), int64(store.MostMatched + 1)}
	}
	n, err := readNumber(queries{s.tx}, countHits, args...)
	return n > store.MostMatched, err
}

// hits reads those that have the terms, from where the walk is.
func (s *search) hits(which *Statement, match string, limit int) ([]hit, error) {
	if tenant := string(s.tx.tenant); !s.lite() {
		return s.scan(which, match, s.id, tenant, int64(limit), tenant)
	}
	return s.scan(which, match, s.number, int64(limit), string(s.tx.tenant))
}

func (s *search) byID(id string) ([]hit, error) {
	which := map[string]*Statement{"req_": hitsByID, "run_": hitsByRun, "ses_": hitsBySession}[id[:4]]
	return s.scan(which, string(s.tx.tenant), id, id+lastID, int64(store.MostMatched))
}

func (s *search) scan(which *Statement, args ...any) (out []hit, err error) {
	err = s.tx.query(which, args, func(scan func(...any) error) error {
		var h hit
		var status, kind, session, run, assignee string
		if err := scan(&h.number, &h.id, &h.urgency, &h.due, &status, &kind, &session, &run, &assignee); err != nil {
			return err
		}
		h.suits = s.suits(h.urgency, status, kind, session, run, assignee)
		out = append(out, h)
		return nil
	})
	return out, err
}

// suits says whether a request is one of those that were asked for, whatever is in it.
func (s *search) suits(urgency int64, status, kind, session, run, assignee string) bool {
	q := &s.q
	return (q.Status == "" || status == string(q.Status)) && (q.Kind == "" || kind == string(q.Kind)) &&
		(q.Priority == "" || urgency == int64(slices.Index(urgencies, q.Priority))) && (q.Session == "" || session == string(q.Session)) &&
		(q.Run == "" || run == string(q.Run)) && (q.Assignee == "" || assignee == q.Assignee)
}

func (s *search) sees(r *holdshort.Request) bool {
	return len(s.q.Sights) == 0 || slices.ContainsFunc(store.Sights(r), func(sight string) bool { return slices.Contains(s.q.Sights, sight) })
}

// tail looks through what was committed and is not indexed yet.
func (s *search) tail() (out []hit, err error) {
	mark, err := readMeta(queries{s.tx}, searchRows)
	if err != nil {
		return nil, err
	}
	err = s.tx.query(unindexed, []any{mark, string(s.tx.tenant), int64(tailLooks)}, func(scan func(...any) error) error {
		e, _, err := s.tx.db.scanEntry(s.tx.conn, s.tx.now, scan)
		if errors.Is(err, holdshort.Corrupt) {
			return nil
		}
		if err != nil {
			return err
		}
		urgency := urgencyOf(&e.Request)
		if s.suits(urgency, string(e.Status), string(e.Kind), string(e.SessionID), string(e.RunID), e.Assignee) && s.sees(&e.Request) && s.words.In(e.document()) {
			out = append(out, hit{place{string(e.ID), urgency, dueOf(&e.Request)}, e.number, true})
		}
		return nil
	})
	return out, err
}

// page puts what was found in order and loads what is on the page.
func (s *search) page(few []hit, byWords bool) (out store.Page[holdshort.Request], err error) {
	var places []place
	for _, h := range few {
		if h.suits && s.order.compare(h.place, s.order.after) > 0 {
			places = append(places, h.place)
		}
	}
	slices.SortFunc(places, s.order.compare)
	places = slices.CompactFunc(places, func(a, b place) bool { return a.id == b.id })
	for len(places) > 0 && len(out.Items) < s.q.Limit {
		chunk := places[:min(len(places), s.q.Limit-len(out.Items))]
		places = places[len(chunk):]
		if err := s.load(chunk, byWords, &out); err != nil {
			return out, err
		}
		out.Next = ""
		if len(places) > 0 {
			out.Next = s.order.cursor(chunk[len(chunk)-1])
		}
	}
	return out, nil
}

// walk gives the newest first: there are too many to put in order.
func (s *search) walk(match string, recent []hit) (out store.Page[holdshort.Request], err error) {
	var places []place
	for _, h := range recent[:min(len(recent), s.q.Limit)] {
		places = append(places, h.place)
	}
	if err := s.load(places, true, &out); err != nil {
		return out, err
	}
	for range mostLooks {
		want := s.q.Limit - len(out.Items)
		if want <= 0 {
			break
		}
		looks := max(want, 100)
		chunk, err := s.hits(hits, match, looks)
		if err != nil {
			return out, err
		}
		places, more := places[:0], len(chunk) == looks
		for _, h := range chunk {
			if h.suits && len(places) == want {
				more = true
				break
			}
			if h.suits {
				places = append(places, h.place)
			}
			s.number, s.id = h.number, h.id
		}
		if err := s.load(places, true, &out); err != nil {
			return out, err
		}
		if !more {
			out.Next = ""
			return out, nil
		}
		out.Next = s.walkCursor()
	}
	if out.Next == "" { // it is full of recent ones
		out.Next = s.walkCursor()
	}
	return out, nil
}

func (s *search) walkCursor() string {
	if s.lite() {
		return encodeCursor(walkList, []any{s.number})
	}
	return encodeCursor(walkList, []any{s.id})
}

// load adds the requests at places to a page, in their order. The index only says where to look: what is shown has the words.
func (s *search) load(places []place, byWords bool, out *store.Page[holdshort.Request]) error {
	if len(places) == 0 {
		return nil
	}
	ids := make([]string, len(places))
	for i, p := range places {
		ids[i] = p.id
	}
	found := make(map[string]*entry, len(ids))
	err := s.tx.query(entriesByID, []any{string(s.tx.tenant), each(ids)}, func(scan func(...any) error) error {
		e, _, err := s.tx.db.scanEntry(s.tx.conn, s.tx.now, scan)
		if errors.Is(err, holdshort.Corrupt) {
			out.Corrupt, err = append(out.Corrupt, string(e.ID)), nil
		} else if err == nil {
			found[string(e.ID)] = e
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if e := found[id]; e != nil && (!byWords || s.words.In(e.document())) && s.suits(urgencyOf(&e.Request), string(e.Status), string(e.Kind), string(e.SessionID), string(e.RunID), e.Assignee) {
			out.Items = append(out.Items, e.Request)
		}
	}
	return nil
}
