package sqldb

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// To be forgotten a request is told to the index once more, word for word: so nothing of it stays, neither a word nor a gap where one was.
var (
	entriesOfSession = different(`SELECT r.rowid, `+entryColumns+` FROM requests r`+withRun+` WHERE r.tenant = ? AND r.session_id = ? AND r.session_id <> ''`,
		`SELECT 0, `+entryColumns+` FROM requests r`+withRun+` WHERE r.tenant = ? AND r.session_id = ? AND r.session_id <> ''`)
	entriesOfRun = different(`SELECT r.rowid, `+entryColumns+` FROM requests r`+withRun+` WHERE r.tenant = ? AND r.run_id = ? AND r.run_id <> '' AND r.status <> 'open'`,
		`SELECT 0, `+entryColumns+` FROM requests r`+withRun+` WHERE r.tenant = ? AND r.run_id = ? AND r.run_id <> '' AND r.status <> 'open'`)
	entryOf = different(`SELECT r.rowid, `+entryColumns+` FROM requests r`+withRun+` WHERE r.tenant = ? AND r.id = ?`,
		`SELECT 0, `+entryColumns+` FROM requests r`+withRun+` WHERE r.tenant = ? AND r.id = ?`)
	hasWords     = different(`SELECT COUNT(*) FROM search WHERE search MATCH ? AND rowid = ?`, `SELECT 0`)
	dropWords    = different(`INSERT INTO search (search, rowid, words) VALUES ('delete', ?, ?)`, `SELECT 1`)
	dropDocument = statement(`DELETE FROM documents WHERE tenant = ? AND id = ?`)
)

// forget gives the writes that take requests out of the index. Append them behind those that change the requests: on PostgreSQL they then see
// whatever the indexer has added.
func (db *DB) forget(q queryer, conn Conn, now time.Time, which *Statement, args ...any) (writes []Write, err error) {
	mode, err := readMetaText(q, searchMode)
	if err != nil || mode == "" {
		return nil, err // nothing was ever indexed
	}
	lexicon, err := db.lexicon(mode)
	if err != nil || lexicon.mode != mode {
		return nil, err // it will be made anew
	}
	mark, err := readMeta(q, searchRows)
	if err != nil {
		return nil, err
	}
	if db.Dialect != SQLite {
		writes = append(writes, lockSearch())
	}
	var indexed []*entry
	err = q.read(which, args, func(scan func(...any) error) error {
		e, tenant, err := db.scanEntry(conn, now, scan)
		if err != nil && !errors.Is(err, holdshort.Corrupt) {
			return err
		}
		v := lexicon.of(tenant)
		if facet := v.facet(&e.Request); facet != "" && !e.ClosedAt.IsZero() {
			writes = append(writes, Write{Statement: dropAlike, Args: []any{string(tenant), facet, micros(e.ClosedAt), string(e.ID)}, Want: Any})
		}
		switch {
		case db.Dialect != SQLite:
			writes = append(writes, Write{Statement: dropDocument, Args: []any{string(tenant), string(e.ID)}, Want: Any})
		case e.readable() && e.number <= mark:
			e.terms = v.terms(e)
			indexed = append(indexed, e)
		}
		return nil
	})
	for _, e := range indexed {
		if err != nil {
			break
		}
		var same bool
		if same, err = sameWords(q, e); err == nil && !same {
			return anew(), nil
		}
		writes = append(writes, Write{Statement: dropWords, Args: []any{e.number, strings.Join(e.terms, " ")}, Want: Any})
	}
	return writes, err
}

// sameWords looks whether the index has the words that it is going to be told: others would damage it.
func sameWords(q queryer, e *entry) (bool, error) {
	lists := make([][]string, 0, len(e.terms))
	for _, term := range e.terms[:min(len(e.terms), 200)] {
		lists = append(lists, []string{term})
	}
	n, err := readNumber(q, hasWords, expression(lists, `"`, " OR ", " AND "), e.number)
	return n == 1, err
}

// anew empties the index: the next step makes it again from what is there.
func anew() []Write {
	return []Write{{Statement: noWords, Want: Any}, {Statement: noAlike, Want: Any}, writeMeta(searchMode, "anew"), writeMeta(searchRows, "0"), writeMeta(searchProbe, ""), writeMeta(searchTo, "0")}
}

// lowerMark keeps the numbers of rows that were deleted from being taken for indexed ones when they are handed out again.
func (db *DB) lowerMark(conn Conn) error {
	if db.Dialect != SQLite {
		return nil
	}
	mark, err := readMeta(bare{conn}, searchRows)
	if err != nil || mark == 0 {
		return err
	}
	last, err := readNumber(bare{conn}, lastRow)
	if err != nil {
		return err
	}
	known, err := readMetaText(bare{conn}, searchProbe)
	if err != nil {
		return err
	}
	probe := ""
	if err := conn.Query(rowOf, []any{min(mark, last)}, func(scan func(...any) error) error { return scan(&probe) }); err != nil {
		return err
	}
	if last >= mark && probe == known {
		return nil
	}
	return conn.Apply([]Write{writeMeta(searchRows, strconv.FormatInt(min(mark, last), 10)), writeMeta(searchProbe, probe)})
}
