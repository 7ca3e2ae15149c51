package holdshort_test

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

func TestCanonical(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"null", ` null `, `null`},
		{"true", "\ttrue\n", `true`},
		{"false", "\r\nfalse", `false`},
		{"empty object", `{ }`, `{}`},
		{"empty array", `[ ]`, `[]`},
		{"white space between tokens", "{ \"a\" : [ 1 , 2 ] }", `{"a":[1,2]}`},
		{"keys are sorted", `{"b":1,"a":2}`, `{"a":2,"b":1}`},
		{"nested keys are sorted", `{"z":{"b":1,"a":{"d":1,"c":2}},"y":[{"n":1,"m":2}]}`, `{"y":[{"m":2,"n":1}],"z":{"a":{"c":2,"d":1},"b":1}}`},
		{"a shorter key goes first", `{"aa":1,"a":2,"":3}`, `{"":3,"a":2,"aa":1}`},
		{"arrays keep their order", `[3,1,2]`, `[3,1,2]`},
		{"keys are sorted by what they mean", `{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
		{"keys are sorted by UTF-16", `{"\ue000":1,"😀":2,"z":3}`, `{"z":3,"😀":2,"` + "\ue000" + `":1}`},
		{"RFC 8785 literals, numbers and strings",
			`{"numbers":[333333333.3333333,1E30,4.50,2e-3,0.000000000000000000000000001],` +
				`"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"RFC 8785 sorting",
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
				`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign",` +
				`"😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`},
		{"control characters the short way", `"\u0008\u0009\u000a\u000c\u000d\u0000\u001F"`, `"\b\t\n\f\r\u0000\u001f"`},
		{"short escapes", `"\b\f\n\r\t\/\"\\"`, `"\b\f\n\r\t/\"\\"`},
		{"delete and line separators stand as they are", `"\u007f\u2028\u2029"`, "\"\u007f\u2028\u2029\""},
		{"surrogate pairs become one character", `"\uD83D\uDE00"`, `"😀"`},
		{"no Unicode normalisation", "[\"e\u0301\",\"\u00e9\"]", "[\"e\u0301\",\"\u00e9\"]"},
		{"a replacement character that was sent", `"\ufffd` + "\ufffd" + `"`, "\"\ufffd\ufffd\""},
		{"minus zero is zero", `[-0,-0.0,0e5,-0E-7,0.000]`, `[0,0,0,0,0]`},
		{"spellings of one number", `[100,1e2,1E+2,100.0,1000e-1,0.1e3]`, `[100,100,100,100,100,100]`},
		{"trailing zeros", `[1.10,1.0,-2.500]`, `[1.1,1,-2.5]`},
		{"fifteen digits and more", `[999999999999999,9007199254740991,9007199254740992,9007199254740994]`, `[999999999999999,9007199254740991,9007199254740992,9007199254740994]`},
		{"where exponents begin", `[1e20,1e21,0.000001,0.0000001,123e-20]`, `[100000000000000000000,1e+21,0.000001,1e-7,1.23e-18]`},
		{"an exponent with leading zeros", `1e0000000000000000000000000000002`, `100`},
		{"a long exponent that cancels out", `0.` + strings.Repeat("0", 400) + `1e402`, `10`},
		{"an integer that doubles have but print otherwise", `295147905179352830000`, `295147905179352830000`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := holdshort.Canonical([]byte(test.in))
			if err != nil || string(got) != test.want {
				t.Fatalf("got  %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

// The table of RFC 8785, appendix B.
func TestCanonicalNumbersOfTheRFC(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		f := math.Float64frombits(bits)
		for _, literal := range []string{want, strconv.FormatFloat(f, 'e', -1, 64), strconv.FormatFloat(f, 'f', -1, 64)} {
			if got, err := holdshort.Canonical([]byte(literal)); err != nil || string(got) != want {
				t.Errorf("%016x written %s: got %s, %v; want %s", bits, literal, got, err, want)
			}
		}
		if got, err := holdshort.CanonicalValue(f); err != nil || string(got) != want {
			t.Errorf("%016x as a value: got %s, %v; want %s", bits, got, err, want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, test := range []struct{ name, in, field string }{
		{"nothing", ``, ""},
		{"white space", " \n", ""},
		{"two values", `1 2`, ""},
		{"a value and a bracket", `{}]`, ""},
		{"a byte order mark", "\ufeff{}", ""},
		{"other white space", "\u00a0{}", ""},
		{"a comment", `{} // why`, ""},
		{"single quotes", `{'a':1}`, ""},
		{"a bare key", `{a:1}`, ""},
		{"a number as key", `{1:1}`, ""},
		{"a comma at the end of an object", `{"a":1,}`, ""},
		{"a comma at the end of an array", `[1,]`, "/1"},
		{"a comma at the start", `[,1]`, "/0"},
		{"no comma", `[1 2]`, ""},
		{"no colon", `{"a" 1}`, "/a"},
		{"no value", `{"a":}`, "/a"},
		{"an open object", `{"a":1`, ""},
		{"an open array", `[1`, ""},
		{"an open string", `"a`, ""},
		{"a string that ends in a backslash", `"a\`, ""},
		{"the wrong bracket", `[1}`, ""},
		{"upper-case words", `[True]`, "/0"},
		{"half a word", `nul`, ""},
		{"a word and more", `nullx`, ""},
		{"NaN", `NaN`, ""},
		{"Infinity", `[-Infinity]`, "/0"},

		{"a leading zero", `01`, ""},
		{"a leading plus", `+1`, ""},
		{"a minus alone", `-`, ""},
		{"a point at the end", `1.`, ""},
		{"a point at the start", `.5`, ""},
		{"an exponent without digits", `1e`, ""},
		{"an exponent with only a sign", `1e+`, ""},
		{"hexadecimal", `0x10`, ""},
		{"an underscore", `1_000`, ""},
		{"an integer that no double has", `{"id":12345678901234567890}`, "/id"},
		{"one above 2^53", `9007199254740993`, ""},
		{"an integer that a double has but prints shorter", `[1,{"n":295147905179352825856}]`, "/1/n"},
		{"a fraction with digits to spare", `0.1000000000000000055`, ""},
		{"the RFC's own sample number", `333333333.33333329`, ""},
		{"too large for a double", `1e400`, ""},
		{"too small for a double", `1e-400`, ""},
		{"below half of the smallest double", `2e-324`, ""},
		{"an absurd exponent", `1e99999999999999999999`, ""},
		{"an absurd negative exponent", `-1e-99999999999999999999`, ""},
		{"more digits than a double", `1.0000000000000000000000001`, ""},
		{"a spare digit far out", `1.` + strings.Repeat("0", 2000) + `1`, ""},

		{"a raw newline in a string", "\"a\nb\"", ""},
		{"a raw null byte", "\"\x00\"", ""},
		{"an unknown escape", `"\x41"`, ""},
		{"three hexadecimal digits", `"\u00g0"`, ""},
		{"a cut escape", `"\u00`, ""},
		{"half a pair, high", `{"a":["\ud83d"]}`, "/a/0"},
		{"half a pair, low", `"\ude00"`, ""},
		{"two highs", `"\ud83d\ud83d"`, ""},
		{"a high and a letter", `"\ud83dx"`, ""},
		{"a high and a newline", `"\ud83d\n"`, ""},
		{"a high and a cut escape", `"\ud83d\u`, ""},
		{"half a pair in a key", `{"\udc00":1}`, ""},
		{"invalid UTF-8", "\"\xff\"", ""},
		{"cut UTF-8", "\"\xe2\x82\"", ""},
		{"surrogates written as UTF-8", "\"\xed\xa0\x80\"", ""},
		{"overlong UTF-8", "\"\xc0\xaf\"", ""},
		{"invalid UTF-8 after an escape", "\"\\n\xff\"", ""},

		{"a key twice", `{"a":1,"a":1}`, "/a"},
		{"a key twice, apart", `{"a":1,"b":2,"c":3,"a":4}`, "/a"},
		{"a key twice, once escaped", `{"a":1,"\u0061":2}`, "/a"},
		{"a key twice, deep", `{"x":[0,{"k/~":1,"k/~":2}]}`, "/x/1/k~1~0"},
		{"the empty key twice", `{"":1,"":2}`, "/"},
		{"too deep, arrays", strings.Repeat("[", 129) + strings.Repeat("]", 129), strings.Repeat("/0", 128)},
		{"too deep, objects", strings.Repeat(`{"a":`, 129) + "1" + strings.Repeat("}", 129), strings.Repeat("/a", 128)},
		{"a long key in the pointer is cut at a character", `{"x` + strings.Repeat("é", 40) + `":nul}`, "/x" + strings.Repeat("é", 29) + "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := holdshort.Canonical([]byte(test.in))
			var e *holdshort.Error
			if !errors.As(err, &e) || e.Code != holdshort.NotCanonical {
				t.Fatalf("got %s, %v; want not_canonical", got, err)
			}
			if got != nil || e.Field != test.field || e.Message == "" || e.Hint == "" {
				t.Fatalf("got %q, field %q, message %q, hint %q; want field %q", got, e.Field, e.Message, e.Hint, test.field)
			}
		})
	}
}

func TestCanonicalLimits(t *testing.T) {
	filled := func(n int) []byte { return []byte(`"` + strings.Repeat("a", n-2) + `"`) }
	if _, err := holdshort.Canonical(filled(holdshort.MaxCanonical)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := holdshort.Canonical(filled(holdshort.MaxCanonical + 1)); !errors.Is(err, holdshort.TooLarge) || holdshort.HintOf(err) == "" {
		t.Errorf("over the limit: %v", err)
	}
	grows := "[" + strings.Repeat("1e20,", holdshort.MaxCanonical/10) + "1]"
	if _, err := holdshort.Canonical([]byte(grows)); !errors.Is(err, holdshort.TooLarge) {
		t.Errorf("grown over the limit: %v", err)
	}
	deep := strings.Repeat("[", holdshort.MaxCanonicalDepth) + strings.Repeat("]", holdshort.MaxCanonicalDepth)
	if got, err := holdshort.Canonical([]byte(deep)); err != nil || string(got) != deep {
		t.Errorf("as deep as it may be: %v", err)
	}
	wide := strings.Repeat(`{"a":[`, 3) + strings.Repeat(`]}`, 3)
	if _, err := holdshort.Canonical([]byte("[" + strings.Repeat(wide+",", 200) + wide + "]")); err != nil {
		t.Errorf("depth counts levels, not brackets: %v", err)
	}
}

func TestCanonicalLeavesItsInputAlone(t *testing.T) {
	in := []byte(`{"b":[1.50,"\u0041"],"a":{"d":1,"c":2}}`)
	before := string(in)
	out, err := holdshort.Canonical(in)
	if err != nil || string(in) != before {
		t.Fatalf("input became %s, %v", in, err)
	}
	clear(out)
	if string(in) != before {
		t.Fatal("the output shares memory with the input")
	}
}

func TestCanonicalValue(t *testing.T) {
	type args struct {
		Order  string   `json:"order"`
		Amount float64  `json:"amount"`
		Tags   []string `json:"tags"`
	}
	got, err := holdshort.CanonicalValue(args{Order: "<77> & \u2028", Amount: 120, Tags: nil})
	if want := `{"amount":120,"order":"<77> & ` + "\u2028" + `","tags":null}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	for name, v := range map[string]any{
		"NaN":                    math.NaN(),
		"infinity":               math.Inf(1),
		"a deep infinity":        map[string]any{"a": []float64{1, math.Inf(-1)}},
		"a large integer":        int64(math.MaxInt64),
		"a channel":              make(chan int),
		"a function":             func() {},
		"a failing marshaler":    json.RawMessage(`{"a":`),
		"duplicate keys in raw":  json.RawMessage(`{"a":1,"a":2}`),
		"a loop":                 loop(),
		"a number that is a lie": json.Number("1e400"),
	} {
		if got, err := holdshort.CanonicalValue(v); !errors.Is(err, holdshort.NotCanonical) || holdshort.HintOf(err) == "" {
			t.Errorf("%s: got %s, %v; want not_canonical", name, got, err)
		}
	}
}

func loop() any {
	m := map[string]any{}
	m["self"] = m
	return m
}

func TestCanonicalAllocations(t *testing.T) {
	in := []byte(`{"order":"77","customer":{"name":"Ana","city":"Porto"},"amount":120,"lines":[{"sku":"a","n":1},{"sku":"b","n":2}]}`)
	got := testing.AllocsPerRun(100, func() {
		if _, err := holdshort.Canonical(in); err != nil {
			t.Fatal(err)
		}
	})
	if got > 8 {
		t.Errorf("%v allocations for small arguments, want few", got)
	}
}

func BenchmarkCanonical(b *testing.B) {
	for name, in := range map[string]string{
		"canonical": `{"amount":120,"currency":"EUR","customer":{"city":"Porto","name":"Ana"},"order":"77"}`,
		"unsorted":  `{"order": "77", "customer": {"name": "Ana", "city": "Porto"}, "currency": "EUR", "amount": 120.50}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := holdshort.Canonical([]byte(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
