package inbox

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// field is one value to be typed, made of a JSON Schema. Whether what was typed fits is for the schema itself to say.
type field struct {
	Name, Label, Help string
	Input             string // text, long, number, select, date, time, email, url, json, object, list, choice, or fixed: there is nothing to type
	Value             string
	Original          string // what stood there before anybody typed
	Choices           []choice
	Required          bool
	Nullable          bool
	Least, Most       string // of a number
	Pattern           string
	Longest           int
	Fields            []field // of an object, or of the alternative that was chosen
	Items             []field // of a list
	Wrong             string

	was    json.RawMessage // what it was before; nil: nothing
	before string          // as it was shown: what nobody touched stays byte for byte
	extra  map[string]json.RawMessage
}

type choice struct {
	ID, Label string
	Chosen    bool
}

// What lies deeper within others, or is more than a page can hold, is written as JSON.
const (
	deepest  = 6
	formRoom = 2000
)

// level is where a field lies in its form.
type level struct {
	depth int
	open  []string // the references that led here
	left  *int     // how many fields the form may still have
}

func outermost() level {
	left := formRoom
	return level{left: &left}
}

// below is one level further down, by a reference if there is one.
func (at level) below(ref string) level {
	at.depth++
	if ref != "" {
		at.open = append(slices.Clip(at.open), ref)
	}
	return at
}

// input is what a value is typed into at this level. A schema that contains itself is drawn as far as there are values, and no further: else a
// few lines of it would fill any page.
func (at level) input(s shape, ref string, value json.RawMessage) string {
	*at.left--
	in := s.input(value, at.depth)
	if many := in == "object" || in == "list" || in == "choice"; many && (*at.left < 0 || value == nil && slices.Contains(at.open, ref) || in == "list" && longerThan(value, mostItems)) {
		return "json"
	}
	return in
}

// longerThan reports whether a list has more than so many items: a field for each of the first would lose the others.
func longerThan(list json.RawMessage, most int) bool {
	var items []json.RawMessage
	return json.Unmarshal(list, &items) == nil && len(items) > most
}

// fieldFor makes the field of a schema. Its value is what was typed if there is a form, else what it was, else the schema's default.
func fieldFor(s shape, root json.RawMessage, was json.RawMessage, form url.Values, name, label string, required bool, at level) field {
	ref := s.Ref
	s = s.resolved(root)
	f := field{Name: name, Label: label, Help: s.Description, Required: required, Nullable: s.nullable(), Least: s.least(), Most: s.most(), Pattern: s.Pattern, Longest: s.MaxLength, was: was}
	if s.Title != "" {
		f.Label = s.Title
	}
	value := was
	if value == nil {
		value = s.Default
	}
	if f.Input = at.input(s, ref, value); required && len(s.Const) > 0 && (was == nil || canonicalText(was) == canonicalText(s.Const)) {
		f.Input, f.was = "fixed", s.Const
		return f
	}
	at = at.below(ref)
	switch f.Input {
	case "object":
		f.members(s, root, value, form, at)
	case "list":
		f.list(s, root, value, form, at)
	case "choice":
		f.alternatives(s, root, value, form, at)
	default:
		f.simple(s, value, form)
	}
	return f
}

func (f *field) simple(s shape, value json.RawMessage, form url.Values) {
	if was := f.was; was != nil {
		f.before = f.textOf(was)
	}
	f.Value = ""
	if value != nil {
		f.Value = f.textOf(value)
	}
	f.Original = f.Value
	if form != nil {
		f.Value = unix(form.Get(f.Name))
	}
	if f.Input == "select" {
		for _, c := range s.choices() {
			c.Chosen = c.ID == f.Value
			f.Choices = append(f.Choices, c)
		}
	}
}

// textOf is a value as it stands in its input.
func (f *field) textOf(value json.RawMessage) string {
	var text string
	switch f.Input {
	case "select":
		return canonicalText(value)
	case "json":
		return spelled(pretty(value))
	case "time":
		json.Unmarshal(value, &text)
		return strings.TrimSuffix(text, "Z")
	}
	if string(value) == "null" {
		return ""
	}
	if json.Unmarshal(value, &text) == nil {
		return unix(text)
	}
	return string(value)
}

// unix writes line ends as one character: browsers send two.
func unix(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

func (f *field) members(s shape, root, value json.RawMessage, form url.Values, at level) {
	properties, required := s.properties()
	properties.root = root
	var object map[string]json.RawMessage
	json.Unmarshal(value, &object) // what is no object has no members
	f.extra = map[string]json.RawMessage{}
	for name, raw := range object {
		if !slices.Contains(properties.names(), name) {
			f.extra[name] = raw
		}
	}
	names := properties.names()
	slices.SortStableFunc(names, func(a, b string) int { // what has to be filled in comes first
		return needFirst(required, a) - needFirst(required, b)
	})
	for _, name := range names {
		f.Fields = append(f.Fields, fieldFor(properties.of(name, nil), root, object[name], form, f.Name+"."+escapedName(name), name, slices.Contains(required, name), at))
	}
}

// needFirst sorts what has to be filled in before the rest.
func needFirst(required []string, name string) int {
	if slices.Contains(required, name) {
		return 0
	}
	return 1
}

// list has an entry per item, each under a number of its own, so that one can be taken out.
func (f *field) list(s shape, root, value json.RawMessage, form url.Values, at level) {
	item := shapeOf(s.Items)
	var items []json.RawMessage
	json.Unmarshal(value, &items)
	was := func(i int) json.RawMessage {
		if i >= 0 && i < len(items) {
			return items[i]
		}
		return nil
	}
	var numbers []string
	if form != nil {
		numbers = form[f.Name+".#"]
	} else {
		for i := range items {
			numbers = append(numbers, strconv.Itoa(i))
		}
	}
	for _, number := range numbers {
		i, err := strconv.Atoi(number)
		if err != nil || i < 0 || len(f.Items) >= mostItems {
			continue
		}
		f.Items = append(f.Items, fieldFor(item, root, was(i), form, f.Name+"."+number, strconv.Itoa(len(f.Items)+1), true, at))
	}
}

const mostItems = 500

// Number is under which an item of a list is sent.
func (f field) Number() string { return f.Name[strings.LastIndexByte(f.Name, '.')+1:] }

// alternatives are forms of which one is filled in.
func (f *field) alternatives(s shape, root, value json.RawMessage, form url.Values, at level) {
	list := s.oneOf()
	chosen := -1
	for i, raw := range list {
		if chosen < 0 && value != nil && fits(raw, root, value) {
			chosen, f.Original = i, strconv.Itoa(i)
		}
	}
	if form != nil {
		if i, err := strconv.Atoi(form.Get(f.Name + ".@")); err == nil && i >= 0 && i < len(list) {
			if i != chosen {
				value = nil
			}
			chosen = i
		} else {
			chosen = -1
		}
	}
	for i, raw := range list {
		alternative := shapeOf(raw).resolved(root)
		label := alternative.Title
		if label == "" {
			label = "form " + strconv.Itoa(i+1)
		}
		f.Choices = append(f.Choices, choice{strconv.Itoa(i), label, i == chosen})
		if i == chosen {
			f.Value = strconv.Itoa(i)
			inner := fieldFor(shapeOf(raw), root, value, form, f.Name+"."+strconv.Itoa(i), "", true, at)
			f.Fields = []field{inner}
		}
	}
}

// Typed reports whether something else stands there than at first.
func (f field) Typed() bool { return f.Value != f.Original }

// mark says at a field what is wrong with it.
func (f *field) mark(wrong string, refused *refused) {
	if wrong == "" || refused == nil {
		return
	}
	if wrong == f.Name || wrong == placeOf(f.Name) {
		f.Wrong = strings.TrimPrefix(refused.Detail, "it does not fit the schema: "+placeOf(f.Name)+": ")
	}
	for i := range f.Fields {
		f.Fields[i].mark(wrong, refused)
	}
	for i := range f.Items {
		f.Items[i].mark(wrong, refused)
	}
}

// placeOf is how a schema names the place of a field: without the prefix, and with [] for the items of lists.
func placeOf(name string) string {
	parts := strings.Split(name, ".")
	if parts[0] == "a" && len(parts) > 2 {
		parts = parts[2:]
	} else if parts[0] == "f" && len(parts) > 1 {
		parts = parts[1:]
	}
	out := ""
	for _, p := range parts {
		if _, err := strconv.Atoi(p); err == nil {
			out += "[]"
			continue
		}
		if out != "" {
			out += "."
		}
		out += unescapedName(p)
	}
	return out
}

// Names of inputs are paths: what a path is made of is written otherwise within a name.
var (
	escapes   = strings.NewReplacer("~", "~0", ".", "~1", "#", "~2", "@", "~3")
	unescapes = strings.NewReplacer("~3", "@", "~2", "#", "~1", ".", "~0", "~")
)

func escapedName(name string) string   { return escapes.Replace(name) }
func unescapedName(name string) string { return unescapes.Replace(name) }

// isTime reports whether a text is a moment that an input for moments can show without losing anything of it.
func isTime(text string) bool {
	t, err := time.Parse("2006-01-02T15:04:05Z", text)
	return err == nil && t.Format("2006-01-02T15:04:05Z") == text
}
