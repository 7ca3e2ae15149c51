package repair_test

import (
	"encoding/json"
	"fmt"

	"github.com/holdshort/holdshort/repair"
	"github.com/holdshort/holdshort/tool"
)

var (
	schema = json.RawMessage(`{"properties": {"prompt": {"type": "string"}, "aspect_ratio": {"enum": ["1:1", "16:9", "4:3"], "description": "1:1 (square), 16:9 (wide), 4:3"}}}`)
	args   = json.RawMessage(`{"prompt": "sunset", "aspect_ratio": "auto"}`)
)

func Example() {
	fault := repair.Complete(tool.Fault{Class: tool.Validation, Field: "aspect_ratio", Message: "unexpected value"}, args, schema)
	fmt.Println(repair.Message(fault, "Create a 1:1 sunset image", "en"))

	patch, err := repair.Read("use 1:1 please", fault, args, schema, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	better, err := patch.Apply(args)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, change := range repair.Diff(args, better) {
		fmt.Printf("%s: %s → %s\n", change.Field, change.Before, change.After)
	}
	// Output:
	// You asked: “Create a 1:1 sunset image”
	// That did not work: aspect_ratio cannot be auto.
	// It can be: 1:1, 16:9, 4:3
	// What should aspect_ratio be?
	// aspect_ratio: "auto" → "1:1"
}

func ExampleRead() {
	fault := tool.Fault{Class: tool.Validation, Field: "aspect_ratio"}
	history := []repair.Line{{Role: "user", Text: "a square picture of a sunset"}}
	for _, text := range []string{"4:3", "the second one", "fix it", "not 1:1", "1:1 or 4:3", "use 3:2", "perhaps 1:1"} {
		patch, err := repair.Read(text, fault, args, schema, history)
		if err != nil {
			fmt.Println(text, "→", repair.ReasonOf(err))
			continue
		}
		fmt.Println(text, "→", string(patch.Set["aspect_ratio"]))
	}
	// Output:
	// 4:3 → "4:3"
	// the second one → "16:9"
	// fix it → "1:1"
	// not 1:1 → unclear
	// 1:1 or 4:3 → several_values
	// use 3:2 → not_allowed
	// perhaps 1:1 → unclear
}
