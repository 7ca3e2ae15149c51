package reply

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort/reply/internal/fold"
	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// textValue reads typed text as the value of a field. Nothing typed is not a value; "" in quotes is the empty string.
func (f *formReading) textValue(to *Field, text string) (json.RawMessage, Reason) {
	text = strings.TrimSpace(text)
	if blank(text) {
		return nil, MissingField
	}
	switch to.Type {
	case String, "":
		text, _ = quotedText(text)
		return quoteJSON(text), ""
	case Number, Integer:
		if canonical, ok := canonicalNumber(plainNumber(text), to.Type == Integer); ok {
			return json.RawMessage(canonical), ""
		}
	case Boolean:
		switch f.boolean(text) {
		case Yes:
			return json.RawMessage("true"), ""
		case No:
			return json.RawMessage("false"), ""
		}
	case Enum:
		if value, ok := enumValue(to.Enum, text); ok {
			return quoteJSON(value), ""
		}
	}
	return nil, WrongType
}

// boolean reads true and false, and yes and no as a yes_no question does.
func (f *formReading) boolean(text string) Verdict {
	a := foldAnswer(nil, text, f.hints)
	p := readPhrase(f.hints, a.words)
	v, _ := plainVerdict(a, p)
	switch string(a.words) {
	case "true":
		v = Yes
	case "false":
		v = No
	}
	weak := p.meaning&lexicon.Yes == 0 && p.meaning&lexicon.YesLetter != 0 || a.quoted
	if v == Yes && (a.no || a.unfinished || f.q.Actions && weak) || v == No && a.yes {
		return None
	}
	return v
}

// enumValue finds the value that was typed: as it is, else the only one that folds to the same words.
func enumValue(values []string, text string) (string, bool) {
	for _, value := range values {
		if value == text {
			return value, true
		}
	}
	words, _ := fold.Text(nil, text)
	found := ""
	for _, value := range values {
		if sameWords(words, value) {
			if found != "" {
				return "", false
			}
			found = value
		}
	}
	return found, found != ""
}

// plainNumber folds digits and signs to ASCII. Commas stay, and make the number unreadable: they group thousands in one
// country and begin the decimals in the next.
func plainNumber(text string) string {
	if len(text) > 64 {
		return ""
	}
	folded := strings.TrimSpace(string(fold.Append(nil, text)))
	folded = strings.Replace(folded, "٫", ".", 1)
	folded, negative := strings.CutPrefix(folded, "-")
	if !negative {
		folded = strings.TrimPrefix(folded, "+")
	}
	if folded == "" || strings.ContainsAny(folded, "e+-") { // a lone dash says "none", not zero
		return ""
	}
	folded = strings.TrimLeft(folded, "0")
	if folded == "" || folded[0] == '.' {
		folded = "0" + folded
	}
	if negative {
		folded = "-" + folded
	}
	return folded
}

// canonicalNumber gives a JSON number the spelling of RFC 8785, and refuses one that a double cannot hold as it is written.
func canonicalNumber(s string, integer bool) (string, bool) {
	if !json.Valid([]byte(s)) {
		return "", false
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return "", false
	}
	if integer && (v != math.Trunc(v) || math.Abs(v) > 1<<53) {
		return "", false
	}
	if v == 0 { // -0 too
		return "0", sameDecimal(s, "0")
	}
	form := byte('f')
	if abs := math.Abs(v); abs < 1e-6 || abs >= 1e21 {
		form = 'e'
	}
	out := strconv.FormatFloat(v, form, -1, 64)
	if form == 'e' {
		out = strings.Replace(out, "e-0", "e-", 1)
	}
	return out, sameDecimal(s, out)
}

// sameDecimal compares two JSON numbers as they are written, digit by digit.
func sameDecimal(a, b string) bool {
	negA, digitsA, expA := decimal(a)
	negB, digitsB, expB := decimal(b)
	return digitsA == digitsB && (digitsA == "" || negA == negB && expA == expB)
}

// decimal is a number as 0.digits times ten to the exp, without zeros at either end.
func decimal(s string) (negative bool, digits string, exp int) {
	s, negative = strings.CutPrefix(s, "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(s), "e")
	exp, _ = strconv.Atoi(power)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp += len(whole)
	digits = whole + fraction
	trimmed := strings.TrimLeft(digits, "0")
	exp -= len(digits) - len(trimmed)
	return negative, strings.TrimRight(trimmed, "0"), exp
}

// quoteJSON writes a JSON string as RFC 8785 does: only what must be escaped is.
func quoteJSON(s string) json.RawMessage {
	out := append(make([]byte, 0, len(s)+2), '"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c >= ' ':
			out = append(out, c)
		default:
			if at := strings.IndexByte("\b\t\n\f\r", c); at >= 0 {
				out = append(out, '\\', "btnfr"[at])
			} else {
				out = append(out, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			}
		}
	}
	return append(out, '"')
}
