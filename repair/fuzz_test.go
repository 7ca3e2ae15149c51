package repair

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

// sound holds a patch of any origin against what must be true of all.
func sound(t *testing.T, p Patch, err error, c call, text string) {
	t.Helper()
	if err != nil {
		if len(p.Set) != 0 {
			t.Fatalf("refused with %v, and sets %s", err, outcome(p, nil))
		}
		if holdshort.CodeOf(err) == holdshort.Internal {
			t.Fatalf("%q: an error without a code: %v", text, err)
		}
		return
	}
	if len(p.Set) == 0 || len(p.Set) > MaxFields {
		t.Fatalf("%q sets %d fields", text, len(p.Set))
	}
	args, err := holdshort.Canonical(c.Args)
	if err != nil {
		t.Fatal(err)
	}
	table := tableOf(c.Fault, args, c.Schema)
	for path, raw := range p.Set {
		fd := table.exact(path)
		if fd == nil {
			t.Fatalf("%q sets %s, which is no field", text, path)
		}
		if fd.takes(raw) != "" {
			t.Fatalf("%q sets %s to %s, which is not allowed", text, path, raw)
		}
		leaf := path[strings.LastIndexByte(path, '.')+1:]
		if fd != table.faulty && !strings.Contains(squash(text), squash(leaf)) && !strings.Contains(text, `\u`) {
			t.Fatalf("%q sets %s, which nobody named", text, path)
		}
	}
	after, err := p.Apply(c.Args)
	if err != nil {
		t.Fatalf("%q: apply: %v", text, err)
	}
	if len(Diff(c.Args, after)) == 0 {
		t.Fatalf("%q changes nothing", text)
	}
}

func FuzzRead(f *testing.F) {
	all := calls(f)
	names := slices.Sorted(maps.Keys(all))
	for i, r := range corpus(f) {
		at, _ := slices.BinarySearch(names, r.name)
		f.Add(r.text, uint8(at), []string{"", "square image", "Create a 1:1 sunset image", "not 1:1"}[i%4])
	}
	f.Fuzz(func(t *testing.T, text string, which uint8, said string) {
		c := all[names[int(which)%len(names)]]
		history := append(slices.Clone(c.History), Line{Role: "user", Text: said})
		p, err := Read(text, c.Fault, c.Args, c.Schema, history)
		sound(t, p, err, c, text)
		if err != nil {
			Again(err, Message(c.Fault, said, "he"), "pt")
		}
		if b := Prompt(c.Fault, c.Args, c.Schema, history, text); !json.Valid(b.Schema) || !json.Valid([]byte(b.User)) {
			t.Fatalf("%q: the brief is broken", text)
		}
	})
}

func FuzzFromModel(f *testing.F) {
	all := calls(f)
	names := slices.Sorted(maps.Keys(all))
	for i, answer := range []string{`{"set":{"aspect_ratio":"1:1"}}`, `{"unclear":"Which one?"}`, `{"set":{"count":5}}`, `{"set":{}}`, `{"set":{"size.width":5}}`, `{"set":{"a":1},"unclear":"x"}`, `[]`, `{"set":{"lines.1.sku":"A-2"}}`, "```json\n{}\n```"} {
		f.Add([]byte(answer), "use count", uint8(i))
	}
	f.Fuzz(func(t *testing.T, answer []byte, text string, which uint8) {
		c := all[names[int(which)%len(names)]]
		p, err := FromModel(answer, text, c.Fault, c.Args, c.Schema)
		sound(t, p, err, c, text)
	})
}

func FuzzApply(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,{"c":2}]}}`), "a.b.1.c", []byte(`3`))
	f.Add([]byte(`{"a.b":1}`), "a.b", []byte(`"x"`))
	f.Add([]byte(`{}`), "a[0]", []byte(`{}`))
	f.Fuzz(func(t *testing.T, args []byte, field string, value []byte) {
		p := Patch{Set: map[string]json.RawMessage{field: value}}
		after, err := p.Apply(args)
		Diff(args, after)
		if err != nil {
			return
		}
		if again, err := holdshort.Canonical(after); err != nil || string(again) != string(after) {
			t.Fatalf("%s is not canonical", after)
		}
		want, _ := holdshort.Canonical(value)
		if now, there := at(after, plainPath(field)); !there || string(now) != string(want) {
			t.Fatalf("%q in %s is %s, want %s", field, after, now, want)
		}
		twice, err := p.Apply(after)
		if err != nil || string(twice) != string(after) {
			t.Fatalf("applied twice it gives %s, %v", twice, err)
		}
	})
}

// FuzzSchema reads with schemas and faults that nobody checked.
func FuzzSchema(f *testing.F) {
	for _, c := range calls(f) {
		fault, _ := json.Marshal(c.Fault)
		f.Add("use 1:1", fault, []byte(c.Args), []byte(c.Schema))
	}
	f.Add("a=1", []byte(`{"field":"a"}`), []byte(`{"a":2}`), []byte(`{"$ref":"#"}`))
	f.Add("a=1", []byte(`{"field":"a"}`), []byte(`{"a":2}`), []byte(`{"properties":{"a":{"$ref":"#/properties/a"}}}`))
	f.Fuzz(func(t *testing.T, text string, fault, args, schema []byte) {
		var parsed tool.Fault
		if json.Unmarshal(fault, &parsed) != nil {
			return
		}
		p, err := Read(text, parsed, args, schema, []Line{{Role: "user", Text: text}})
		if err == nil && len(p.Set) == 0 {
			t.Fatalf("%q gives an empty patch", text)
		}
		Complete(parsed, args, schema)
		Message(parsed, text, "he")
		Prompt(parsed, args, schema, nil, text)
	})
}
