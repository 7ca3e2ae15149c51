package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClassify(t *testing.T) {
	const args = `{"aspect_ratio":"2:1","model":"big","n":7,"user":{"name":"ana","tags":["a","b"]},"size":3,"fast":"yes","items":[{"sku":"x"}]}`
	tests := []struct {
		name    string
		status  int
		body    string
		class   Class
		field   string
		value   string
		allowed string
		message string
	}{
		{"FastAPI", 422, `{"detail":[{"type":"enum","loc":["body","aspect_ratio"],"msg":"Input should be '1:1', '16:9' or '9:16'","input":"2:1","ctx":{"expected":"'1:1', '16:9' or '9:16'"}}]}`,
			Validation, "aspect_ratio", `"2:1"`, `"1:1" "16:9" "9:16"`, "Input should be '1:1', '16:9' or '9:16'"},
		{"FastAPI, a list of values", 422, `{"detail":[{"loc":["body","n"],"msg":"unexpected value","ctx":{"enum_values":[1,2,4]}}]}`, Validation, "n", "7", "1 2 4", "unexpected value"},
		{"FastAPI, within", 422, `{"detail":[{"loc":["body","user","name"],"msg":"too short"}]}`, Validation, "user.name", `"ana"`, "", "too short"},
		{"FastAPI, an item", 422, `{"detail":[{"loc":["body","items",0,"sku"],"msg":"unknown"}]}`, Validation, "items", `[{"sku":"x"}]`, "", "unknown"},
		{"FastAPI, several", 422, `{"detail":[{"loc":["header","x-key"],"msg":"missing"},{"loc":["body","n"],"msg":"too many"}]}`, Validation, "n", "7", "", "too many"},
		{"Laravel", 422, `{"message":"The given data was invalid.","errors":{"size":["The size must be one of: 1, 2, 4."]}}`, Validation, "size", "3", "1 2 4", "The size must be one of: 1, 2, 4."},
		{"errors as texts", 422, `{"errors":{"size":"is too big"}}`, Validation, "size", "3", "", "is too big"},
		{"RFC 9457", 422, `{"type":"https://a.example/invalid","title":"Your request is not valid.","errors":[{"detail":"must be a positive integer","pointer":"#/n"},{"detail":"must be 'green', 'red' or 'blue'","pointer":"#/user/name"}]}`,
			Validation, "n", "7", "", "must be a positive integer"},
		{"RFC 7807 with invalid-params", 400, `{"title":"no","invalid-params":[{"name":"size","reason":"must be one of 1, 2"}]}`, Validation, "size", "3", "1 2", "must be one of 1, 2"},
		{"OpenAI", 400, `{"error":{"message":"Invalid value: 'big'. Supported values are: 'small', 'large'.","type":"invalid_request_error","param":"model","code":"invalid_value"}}`,
			Validation, "model", `"big"`, `"small" "large"`, "Invalid value: 'big'. Supported values are: 'small', 'large'."},
		{"JSON:API", 422, `{"errors":[{"status":"422","source":{"pointer":"/data/attributes/size"},"title":"Invalid","detail":"size must be less than 3"}]}`, Validation, "size", "3", "", "size must be less than 3"},
		{"Django", 400, `{"model":["\"big\" is not a valid choice."]}`, Validation, "model", `"big"`, "", `"big" is not a valid choice.`},
		{"Ajv", 400, `{"errors":[{"instancePath":"/model","keyword":"enum","params":{"allowedValues":["small","large"]},"message":"must be equal to one of the allowed values"}]}`,
			Validation, "model", `"big"`, `"small" "large"`, "must be equal to one of the allowed values"},
		{"zod", 400, `{"error":{"issues":[{"code":"invalid_enum_value","options":["small","large"],"path":["model"],"message":"Invalid enum value. Expected 'small' | 'large', received 'big'"}]}}`,
			Validation, "model", `"big"`, `"small" "large"`, "Invalid enum value. Expected 'small' | 'large', received 'big'"},
		{"a sentence", 400, `model must be one of: small, medium or large`, Validation, "model", `"big"`, `"small" "medium" "large"`, "model must be one of: small, medium or large"},
		{"a sentence in quotes", 422, `{"error":"invalid 'aspect_ratio': allowed values are [1:1, 16:9]"}`, Validation, "aspect_ratio", `"2:1"`, `"1:1" "16:9"`, "invalid 'aspect_ratio': allowed values are [1:1, 16:9]"},
		{"booleans", 422, `{"errors":{"fast":"must be one of true, false"}}`, Validation, "fast", `"yes"`, `"true" "false"`, "must be one of true, false"},
		{"a name at the beginning", 400, `{"message":"size: must be at most 2"}`, Validation, "size", "3", "", "size: must be at most 2"},
		{"422 that names nothing", 422, `{"message":"no"}`, Validation, "", "", "", "no"},
		{"422 that says nothing", 422, ``, Validation, "", "", "", "unprocessable entity"},
		{"400 that names nothing", 400, `{"message":"bad"}`, OtherFault, "", "", "", "bad"},
		{"400 that names what nobody sent", 400, `{"error":{"message":"bad","param":"colour"}}`, OtherFault, "", "", "", "bad"},
		{"two names are none", 400, `'model' and 'size' do not fit together`, OtherFault, "", "", "", "'model' and 'size' do not fit together"},
		{"part of a word is no name", 400, `resize must be done first`, OtherFault, "", "", "", "resize must be done first"},
		{"401", 401, `{"message":"who?"}`, Authentication, "", "", "", "who?"},
		{"403", 403, `{"errors":{"size":["no"]}}`, Authentication, "", "", "", "no"},
		{"404", 404, `<html>nope</html>`, NotFound, "", "", "", "not found"},
		{"410", 410, ``, NotFound, "", "", "", "gone"},
		{"429", 429, `{"error":"slow down"}`, RateLimit, "", "", "", "slow down"},
		{"500", 500, `boom`, ServerError, "", "", "", "boom"},
		{"503", 503, ``, ServerError, "", "", "", "service unavailable"},
		{"409", 409, `{"detail":"already there"}`, OtherFault, "", "", "", "already there"},
		{"an unknown status", 499, ``, OtherFault, "", "", "", "status 499"},
		{"what is no text", 422, "\xff\x00\x01", Validation, "", "", "", "unprocessable entity"},
		{"control characters", 422, "{\"message\":\"a\\u001b[31m\\u202eb\\r\\nc\"}", Validation, "", "", "", "a[31mb c"},
	}
	for _, tt := range tests {
		f := Classify(tt.status, []byte(tt.body), json.RawMessage(args))
		var allowed []string
		for _, v := range f.Allowed {
			allowed = append(allowed, string(v))
		}
		if f.Class != tt.class || f.Status != tt.status || f.Field != tt.field || string(f.Value) != tt.value || strings.Join(allowed, " ") != tt.allowed || f.Message != tt.message {
			t.Errorf("%s: %+v, value %s, allowed %s", tt.name, *f, f.Value, f.Allowed)
		}
	}
}

// Whatever an error body holds: a fault that can be stored and shown, of bounded size, whose field is one of the arguments.
func TestClassifyIsBounded(t *testing.T) {
	args := json.RawMessage(`{"a":1,"b":{"c":"d"}}`)
	words := rapid.SampledFrom([]string{`{`, `}`, `[`, `]`, `"`, `:`, `,`, `"detail"`, `"errors"`, `"loc"`, `"a"`, `"b.c"`, `"msg"`, `must be one of`, `1`, `null`, `'x'`, ` or `, `"pointer"`, `"#/b/c"`, "\xff", "\n"})
	rapid.Check(t, func(r *rapid.T) {
		body := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.SliceOfN(words, 0, 30), func(s []string) []byte { return []byte(strings.Join(s, "")) })).Draw(r, "body")
		f := Classify(rapid.IntRange(100, 599).Draw(r, "status"), body, args)
		if f.Message == "" || utf8.RuneCountInString(f.Message) > mostFaultMessage || !utf8.ValidString(f.Message) || len(f.Allowed) > mostAllowed {
			r.Fatalf("%q: %+v", body, f)
		}
		if f.Field != "" && f.Field != "a" && f.Field != "b" && f.Field != "b.c" {
			r.Fatalf("%q names %q", body, f.Field)
		}
		if _, err := json.Marshal(f); err != nil {
			r.Fatalf("%q: %v", body, err)
		}
	})
	huge := `{"errors":{"a":["` + strings.Repeat("must be one of 1, 2, ", 100000) + `"]}}`
	if f := Classify(422, []byte(huge), args); utf8.RuneCountInString(f.Message) > mostFaultMessage {
		t.Errorf("a long body gives a message of %d bytes", len(f.Message))
	}
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprint(i))
	}
	if f := Classify(422, []byte(`{"detail":[{"loc":["a"],"msg":"no","ctx":{"enum_values":[`+strings.Join(many, ",")+`]}}]}`), args); len(f.Allowed) != mostAllowed {
		t.Errorf("%d values are kept", len(f.Allowed))
	}
	// However long the sentence is, no value is cut in two.
	for n := 10; n < 3000; n = n*3/2 + 1 {
		body := `{"errors":{"a":"must be one of: value-0`
		for i := 1; i < n; i++ {
			body += fmt.Sprintf(", value-%d", i)
		}
		f := Classify(422, []byte(body+`."}}`), args)
		for i, v := range f.Allowed {
			if want := fmt.Sprintf(`"value-%d"`, i); string(v) != want {
				t.Fatalf("%d values: %s is none of them", n, v)
			}
		}
		if len(f.Allowed) < min(n, mostAllowed)-1 {
			t.Errorf("%d values give %d", n, len(f.Allowed))
		}
	}
	deep := strings.Repeat(`{"error":`, 5000) + `1` + strings.Repeat(`}`, 5000)
	if f := Classify(400, []byte(deep), args); f.Class != OtherFault {
		t.Errorf("a deep body gives %+v", f)
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(422, []byte(`{"detail":[{"loc":["body","a"],"msg":"must be one of: x, y"}]}`), []byte(`{"a":1}`))
	f.Add(400, []byte(`{"errors":{"a":["no"]}}`), []byte(`{"a":[{"b":2}]}`))
	f.Add(500, []byte("\xff"), []byte(`{`))
	f.Fuzz(func(t *testing.T, status int, body, args []byte) {
		fault := Classify(status, body, args)
		if fault == nil || fault.Message == "" {
			t.Errorf("%d %q: %+v", status, body, fault)
		}
	})
}
