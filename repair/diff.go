package repair

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Change is one field that differs.
type Change struct {
	Field  string          `json:"field"`            // as in a Patch; empty: the whole value
	Before json.RawMessage `json:"before,omitempty"` // none: it was not there
	After  json.RawMessage `json:"after,omitempty"`  // none: it is gone
}

// Diff lists what differs, in the order of the fields' names. Lists of one length are compared element by element; other lists, and what is no JSON, as a whole.
func Diff(before, after json.RawMessage) []Change {
	a, errA := canonical(before)
	b, errB := canonical(after)
	if errA != nil || errB != nil {
		if bytes.Equal(before, after) {
			return nil
		}
		return []Change{{Before: before, After: after}}
	}
	return diff(nil, "", a, b)
}

func diff(found []Change, field string, a, b json.RawMessage) []Change {
	if bytes.Equal(a, b) {
		return found
	}
	if before, ok := objectOf(a); ok {
		if after, ok := objectOf(b); ok {
			return diffObjects(found, field, before, after)
		}
	}
	before, okA := listOf(a)
	after, okB := listOf(b)
	if okA && okB && len(before) == len(after) {
		for i := range before {
			found = diff(found, join(field, strconv.Itoa(i)), before[i], after[i])
		}
		return found
	}
	return append(found, Change{Field: field, Before: a, After: b})
}

func diffObjects(found []Change, field string, before, after map[string]json.RawMessage) []Change {
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, both := before[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		was, had := before[name]
		is, has := after[name]
		if had && has {
			found = diff(found, join(field, name), was, is)
		} else {
			found = append(found, Change{Field: join(field, name), Before: was, After: is})
		}
	}
	return found
}

func join(outer, inner string) string {
	if outer == "" {
		return inner
	}
	return outer + "." + inner
}
