package tool

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what is taken over from the other side.
const (
	mostFaultMessage = 500  // runes
	mostFaultText    = 8000 // runes that are looked at
	mostAllowed      = 50
	mostErrorBody    = 256 << 10 // bytes that are looked at
)

// Classify says what an HTTP answer that is no success found wrong. 422, and 400 that names a field of the arguments, is Validation, with
// field, value and allowed values as far as the usual error bodies say so; it never gives nil.
func Classify(status int, body []byte, args json.RawMessage) *Fault {
	f := &Fault{Class: OtherFault, Status: status}
	found := readBody(body, args)
	f.Message = found.message
	switch {
	case status == http.StatusUnprocessableEntity, status == http.StatusBadRequest && found.field != "":
		f.Class, f.Field, f.Allowed = Validation, found.field, found.allowed
		if f.Field != "" {
			f.Value = valueAt(args, f.Field)
		}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		f.Class = Authentication
	case status == http.StatusNotFound, status == http.StatusGone:
		f.Class = NotFound
	case status == http.StatusTooManyRequests:
		f.Class = RateLimit
	case status >= 500:
		f.Class = ServerError
	}
	if f.Message == "" {
		f.Message = strings.ToLower(http.StatusText(status))
	}
	if f.Message == "" {
		f.Message = "status " + strconv.Itoa(status)
	}
	return f
}

// finding is what an error body says.
type finding struct {
	field   string
	message string
	allowed []json.RawMessage
}

func readBody(body []byte, args json.RawMessage) finding {
	if len(body) > mostErrorBody {
		body = body[:mostErrorBody]
	}
	known := fieldsOf(args)
	var found finding
	if tree, err := decodeNumbers(body); err == nil {
		found = readTree(tree, known)
	} else if text := bytes.TrimSpace(body); len(text) > 0 && text[0] != '<' && utf8.Valid(text) { // a page of HTML tells nobody anything
		found.message = string(text)
	}
	line, whole := plainText(found.message, mostFaultText)
	if found.field == "" {
		found.field = fieldInText(line, known)
	}
	if found.field != "" && len(found.allowed) == 0 {
		if found.allowed = allowedInText(line); !whole && len(found.allowed) > 0 {
			found.allowed = found.allowed[:len(found.allowed)-1] // that one may be cut in two
		}
	}
	found.message, _ = plainText(line, mostFaultMessage)
	found.allowed = typed(found.allowed, valueAt(args, found.field))
	if len(found.allowed) > mostAllowed {
		found.allowed = found.allowed[:mostAllowed]
	}
	return found
}

// plainText makes one line of what the other side wrote, and says whether that is all of it.
func plainText(s string, most int) (line string, whole bool) {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > most {
		return string([]rune(s)[:most-1]) + "…", false
	}
	return s, true
}

func decodeNumbers(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// valueAt gives the argument of that name, nil if there is none.
func valueAt(args json.RawMessage, field string) json.RawMessage {
	if field == "" {
		return nil
	}
	v, err := decodeNumbers(args)
	if err != nil {
		return nil
	}
	for _, step := range strings.Split(field, ".") {
		switch within := v.(type) {
		case map[string]any:
			next, ok := within[step]
			if !ok {
				return nil
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(within) {
				return nil
			}
			v = within[i]
		default:
			return nil
		}
	}
	raw, err := json.Marshal(v)
	if err != nil || len(raw) > 4096 {
		return nil
	}
	return raw
}
