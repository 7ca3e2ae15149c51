package repair

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
)

// MaxFields is how many fields one patch may set.
const MaxFields = 3

// MaxValue is how long a value in a patch may be, in bytes.
const MaxValue = 16 << 10

// Patch is a correction of arguments: fields, "a.b" for one within another and "a.0.b" through a list, and the values they are to have.
// Read and FromModel give only patches of fields that the tool's schema has.
type Patch struct {
	Set map[string]json.RawMessage `json:"set"`
}

// Fields are the names of what it sets, sorted.
func (p Patch) Fields() []string { return slices.Sorted(maps.Keys(p.Set)) }

// Apply gives canonical arguments with the patch's fields set, and nothing else changed. It refuses with Invalid a patch that sets nothing, more than MaxFields,
// a field and a part of it, or a place that the arguments cannot have.
func (p Patch) Apply(args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	out, err := canonical(args)
	if err != nil {
		return nil, err
	}
	if _, ok := objectOf(out); !ok {
		return nil, badPath("", "the arguments are no object", "only named arguments can be corrected")
	}
	fields := p.Fields()
	if len(fields) == 0 || len(fields) > MaxFields {
		return nil, badPath("", "a patch sets 1 to "+strconv.Itoa(MaxFields)+" fields", "correct fewer fields at once")
	}
	for i, field := range fields {
		if i > 0 && within(field, fields[:i]) {
			return nil, badPath(field, "the patch sets a field and a part of it", "keep one of them")
		}
		value, err := canonical(p.Set[field])
		if err != nil {
			return nil, err
		}
		if len(value) > MaxValue {
			return nil, badPath(field, "the value is over "+strconv.Itoa(MaxValue>>10)+" KiB", "give a shorter one")
		}
		way, err := steps(out, plainPath(field))
		if err != nil {
			return nil, err
		}
		if out, err = put(out, way, value); err != nil {
			return nil, err
		}
	}
	return canonical(out)
}

// within reports a field that is one of the others, in another spelling, or a part of one.
func within(field string, others []string) bool {
	for _, other := range others {
		a, b := plainPath(other)+".", plainPath(field)+"."
		if strings.HasPrefix(b, a) || strings.HasPrefix(a, b) {
			return true
		}
	}
	return false
}

func canonical(raw json.RawMessage) (json.RawMessage, error) {
	out, err := holdshort.Canonical(raw)
	if err != nil {
		return nil, err
	}
	return out, nil
}
