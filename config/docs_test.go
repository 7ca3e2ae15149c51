package config

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// keyTable lists every key with what its struct says of it.
func keyTable() string {
	var b strings.Builder
	b.WriteString("| key | takes | is |\n| --- | --- | --- |\n")
	var walk func(t reflect.Type, path string)
	walk = func(t reflect.Type, path string) {
		for _, f := range fieldsOf(t) {
			inner := path + f.key
			kind, below, more := describeType(t.Field(f.index).Type)
			if len(f.enum) > 0 {
				kind = "`" + strings.Join(f.enum, "` `") + "`"
			}
			if bounds := f.limits(); bounds != "" && bounds != "write 0 or more" {
				kind += ", " + strings.TrimPrefix(bounds, "write ")
			}
			need := ""
			if f.needed {
				need = " **Needed.**"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s%s |\n", inner, kind, f.doc, need)
			if below != nil {
				walk(below, inner+more)
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
	return b.String()
}

func describeType(t reflect.Type) (kind string, below reflect.Type, more string) {
	if _, own := reflect.Zero(t).Interface().(schemed); own {
		return "duration", nil, ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describeType(t.Elem())
	case reflect.Interface:
		return "anything", nil, ""
	case reflect.Struct:
		return "keys", t, "."
	case reflect.Map:
		if t.Elem().Kind() == reflect.Struct {
			return "names", t.Elem(), ".NAME."
		}
		return "names", nil, ""
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return "list", t.Elem(), "[]."
		}
		return "list", nil, ""
	case reflect.Int:
		return "whole number", nil, ""
	case reflect.Float64:
		return "number", nil, ""
	case reflect.Bool:
		return "true or false", nil, ""
	}
	return "text", nil, ""
}

// The page names every key, in the words of the schema.
func TestDocsNameEveryKey(t *testing.T) {
	const file, begin, end = "../docs/configuration.md", "<!-- keys: written by go test ./config -update -->\n", "<!-- end of keys -->"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the table's marks are gone")
	}
	want := before + begin + keyTable() + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Error("the table of keys is not what the package reads: run go test ./config -update")
	}
}

// What the page shows as an example is one.
func TestDocsExampleIsRight(t *testing.T) {
	raw, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if _, err := Parse("example", []byte(example), env("OIDC_SECRET", "s")); !found || err != nil {
		t.Errorf("%v", err)
	}
}
