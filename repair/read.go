package repair

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/schema"
	"github.com/holdshort/holdshort/reply"
	"github.com/holdshort/holdshort/tool"
)

// MaxReply is how long a reply may be, in bytes.
const MaxReply = 16 << 10

// Line is one message of the conversation that led to the call.
type Line struct {
	Role string `json:"role"` // user, assistant or system
	Text string `json:"text"`
}

// Read reads a reply as a correction of the arguments of a call that failed with f: field=value, field: value, JSON, one of the allowed values with the words that
// people put around it, its place in the list, or "fix it", which looks for an allowed value in what the person wrote before. It sets the faulty field, and others
// only if the reply names them. Whatever it does not understand whole it refuses: the error's code is InvalidReply, or Canceled, and ReasonOf says why.
// Words count in the languages given, in English always; without any in Hebrew, Portuguese, Spanish, French and German too.
func Read(text string, f tool.Fault, args, toolSchema json.RawMessage, history []Line, languages ...string) (Patch, error) {
	switch {
	case len(text) > MaxReply:
		return Patch{}, refuse(TooLong, f.Field)
	case !utf8.ValidString(text):
		return Patch{}, refuse(NotText, f.Field)
	case blank(text):
		return Patch{}, refuse(Empty, f.Field)
	}
	if languages = slices.DeleteFunc(slices.Clone(languages), func(tag string) bool { return tag == "" }); len(languages) == 0 {
		languages = spoken
	}
	t, err := open(f, args, toolSchema)
	if err != nil {
		return Patch{}, err
	}
	r := t.reader(text, languages)
	set, why, field := r.read()
	if why == NotSaid {
		raw, reason := t.recallValue(history)
		if why = reason; why == "" {
			set = map[string]json.RawMessage{t.faulty.path: raw}
		}
	}
	if why != "" {
		if field == "" && t.faulty != nil {
			field = t.faulty.path
		}
		return Patch{}, refuse(why, field)
	}
	return t.check(set, toolSchema)
}

// spoken are the languages whose words are known here.
var spoken = []string{"en", "he", "pt", "es", "fr", "de"}

func open(f tool.Fault, args, toolSchema json.RawMessage) (*table, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	args, err := canonical(args)
	if err != nil {
		return nil, err
	}
	if len(toolSchema) > holdshort.MaxCanonical {
		return nil, &holdshort.Error{Code: holdshort.TooLarge, Op: "read correction", Field: "schema", Message: "the schema is too large", Hint: "describe the arguments in less"}
	}
	return tableOf(f, args, toolSchema), nil
}

func blank(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unseen(r) }) < 0
}

// read tries the ways to give a correction, the most literal first.
func (r *reader) read() (map[string]json.RawMessage, Reason, string) {
	whole := strings.TrimSpace(r.text)
	if fd := r.faulty; fd != nil {
		for i := range fd.allowed { // whatever it would mean elsewhere: cancel, no, none
			if fd.allowed[i].text == whole {
				return map[string]json.RawMessage{fd.path: fd.allowed[i].json}, "", ""
			}
		}
		if raw, why := fd.pick(r.tokens, whole); why == "" && r.ends != '?' {
			return map[string]json.RawMessage{fd.path: raw}, "", ""
		}
		if slices.Equal(fd.types, []string{"boolean"}) {
			if raw, why := fd.boolean(whole, r.languages); why == "" {
				return map[string]json.RawMessage{fd.path: raw}, "", ""
			}
		}
	}
	if reply.Read(whole, &reply.Question{Expected: reply.FreeText, Languages: r.languages}).Verdict == reply.Cancel {
		if r.faulty != nil && r.faulty.namesCancel(r.tokens) {
			return nil, Several, ""
		}
		return nil, Canceled, ""
	}
	if strings.HasPrefix(whole, "{") {
		return r.fromJSON()
	}
	if set, ok := r.fromLines(); ok {
		return set, "", ""
	}
	return r.parse()
}

// namesCancel reports a value with a word of the reply in it, such as cancel: nobody can tell then what is meant.
func (fd *field) namesCancel(tokens []token) bool {
	for i := range fd.allowed {
		for _, k := range fd.allowed[i].tokens {
			if words[k.word] != filler && slices.ContainsFunc(tokens, func(typed token) bool { return typed.word == k.word }) {
				return true
			}
		}
	}
	return false
}

// check holds what was read against the schema, and drops what would change nothing.
func (t *table) check(set map[string]json.RawMessage, toolSchema json.RawMessage) (Patch, error) {
	for path, raw := range set {
		if now, there := at(t.args, path); there && string(now) == string(raw) {
			delete(set, path)
		}
	}
	faulty := ""
	if t.faulty != nil {
		faulty = t.faulty.path
	}
	switch {
	case len(set) == 0:
		return Patch{}, refuse(Unchanged, faulty)
	case len(set) > MaxFields:
		return Patch{}, refuse(TooMany, "")
	}
	patch := Patch{Set: set}
	after, err := patch.Apply(t.args)
	if err != nil {
		return Patch{}, err
	}
	compiled, err := schema.Compile(toolSchema)
	if err != nil {
		return Patch{}, err
	}
	if compiled.Validate(after) == nil {
		return patch, nil
	}
	if compiled.Validate(t.args) == nil {
		return Patch{}, refuse(NotAllowed, patch.Fields()[0])
	}
	for _, path := range patch.Fields() { // what else was wrong before stays for the next round
		if !t.shape.fits(path, set[path]) {
			return Patch{}, refuse(NotAllowed, path)
		}
	}
	return patch, nil
}

// Complete fills in what a fault leaves out and the call knows: the value that the field had, and the values that its schema lists.
func Complete(f tool.Fault, args, toolSchema json.RawMessage) tool.Fault {
	t, err := open(f, args, toolSchema)
	if err != nil || t.faulty == nil {
		return f
	}
	f.Field = t.faulty.path
	if len(f.Value) == 0 {
		f.Value = t.faulty.now
	}
	if len(f.Allowed) == 0 {
		for i := range t.faulty.allowed {
			f.Allowed = append(f.Allowed, t.faulty.allowed[i].json)
		}
	}
	return f
}
