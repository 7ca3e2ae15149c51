package main

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

type answerCommand struct {
	deciding
	Answer  []string `arg:"" help:"A text, the numbers or ids of options, field=value for each field of a form, or yes or no."`
	Respond bool     `help:"Be the tool: the answer becomes the result of the call, which is not made."`
}

func (answerCommand) Help() string {
	return `Answers a question: a text, a choice from a list by number or id, the fields of a form, or yes or no in the question's language.

Examples:

    holdshort answer K7 The discount ends on Monday
    holdshort answer 3n1w 2
    holdshort answer 3n1w weight_kg=14.5 carrier=post
    holdshort answer 3n1w '{"weight_kg": 14.5, "carrier": "post"}'`
}

func (c *answerCommand) Run(ctx context.Context, out *console) error {
	server, err := c.connect(out)
	if err != nil {
		return err
	}
	req, err := pick(ctx, server, c.Request)
	if err != nil {
		return err
	}
	if req.ExpectedInput == holdshort.YesNo && !c.Respond {
		decided, err := server.Reply(ctx, req.ID, strings.Join(c.Answer, " "))
		if err != nil {
			return err
		}
		return c.report(out, decided)
	}
	c.Request = string(req.ID)
	return c.decide(ctx, out, func(req client.Request) (client.Choice, error) { return answerTo(req, c.Answer, c.Respond) })
}

// answerTo makes words into what the request takes.
func answerTo(req client.Request, words []string, respond bool) (client.Choice, error) {
	if respond {
		return client.Choice{Action: holdshort.Respond, Value: anyValue(strings.Join(words, " "))}, nil
	}
	switch req.ExpectedInput {
	case holdshort.SingleChoice, holdshort.MultiChoice:
		ids, err := optionIDs(req.Options, words)
		return client.Choice{Action: holdshort.Select, OptionIDs: ids}, err
	case holdshort.Form:
		value, err := object(words)
		return client.Choice{Action: holdshort.Answer, Value: value}, err
	}
	return client.Choice{Action: holdshort.Answer, Value: text(strings.Join(words, " "))}, nil
}

// optionIDs reads options by id, or by their number in the list.
func optionIDs(options []holdshort.Option, words []string) ([]string, error) {
	var ids []string
	for _, word := range strings.FieldsFunc(strings.Join(words, " "), func(r rune) bool { return r == ' ' || r == ',' }) {
		i := slices.IndexFunc(options, func(o holdshort.Option) bool { return o.ID == word })
		if n, err := strconv.Atoi(word); i < 0 && err == nil {
			i = n - 1
		}
		if i < 0 || i >= len(options) {
			return nil, &usageError{Message: word + " is none of the options", Hint: "choose by number or id; holdshort show lists them"}
		}
		ids = append(ids, options[i].ID)
	}
	return ids, nil
}

// object reads one JSON object, or field=value for each field.
func object(words []string) (json.RawMessage, error) {
	if whole := strings.TrimSpace(strings.Join(words, " ")); strings.HasPrefix(whole, "{") {
		if !json.Valid([]byte(whole)) {
			return nil, &usageError{Message: "the answer is no JSON", Hint: "check quotes and commas"}
		}
		return json.RawMessage(whole), nil
	}
	fields := map[string]json.RawMessage{}
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if !found || name == "" {
			return nil, &usageError{Message: strconv.Quote(word) + " names no field", Hint: "write field=value, or one JSON object"}
		}
		fields[name] = anyValue(value)
	}
	return json.Marshal(fields)
}

// anyValue is JSON as it stands if it is JSON, else a text.
func anyValue(s string) json.RawMessage {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return text(s)
}
