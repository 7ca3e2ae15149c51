package sqldb

import (
	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// PostgreSQL reads all that its index has of a word before it gives the first. For a word that is nearly everywhere it is quicker to go through the
// documents themselves, from the newest on, a stretch at a time.
const (
	driftList   = "search>drift"
	driftLooks  = 2000 // documents of a stretch
	denseEnough = 100  // that have the words, of the newest stretch
)

var stretch = different(`SELECT '', 0 WHERE ? = '' AND ? = '' AND ? = '' AND ? = 0`, `SELECT d.id, CASE WHEN d.words @@ ?::text::tsquery THEN 1 ELSE 0 END FROM
	(SELECT id, words FROM documents WHERE tenant = ? AND id < ? ORDER BY id DESC LIMIT ?) AS d ORDER BY d.id DESC`)

// stretch gives those of the next documents that have the terms, and how many documents it looked at.
func (s *search) stretch(match string, each func(id string, has bool)) (looked int, err error) {
	err = s.tx.query(stretch, []any{match, string(s.tx.tenant), s.id, int64(driftLooks)}, func(scan func(...any) error) error {
		var id string
		var has int64
		err := scan(&id, &has)
		looked++
		each(id, has == 1)
		return err
	})
	return looked, err
}

// dense: the words are nearly everywhere.
func (s *search) dense(match string) (bool, error) {
	if s.lite() {
		return false, nil // SQLite gives them as it finds them
	}
	n := 0
	_, err := s.stretch(match, func(_ string, has bool) {
		if has {
			n++
		}
	})
	return n >= denseEnough, err
}

// drift gives the newest first, as a walk does.
func (s *search) drift(match string, recent []hit) (out store.Page[holdshort.Request], err error) {
	var places []place
	for _, h := range recent[:min(len(recent), s.q.Limit)] {
		places = append(places, h.place)
	}
	if err := s.load(places, true, &out); err != nil {
		return out, err
	}
	for range mostLooks {
		var found []string
		last := s.id
		looked, err := s.stretch(match, func(id string, has bool) {
			last = id
			if has {
				found = append(found, id)
			}
		})
		if err != nil {
			return out, err
		}
		for len(found) > 0 && len(out.Items) < s.q.Limit {
			chunk := found[:min(len(found), s.q.Limit-len(out.Items))]
			found, s.id = found[len(chunk):], chunk[len(chunk)-1]
			places = places[:0]
			for _, id := range chunk {
				places = append(places, place{id: id})
			}
			if err := s.load(places, true, &out); err != nil {
				return out, err
			}
		}
		switch {
		case len(found) > 0 || len(out.Items) == s.q.Limit:
			out.Next = encodeCursor(driftList, []any{s.id})
			return out, nil
		case looked < driftLooks:
			out.Next = ""
			return out, nil
		}
		s.id = last
		out.Next = encodeCursor(driftList, []any{s.id})
	}
	return out, nil
}
