package repair

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/tool"
)

const imageSchema = `{"type":"object","required":["prompt"],"properties":{
	"prompt":{"type":"string"},
	"aspect_ratio":{"type":"string","enum":["match_input_img","1:1","16:9","4:3"]},
	"resolution":{"type":"string","enum":["1K","2K","4K"],"x-aliases":{"4K":["print quality"]}}}}`

// TestWrongRatioIsPutRight is the whole way of one correction: the message refers to what was asked for, the reply gives the value, the value reaches the arguments.
func TestWrongRatioIsPutRight(t *testing.T) {
	args := json.RawMessage(`{"prompt":"sunset","aspect_ratio":"match_input_img"}`)
	fault := tool.Fault{Class: tool.Validation, Status: 422, Field: "aspect_ratio", Value: json.RawMessage(`"match_input_img"`),
		Allowed: []json.RawMessage{json.RawMessage(`"1:1"`), json.RawMessage(`"16:9"`), json.RawMessage(`"4:3"`)}, Message: "match_input_img needs an input image"}
	asked := "Create a 1:1 sunset image"
	message := Message(fault, asked, "en")
	for _, part := range []string{"1:1 sunset", "aspect_ratio", "match_input_img", "16:9"} {
		if !strings.Contains(message, part) {
			t.Errorf("the message lacks %q:\n%s", part, message)
		}
	}
	patch, err := Read("Use 1:1 ratio", fault, args, json.RawMessage(imageSchema), []Line{{"user", asked}, {"assistant", message}})
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(args)
	if err != nil || string(after) != `{"aspect_ratio":"1:1","prompt":"sunset"}` {
		t.Fatalf("the call gets %s, %v", after, err)
	}
	if changes := Diff(args, after); fmt.Sprintf("%s %s %s", changes[0].Field, changes[0].Before, changes[0].After) != `aspect_ratio "match_input_img" "1:1"` || len(changes) != 1 {
		t.Errorf("it is shown as %v", changes)
	}
}

// TestFixItOverTurns: the first correction is one turn, then another field fails, and "fix it" finds what the person had said about that one.
func TestFixItOverTurns(t *testing.T) {
	schema := json.RawMessage(imageSchema)
	history := []Line{{"user", "A 1:1 sunset in print quality"}}
	args := json.RawMessage(`{"prompt":"sunset","aspect_ratio":"match_input_img","resolution":"1K"}`)

	ratio := Complete(tool.Fault{Class: tool.Validation, Field: "aspect_ratio", Message: "not without an input image"}, args, schema)
	if string(ratio.Value) != `"match_input_img"` || len(ratio.Allowed) != 4 {
		t.Fatalf("the fault was completed to %s of %s", ratio.Value, ratio.Allowed)
	}
	patch, err := Read("fix it", ratio, args, schema, history)
	if err != nil {
		t.Fatal(err)
	}
	if args, err = patch.Apply(args); err != nil {
		t.Fatal(err)
	}
	history = append(history, Line{"assistant", Message(ratio, history[0].Text, "en")}, Line{"user", "fix it"})

	resolution := tool.Fault{Class: tool.Validation, Field: "resolution", Value: json.RawMessage(`"1K"`), Message: "too small for 1:1"}
	if patch, err = Read("Fix it", resolution, args, schema, history); err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(args)
	if err != nil || string(after) != `{"aspect_ratio":"1:1","prompt":"sunset","resolution":"4K"}` {
		t.Fatalf("the call gets %s, %v", after, err)
	}
	if _, err := Read("Fix it", resolution, args, schema, []Line{{"user", "A 1:1 sunset, very sharp"}}); ReasonOf(err) != NotSaid {
		t.Errorf("sharp is no name of a resolution, but it gives %v", err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	c := calls(t)["ratio"]
	history := []Line{{"user", "make it 1:1"}}
	for range MaxLines - 1 {
		history = append(history, Line{"assistant", "16:9?"})
	}
	if p, err := Read("fix it", c.Fault, c.Args, c.Schema, history); err != nil || string(p.Set["aspect_ratio"]) != `"1:1"` {
		t.Errorf("ten lines ago gives %s", outcome(p, err))
	}
	history = append(history, Line{"user", "thanks"})
	if p, err := Read("fix it", c.Fault, c.Args, c.Schema, history); ReasonOf(err) != NotSaid {
		t.Errorf("eleven lines ago gives %s", outcome(p, err))
	}
	for role, want := range map[string]string{"user": `aspect_ratio="1:1"`, "USER": `aspect_ratio="1:1"`, "assistant": "!not_said", "system": "!not_said", "": "!not_said", "not the user": "!not_said"} {
		p, err := Read("fix it", c.Fault, c.Args, c.Schema, []Line{{role, "make it 1:1"}})
		if got := outcome(p, err); got != want {
			t.Errorf("a line of %q gives %s, want %s", role, got, want)
		}
	}
}

func TestPartlyWrongArguments(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer","maximum":5},"b":{"type":"integer","maximum":5},"c":{"type":"object","required":["x"],"properties":{"x":{"type":"integer"},"y":{"$ref":"#/$defs/small"}}}},"$defs":{"small":{"type":"integer","maximum":5}}}`)
	args := json.RawMessage(`{"a":9,"b":9,"c":{"y":9}}`)
	for text, want := range map[string]string{"a=1": "a=1", "a=7": "!not_allowed", "a=1, b=2": "a=1;b=2", "a=1, b=8": "!not_allowed", "c.y=3": "c.y=3", "c.y=8": "!not_allowed", "y: 3": "c.y=3"} {
		p, err := Read(text, tool.Fault{Class: tool.Validation, Field: "a"}, args, schema, nil)
		if got := outcome(p, err); got != want {
			t.Errorf("%q gives %s, want %s", text, got, want)
		}
	}
}

func TestComplete(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"aspect_ratio":{"enum":["1:1","4:3"]},"on":{"type":"boolean"}}}`)
	args := json.RawMessage(`{"aspect_ratio":"x","on":"y"}`)
	f := Complete(tool.Fault{Field: "body.aspectRatio"}, args, schema)
	if f.Field != "aspect_ratio" || string(f.Value) != `"x"` || len(f.Allowed) != 2 {
		t.Errorf("completed to %+v", f)
	}
	if f := Complete(tool.Fault{Field: "on"}, args, schema); len(f.Allowed) != 2 || string(f.Allowed[0]) != "true" {
		t.Errorf("completed to %+v", f)
	}
	kept := tool.Fault{Field: "aspect_ratio", Value: json.RawMessage(`"z"`), Allowed: []json.RawMessage{json.RawMessage(`"4:3"`)}}
	if f := Complete(kept, args, schema); string(f.Value) != `"z"` || len(f.Allowed) != 1 {
		t.Errorf("what was there became %+v", f)
	}
	for _, field := range []string{"", "nothing", "a.b.c"} {
		if f := Complete(tool.Fault{Field: field}, args, schema); f.Field != field || f.Allowed != nil {
			t.Errorf("%q is completed to %+v", field, f)
		}
	}
}
