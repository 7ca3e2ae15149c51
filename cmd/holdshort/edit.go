package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

type editCommand struct {
	deciding
	Fields []string `arg:"" optional:"" help:"field=value for each argument that changes."`
	Call   string   `placeholder:"ID" help:"Which call, if there are several; the others are approved as they are."`
	Args   string   `placeholder:"JSON" help:"The whole arguments, instead of single fields."`
}

func (editCommand) Help() string {
	return `Approves a call with other arguments. What changes is shown. Only fields that the rule lists may change; if the rules are stricter for the new arguments, more people are asked.

Examples:

    holdshort edit K7 amount=150
    holdshort edit K7 amount=150 reason="as agreed" -m "half of it"
    holdshort edit 3n1w --call call_2 subject="Your order"`
}

func (c *editCommand) Run(ctx context.Context, out *console) error {
	return c.decide(ctx, out, func(req client.Request) (client.Choice, error) {
		req, err := c.whole(ctx, out, req)
		if err != nil {
			return client.Choice{}, err
		}
		i, err := callOf(req, c.Call)
		if err != nil {
			return client.Choice{}, err
		}
		edited, err := c.edited(req.Actions[i].Args)
		if err != nil {
			return client.Choice{}, err
		}
		if !c.JSON {
			fmt.Fprintln(out, strings.Join(editDiff(req.Actions[i], edited), "\n"))
		}
		return editChoice(req, i, edited), nil
	})
}

// whole gives a request with the arguments that are redacted: what stays as it is must be sent as it is.
func (c *editCommand) whole(ctx context.Context, out *console, req client.Request) (client.Request, error) {
	if !redacts(req) {
		return req, nil
	}
	server, err := c.connect(out)
	if err != nil {
		return req, err
	}
	return server.Reveal(ctx, req.ID)
}

// editDiff shows what an edit changes, and still not what is redacted.
func editDiff(call holdshort.Action, edited json.RawMessage) []string {
	return diff(holdshort.Redact(call.Args, call.Redacted), holdshort.Redact(edited, call.Redacted))
}

// withheld reports whether arguments of a call are not shown.
func withheld(call holdshort.Action) bool {
	return len(call.Redacted) > 0 && bytes.Equal(holdshort.Redact(call.Args, call.Redacted), call.Args)
}

// redacts reports whether some of a request's arguments are not shown.
func redacts(req client.Request) bool {
	return slices.ContainsFunc(req.Actions, func(a holdshort.Action) bool { return len(a.Redacted) > 0 })
}

// callOf finds the call to edit.
func callOf(req client.Request, id string) (int, error) {
	need := slices.DeleteFunc(slices.Clone(req.Actions), func(a holdshort.Action) bool { return !a.NeedsApproval })
	if id == "" && len(need) == 1 {
		id = need[0].CallID
	}
	i := slices.IndexFunc(req.Actions, func(a holdshort.Action) bool { return a.CallID == id })
	switch {
	case len(need) == 0:
		return 0, &usageError{Message: "this request has no call to edit", Hint: "holdshort show says what it takes"}
	case id == "":
		return 0, &usageError{Message: "the request has several calls", Hint: "name one with --call; holdshort show lists them"}
	case i < 0:
		return 0, &usageError{Message: "there is no call " + id, Hint: "holdshort show lists the calls"}
	}
	return i, nil
}

// edited gives the arguments with what changes.
func (c *editCommand) edited(args json.RawMessage) (json.RawMessage, error) {
	if (c.Args == "") == (len(c.Fields) == 0) {
		return nil, &usageError{Message: "say what changes, once", Hint: "write field=value, or --args with a JSON object"}
	}
	if c.Args != "" {
		if !json.Valid([]byte(c.Args)) {
			return nil, &usageError{Message: "--args: this is no JSON", Hint: "check quotes and commas"}
		}
		return json.RawMessage(c.Args), nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(args, &all); err != nil || all == nil {
		return nil, &usageError{Message: "the arguments are no object", Hint: "use --args"}
	}
	for _, word := range c.Fields {
		name, value, found := strings.Cut(word, "=")
		if !found || name == "" {
			return nil, &usageError{Message: word + " names no field", Hint: "write field=value"}
		}
		all[name] = likeBefore(all[name], value)
	}
	return json.Marshal(all)
}

// likeBefore reads a value as JSON, unless a text stood there: a text stays one.
func likeBefore(before json.RawMessage, value string) json.RawMessage {
	if len(before) > 0 && before[0] == '"' {
		return text(value)
	}
	return anyValue(value)
}

// editChoice edits one call and approves the others as they are.
func editChoice(req client.Request, edited int, args json.RawMessage) client.Choice {
	choice := client.Choice{Action: holdshort.Edit}
	for i, a := range req.Actions {
		switch {
		case i == edited:
			choice.Calls = append(choice.Calls, holdshort.CallDecision{CallID: a.CallID, Action: holdshort.Edit, Args: args})
		case a.NeedsApproval:
			choice.Calls = append(choice.Calls, holdshort.CallDecision{CallID: a.CallID, Action: holdshort.Approve})
		}
	}
	return choice
}
