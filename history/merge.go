package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
)

// Merge joins two histories into one, oldest first. Messages are the same by their id, or where one has none by their moment, role and text,
// whatever way the moment was written: then the local one stays. One without a time keeps its place behind the one before it.
func Merge(local, remote []holdshort.Message) []holdshort.Message {
	type entry struct {
		holdshort.Message
		at time.Time
	}
	known := map[string]bool{}
	var list []entry
	for _, side := range [][]holdshort.Message{local, remote} {
		var last time.Time
		for _, m := range side {
			keys := keysOf(m)
			if slices.ContainsFunc(keys, func(k string) bool { return known[k] }) {
				continue
			}
			for _, k := range keys {
				known[k] = true
			}
			at := m.CreatedAt
			if at.IsZero() {
				at = last
			}
			last = at
			list = append(list, entry{m, at})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return a.at.Compare(b.at) })
	out := make([]holdshort.Message, len(list))
	for i := range list {
		out[i] = list[i].Message
	}
	return out
}

// keysOf gives what a message is known by. One that nothing is known of is always another.
func keysOf(m holdshort.Message) []string {
	var keys []string
	if m.ID != "" {
		keys = append(keys, "id "+string(m.ID))
	}
	if m.ExternalID != "" {
		keys = append(keys, "id "+m.ExternalID)
	}
	if !m.CreatedAt.IsZero() && len(m.Parts) > 0 {
		keys = append(keys, fmt.Sprint("at ", m.CreatedAt.UnixMilli(), m.Role, m.Parts[0].Text))
	}
	return keys
}
