package holdshort

import (
	"encoding/json"
	"strings"
)

// withheld stands where somebody may not look before that is noted.
var withheld = json.RawMessage(`"[redacted]"`)

// Redact gives arguments with the named fields withheld, "a.b" within others; "*" withholds all of them. What is no object is withheld whole: nobody can tell what
// is in it.
func Redact(args json.RawMessage, fields []string) json.RawMessage {
	if len(fields) == 0 || len(args) == 0 {
		return args
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(args, &object) != nil {
		return withheld
	}
	for _, name := range fields {
		if name == "*" {
			return withheld
		}
		if _, ok := object[name]; ok {
			object[name] = withheld
		}
		if outer, inner, nested := strings.Cut(name, "."); nested && object[outer] != nil {
			object[outer] = Redact(object[outer], []string{inner})
		}
	}
	out, err := json.Marshal(object)
	if err != nil {
		return withheld
	}
	return out
}
