package sqldb

import (
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// among returns the requests of q.Among that the query finds. They are read and compared one by one: the index would be searched for all others too.
func (s *search) among() (out store.Page[holdshort.Request], err error) {
	id := idIn(s.q.Words)
	if id == "" && s.words.Empty() {
		return out, nil
	}
	var places []place
	for _, named := range s.q.Among[:min(len(s.q.Among), s.q.Limit)] {
		if isText(string(named)) { // no other can be an id, and PostgreSQL refuses the query for it
			places = append(places, place{id: string(named)})
		}
	}
	err = s.load(places, id == "", &out)
	out.Items = slices.DeleteFunc(out.Items, func(r holdshort.Request) bool {
		named := strings.HasPrefix(string(r.ID), id) || strings.HasPrefix(string(r.RunID), id) || strings.HasPrefix(string(r.SessionID), id)
		return !named || !s.sees(&r)
	})
	return out, err
}
