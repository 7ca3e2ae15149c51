package holdshort_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/holdshort/holdshort"
	"pgregory.net/rapid"
)

// decode reads JSON with the standard library, every number as it is written.
func decode(t interface{ Fatalf(string, ...any) }, raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %s: %v", raw, err)
	}
	return v
}

// sameValue compares decoded JSON; numbers by their exact decimal value.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(string(a), string(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameValue)
	}
	return a == b
}

func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	for _, s := range []string{a, b} { // an exact fraction of 10^(10^9) would take for ever
		if _, power, ok := strings.Cut(strings.ToLower(s), "e"); ok && len(strings.TrimLeft(power, "+-0")) > 4 {
			x, errX := strconv.ParseFloat(a, 64)
			y, errY := strconv.ParseFloat(b, 64)
			return errX == nil && errY == nil && x == y
		}
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

// reference is the canonical form by another road: decode with the standard library, sort by UTF-16 with the standard library, print
// numbers by ECMAScript's rules from encoding/json, which follows them but for the exponent's zeros.
func reference(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64)
		if f == 0 {
			return "0"
		}
		out, _ := json.Marshal(f)
		return string(out)
	case string:
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.Encode(v)
		s := strings.TrimSuffix(b.String(), "\n")
		return strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(s)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = reference(e)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		keys := slices.SortedFunc(maps.Keys(v), func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		for i, k := range keys {
			keys[i] = reference(k) + ":" + reference(v[k])
		}
		return "{" + strings.Join(keys, ",") + "}"
	}
	panic(fmt.Sprintf("%T", v))
}

var (
	anyText = rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("aé\u0000\n\"\\/\u2028\ud7ff\ue000\uffff😀\U0010ffff"))))

	anyNumber = rapid.Custom(func(t *rapid.T) json.Number {
		f := rapid.OneOf(
			rapid.Float64(),
			rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(i int64) float64 { return float64(i) }),
			rapid.Map(rapid.IntRange(-100000, 100000), func(i int) float64 { return float64(i) / 100 }),
			rapid.Map(rapid.Uint64(), math.Float64frombits),
		).Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }).Draw(t, "number")
		return json.Number(strconv.FormatFloat(f, 'e', -1, 64))
	})
)

func anyValue(depth int) *rapid.Generator[any] {
	scalar := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), anyText.AsAny(), anyNumber.AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(scalar...)
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return anyValue(depth - 1) })
	return rapid.OneOf(append(scalar,
		rapid.SliceOfN(inner, 0, 5).AsAny(),
		rapid.MapOfN(anyText, inner, 0, 6).AsAny())...)
}

// spell writes v as one of the many texts that mean it.
func spell(t *rapid.T, v any) string {
	gap := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r\n  "}).Draw(t, "gap") }
	switch v := v.(type) {
	case nil:
		return gap() + "null" + gap()
	case bool:
		return gap() + fmt.Sprint(v) + gap()
	case string:
		return gap() + spellText(t, v) + gap()
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64)
		format := rapid.SampledFrom([]byte("efE")).Draw(t, "format")
		s := strconv.FormatFloat(f, format, -1, 64)
		if whole, rest, ok := strings.Cut(s, "."); ok && format == 'f' && rapid.Bool().Draw(t, "zeros") {
			s = whole + "." + rest + "000"
		}
		return gap() + s + gap()
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = spell(t, e)
		}
		return gap() + "[" + strings.Join(parts, ",") + gap() + "]" + gap()
	case map[string]any:
		keys := rapid.Permutation(slices.Sorted(maps.Keys(v))).Draw(t, "order")
		for i, k := range keys {
			keys[i] = gap() + spellText(t, k) + gap() + ":" + spell(t, v[k])
		}
		return gap() + "{" + strings.Join(keys, ",") + gap() + "}" + gap()
	}
	panic(fmt.Sprintf("%T", v))
}

func spellText(t *rapid.T, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		short := strings.IndexRune("\b\f\n\r\t/\"\\", r)
		switch how := rapid.IntRange(0, 3).Draw(t, "escape"); {
		case short >= 0 && (how > 1 || r == '"' || r == '\\'):
			b.WriteString([]string{`\b`, `\f`, `\n`, `\r`, `\t`, `\/`, `\"`, `\\`}[short])
		case how == 0 || r < ' ':
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[how%2], unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func canonical(t *rapid.T, raw string) string {
	out, err := holdshort.Canonical([]byte(raw))
	if err != nil {
		t.Fatalf("canonical of %s: %v", raw, err)
	}
	return string(out)
}

func TestCanonicalSaysTheSameHoweverItIsSpelled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		one, two := spell(t, v), spell(t, v)
		got := canonical(t, one)
		if other := canonical(t, two); got != other {
			t.Fatalf("%s\nand %s\nbecame %s\nand %s", one, two, got, other)
		}
		if again := canonical(t, got); again != got {
			t.Fatalf("not idempotent: %s became %s", got, again)
		}
		if !sameValue(decode(t, []byte(one)), decode(t, []byte(got))) {
			t.Fatalf("%s became %s, which means something else", one, got)
		}
		if want := reference(v); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

// A hash that looked only at the outermost keys let nested arguments change unseen.
func TestCanonicalShowsEveryNestedDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner, other := anyValue(1).Draw(t, "value"), anyValue(1).Draw(t, "other value")
		if reference(inner) == reference(other) {
			t.Skip("the same value twice")
		}
		path := rapid.SliceOfN(anyText, 1, 6).Draw(t, "path")
		for _, key := range path {
			if rapid.Bool().Draw(t, "array") {
				inner, other = []any{key, inner}, []any{key, other}
			} else {
				inner, other = map[string]any{key: inner, key + "x": true}, map[string]any{key: other, key + "x": true}
			}
		}
		a, b := canonical(t, spell(t, inner)), canonical(t, spell(t, other))
		if a == b || holdshort.ArgsHash([]byte(a)) == holdshort.ArgsHash([]byte(b)) {
			t.Fatalf("two values, one canonical form: %s", a)
		}
	})
}

// Any decimal is accepted exactly if the shortest text of its double is the same number.
func TestCanonicalNumbersAreExactOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literal := rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "literal")
		f, err := strconv.ParseFloat(literal, 64)
		exact := err == nil && sameNumber(literal, strconv.FormatFloat(f, 'e', -1, 64))
		got, err := holdshort.Canonical([]byte(literal))
		if accepted := err == nil; accepted != exact {
			t.Fatalf("%s: got %s, %v; it survives a double: %v", literal, got, err, exact)
		}
		if exact && !sameNumber(literal, string(got)) {
			t.Fatalf("%s became %s", literal, got)
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{``, `null`, `{"b":[1.50,-0,1e2],"a":{"d":"\u0041\ud83d\ude00","c":null}}`, `{"a":1,"a":2}`, `[1e400]`, `"\ud800"`,
		`0.1000000000000000055`, `{"":{"":[{"":0}]}}`, "\"\xff\"", `[[[[[[`, `{"😀":1,"\ue000":2}`, `1E+2 `, `9007199254740993`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := holdshort.Canonical(raw)
		if err != nil {
			if code := holdshort.CodeOf(err); code != holdshort.NotCanonical && code != holdshort.TooLarge {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if !json.Valid(raw) || !json.Valid(got) {
			t.Fatalf("accepted %q as %q", raw, got)
		}
		again, err := holdshort.Canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not idempotent: %q became %q, %v", got, again, err)
		}
		if before, after := decode(t, raw), decode(t, got); !sameValue(before, after) {
			t.Fatalf("%q became %q, which means something else", raw, got)
		} else if want := reference(before); string(got) != want {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}
