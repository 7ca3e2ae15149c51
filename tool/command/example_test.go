package command_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/command"
)

func Example() {
	show, err := command.New("show", command.Config{Argv: []string{"printf", "%s|", "{text}", "--", "{text}"}, Effect: tool.Read})
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"two words; $(id)", "--help"} {
		args, _ := json.Marshal(map[string]string{"text": text})
		result, err := show.Call(context.Background(), tool.Call{Args: args})
		fmt.Println(string(result.Value), err)
	}
	// Output:
	// {"exit_code":0,"stdout":"two words; $(id)|--|two words; $(id)|"} <nil>
	//  text: it begins with a hyphen, so the program would take it for an option
}
