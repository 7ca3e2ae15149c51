package holdshort

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MaxCanonical is the size limit of a canonical value, and of what Canonical reads, in bytes.
	MaxCanonical = 1 << 20
	// MaxCanonicalDepth is how deep arrays and objects may nest.
	MaxCanonicalDepth = 128
)

// Canonical gives the one way to write a JSON value (RFC 8785): no white space, members sorted by UTF-16 code units, numbers and strings as
// ECMAScript writes them. Two texts have the same canonical form exactly if they say the same, so that its hash stands for the value.
//
// It refuses with NotCanonical what could mean two things or would lose something: duplicate keys, lone surrogates, invalid UTF-8, numbers
// that are not exactly what a double would print, anything that is not one JSON value; and with TooLarge what is over MaxCanonical. The
// error's Field is the JSON pointer of the place.
func Canonical(raw []byte) ([]byte, error) {
	if len(raw) > MaxCanonical {
		return nil, tooLarge()
	}
	var room [16]member // enough for most arguments
	w := canonicalWriter{in: raw, out: make([]byte, 0, len(raw)), members: room[:0]}
	if err := w.document(); err != nil {
		return nil, err // a typed nil must not become an error
	}
	if len(w.out) > MaxCanonical { // 1e20 grows; what comes out must go in again
		return nil, tooLarge()
	}
	return w.out, nil
}

// CanonicalValue writes v as encoding/json does and gives the canonical form of that. NaN, the infinities, integers beyond a double and
// what encoding/json cannot write are NotCanonical. Strings must be valid UTF-8: encoding/json replaces what is not.
func CanonicalValue(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, &Error{Code: NotCanonical, Message: "the value cannot be written as JSON", Hint: "use finite numbers, strings, lists and objects", Err: err}
	}
	return Canonical(raw)
}

func tooLarge() error {
	return &Error{Code: TooLarge, Message: "the JSON value is over " + strconv.Itoa(MaxCanonical>>10) + " KiB",
		Hint: "send a reference to large data instead of the data"}
}

// canonicalWriter reads in and writes out in one pass. Members of an object are written as they come and put in order at its end, which
// costs nothing when they came in order.
type canonicalWriter struct {
	in      []byte
	at      int
	out     []byte
	depth   int
	members []member // of all objects under way, the innermost last
	scratch []byte
}

// member is one `"key":value` of an object: its key as people mean it, and where it stands in out.
type member struct {
	key        []byte
	start, end int
}

func (w *canonicalWriter) document() *Error {
	if err := w.value(); err != nil {
		return err
	}
	w.space()
	if w.at < len(w.in) {
		return w.refuse("something follows the JSON value", "send one JSON value and nothing after it")
	}
	return nil
}

func (w *canonicalWriter) value() *Error {
	w.space()
	if w.at == len(w.in) {
		return w.refuse("a JSON value is missing or cut off", "send one whole JSON value")
	}
	switch c := w.in[w.at]; {
	case c == '{' || c == '[':
		return w.nested(c)
	case c == '"':
		_, err := w.stringInto(false)
		return err
	case c == '-' || c >= '0' && c <= '9':
		return w.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if rest := w.in[w.at:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			w.at += len(word)
			w.out = append(w.out, word...)
			return nil
		}
	}
	return w.refuse("not a JSON value", "strings and keys need double quotes; the words are true, false and null")
}

func (w *canonicalWriter) nested(opening byte) (err *Error) {
	if w.depth++; w.depth > MaxCanonicalDepth {
		return w.refuse("nested deeper than "+strconv.Itoa(MaxCanonicalDepth)+" levels", "flatten the value")
	}
	w.at++
	w.out = append(w.out, opening)
	if opening == '{' {
		err = w.object()
	} else {
		err = w.array()
	}
	w.depth--
	return err
}

func (w *canonicalWriter) array() *Error {
	for i := 0; ; i++ {
		if done, err := w.separator(']', i == 0); err != nil {
			return err
		} else if done {
			return nil
		}
		if err := w.value(); err != nil {
			return err.under(strconv.Itoa(i))
		}
	}
}

func (w *canonicalWriter) object() *Error {
	start, base, sorted := len(w.out), len(w.members), true
	for i := 0; ; i++ {
		if done, err := w.separator('}', i == 0); err != nil {
			return err
		} else if done {
			break
		}
		m := member{start: len(w.out)}
		if w.space(); w.at == len(w.in) || w.in[w.at] != '"' {
			return w.refuse("a key in double quotes is missing", "write objects as {\"key\": value}, without a comma at the end")
		}
		var err *Error
		if m.key, err = w.stringInto(true); err != nil {
			return err
		}
		if w.space(); w.at == len(w.in) || w.in[w.at] != ':' {
			return w.refuse("a colon is missing after a key", "write objects as {\"key\": value}").under(string(m.key))
		}
		w.at++
		w.out = append(w.out, ':')
		if err := w.value(); err != nil {
			return err.under(string(m.key))
		}
		m.end = len(w.out)
		if i > 0 && compareUTF16(w.members[len(w.members)-1].key, m.key) >= 0 {
			sorted = false
		}
		w.members = append(w.members, m)
	}
	if !sorted {
		if err := w.sort(start, w.members[base:]); err != nil {
			return err
		}
	}
	w.members = w.members[:base]
	return nil
}

// separator reads what stands between elements and reports whether it was the end.
func (w *canonicalWriter) separator(end byte, first bool) (done bool, err *Error) {
	w.space()
	switch {
	case w.at < len(w.in) && w.in[w.at] == end:
		w.at++
		w.out = append(w.out, end)
		return true, nil
	case first:
		return false, nil
	case w.at < len(w.in) && w.in[w.at] == ',':
		w.at++
		w.out = append(w.out, ',')
		return false, nil
	}
	return false, w.refuse("a comma or "+string(end)+" is missing", "send one whole JSON value")
}

// sort puts the members that fill out from start up to its closing brace in order.
func (w *canonicalWriter) sort(start int, members []member) *Error {
	slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.key, b.key) })
	w.scratch = slices.Grow(w.scratch[:0], len(w.out)-start)
	for i, m := range members {
		if i > 0 {
			if string(members[i-1].key) == string(m.key) {
				return w.refuse("an object has this key twice", "keep one of them: readers disagree about which one counts").under(string(m.key))
			}
			w.scratch = append(w.scratch, ',')
		}
		w.scratch = append(w.scratch, w.out[m.start:m.end]...)
	}
	copy(w.out[start:], w.scratch)
	return nil
}

func (w *canonicalWriter) space() {
	for w.at < len(w.in) {
		switch w.in[w.at] {
		case ' ', '\t', '\n', '\r':
			w.at++
		default:
			return
		}
	}
}

// refuse names no part of the input: arguments do not belong in messages and logs. The pointer grows on the way out.
func (w *canonicalWriter) refuse(message, hint string) *Error {
	return &Error{Code: NotCanonical, Message: message, Hint: hint}
}

// under puts a step in front of the JSON pointer in Field.
func (e *Error) under(step string) *Error {
	const most = 60
	if len(step) > most {
		end := most
		for !utf8.RuneStart(step[end]) {
			end--
		}
		step = step[:end] + "…"
	}
	e.Field = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step) + e.Field
	return e
}

// compareUTF16 orders by UTF-16 code units. That is the order of UTF-8 bytes, except that the surrogates of what lies beyond the basic
// plane sort before U+E000.
func compareUTF16(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// Lead bytes from 0xF0 are beyond the basic plane; 0xEE and 0xEF are U+E000 and up. Equal lead bytes decide later, as bytes do.
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			return int(y) - int(x)
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}
