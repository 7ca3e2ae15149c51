package sqldb

import (
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// results are the numbers of outcomes in alike; what expired comes after them, and what was canceled is not there.
var results = []holdshort.Outcome{holdshort.Approved, holdshort.Rejected, holdshort.Edited, holdshort.Answered, holdshort.Selected}

const expiredResult = 9

const (
	mostAlike = store.MostCounted
	lastAlike = 20
)

var (
	countAlike = statement(`SELECT result, COUNT(*) FROM (SELECT result FROM alike WHERE tenant = ? AND facet = ? AND closed_at >= ? AND id <> ? ORDER BY closed_at DESC, id DESC LIMIT 1001) AS few GROUP BY result`)
	listAlike  = statement(`SELECT id, result FROM alike WHERE tenant = ? AND facet = ? AND closed_at >= ? AND id <> ? ORDER BY closed_at DESC, id DESC LIMIT ?`)
	dropAlike  = statement(`DELETE FROM alike WHERE tenant = ? AND facet = ? AND closed_at = ? AND id = ?`)
)

// alike notes what became of a request that is closed.
func (x *indexing) alike(e *entry, v vocabulary) {
	facet := v.facet(&e.Request)
	if facet == "" || e.ClosedAt.IsZero() {
		return
	}
	result := int64(expiredResult)
	switch e.Status {
	case holdshort.RequestResolved:
		result = int64(slices.Index(results, e.Outcome))
	case holdshort.RequestExpired:
	default:
		return
	}
	if result >= 0 {
		x.write(addAlike, string(v.tenant), facet, micros(e.ClosedAt), string(e.ID), result)
	}
}

func (tx *Tx) Alike(req holdshort.Request, since time.Time) (out store.Alike, err error) {
	out.Outcomes = map[holdshort.Outcome]int{}
	lexicon, err := tx.lexicon()
	if err != nil {
		return out, err
	}
	facet := lexicon.of(tx.tenant).facet(&req)
	if facet == "" {
		return out, nil
	}
	args := []any{string(tx.tenant), facet, micros(since), string(req.ID)} // itself is not like itself
	seen := 0
	err = tx.query(countAlike, args, func(scan func(...any) error) error {
		var result, n int64
		if err := scan(&result, &n); err != nil {
			return err
		}
		seen += int(n)
		if result == expiredResult {
			out.Expired = int(n)
		} else if result >= 0 && result < int64(len(results)) {
			out.Outcomes[results[result]] = int(n)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	out.More = seen > mostAlike
	err = tx.query(listAlike, append(args, int64(lastAlike)), func(scan func(...any) error) error {
		var id holdshort.RequestID
		var result int64
		err := scan(&id, &result)
		if result != expiredResult {
			out.Decided = append(out.Decided, id)
		}
		return err
	})
	return out, err
}

// lexicon is the one that the index was made with.
func (tx *Tx) lexicon() (*lexicon, error) {
	mode, err := readMetaText(queries{tx}, searchMode)
	if err != nil {
		return nil, err
	}
	return tx.db.lexicon(mode)
}
