package openai

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/internal/wire"
)

// document is an answer, whole or one chunk of it: a chunk has delta where the whole has message.
type document struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        int     `json:"index"`
	Message      piece   `json:"message"`
	Delta        piece   `json:"delta"`
	FinishReason *string `json:"finish_reason"`
}

type piece struct {
	Content   content     `json:"content"`
	Refusal   *string     `json:"refusal"`
	ToolCalls []callPiece `json:"tool_calls"`
}

type callPiece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// content is a text, or a list of parts as some endpoints send it.
type content string

func (c *content) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
		var all strings.Builder
		for _, part := range parts {
			all.WriteString(part.Text)
		}
		*c = content(all.String())
		return nil
	}
	return json.Unmarshal(raw, (*string)(c))
}

// arguments are JSON in a text; some endpoints send the object itself.
type arguments string

func (a *arguments) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '{' {
		*a = arguments(raw)
		return nil
	}
	return json.Unmarshal(raw, (*string)(a))
}

// answer is what has come so far.
type answer struct {
	id, model string
	text      strings.Builder
	refused   bool
	drafts    []*draft
	byIndex   map[int]*draft
	finish    string
	usage     usage
}

type draft struct {
	id, name string
	args     strings.Builder
}

// whole reads an answer that came in one piece.
func (out *answer) whole(a *wire.Answer, say func(string)) error {
	var doc document
	if err := a.JSON(&doc); err != nil {
		return err
	}
	for i := range doc.Choices {
		doc.Choices[i].Delta = doc.Choices[i].Message
		// In a whole answer every entry is a call of its own, whatever number some endpoints give it.
		for k := range doc.Choices[i].Delta.ToolCalls {
			doc.Choices[i].Delta.ToolCalls[k].Index = new(k)
		}
	}
	if err := out.add(a, doc, say); err != nil {
		return err
	}
	if out.finish == "" {
		return &model.Error{Kind: model.Malformed, Message: "the answer has no choice that ended"}
	}
	return nil
}

// stream reads an answer that comes in chunks, until it says that it is done.
func (out *answer) stream(a *wire.Answer, say func(string)) error {
	events := a.Events()
	for {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			if out.finish == "" {
				return &model.Error{Kind: model.Truncated, Message: "the stream ended before the answer did"}
			}
			return nil // some endpoints leave out the last line
		}
		if err != nil {
			return err
		}
		if string(event.Data) == "[DONE]" {
			if out.finish == "" {
				return &model.Error{Kind: model.Truncated, Message: "the stream ended before the answer did"}
			}
			return nil
		}
		var doc document
		if json.Unmarshal(event.Data, &doc) != nil {
			return &model.Error{Kind: model.Malformed, Message: "an event of the stream is not the JSON of the protocol"}
		}
		if event.Name == "error" && len(doc.Error) == 0 {
			doc.Error = event.Data
		}
		if err := out.add(a, doc, say); err != nil {
			return err
		}
	}
}

func (out *answer) add(a *wire.Answer, doc document, say func(string)) error {
	if len(doc.Error) > 0 && string(doc.Error) != "null" {
		return wire.FaultOf(doc.Error).Error()
	}
	if doc.ID != "" {
		out.id = doc.ID
	}
	if doc.Model != "" {
		out.model = doc.Model
	}
	if doc.Usage != nil {
		out.usage = *doc.Usage
	}
	for _, c := range doc.Choices {
		if c.Index != 0 {
			continue // one was asked for
		}
		if c.Delta.Refusal != nil && *c.Delta.Refusal != "" {
			out.refused = true
			c.Delta.Content += content(*c.Delta.Refusal)
		}
		if err := a.Grow(len(c.Delta.Content)); err != nil {
			return err
		}
		if c.Delta.Content != "" {
			out.text.WriteString(string(c.Delta.Content))
			if say != nil {
				say(string(c.Delta.Content))
			}
		}
		for _, p := range c.Delta.ToolCalls {
			if err := out.addCall(a, p); err != nil {
				return err
			}
		}
		if c.FinishReason != nil && *c.FinishReason != "" {
			out.finish = *c.FinishReason
		}
	}
	return nil
}

func (out *answer) addCall(a *wire.Answer, p callPiece) error {
	if err := a.Grow(len(p.ID) + len(p.Function.Name) + len(p.Function.Arguments)); err != nil {
		return err
	}
	index := 0
	if p.Index != nil {
		index = *p.Index
	}
	d := out.byIndex[index]
	// Endpoints that number nothing, or everything zero, begin a new call by a new id.
	if d == nil || p.ID != "" && d.id != "" && p.ID != d.id && p.Function.Name != "" {
		if len(out.drafts) == wire.MaxCalls {
			return &model.Error{Kind: model.TooLarge, Message: "the answer has more calls than anybody wants"}
		}
		d = &draft{}
		out.drafts = append(out.drafts, d)
		if out.byIndex == nil {
			out.byIndex = map[int]*draft{}
		}
		out.byIndex[index] = d
	}
	if d.id == "" {
		d.id = p.ID
	}
	if p.Function.Name != d.name { // some repeat the whole name with every piece
		d.name += p.Function.Name
	}
	d.args.WriteString(string(p.Function.Arguments))
	return nil
}

func (out *answer) response(req model.Request, aliases *model.Aliases, prices model.Prices) model.Response {
	r := model.Response{Text: out.text.String(), Model: out.model}
	r.Usage = model.Usage{Input: wire.Count(out.usage.Prompt), Output: wire.Count(out.usage.Completion)}
	r.Usage.Cached = min(wire.Count(out.usage.Details.Cached), r.Usage.Input)
	r.Usage.Cost = prices.Of(r.Usage)
	switch {
	case out.refused || out.finish == "content_filter":
		r.Stop = model.StopRefused
		return r
	case out.finish == "length":
		r.Stop = model.StopLength // a call that was cut off could read as one without arguments: none is passed on
		return r
	}
	drafts := make([]wire.Draft, 0, len(out.drafts))
	for _, d := range out.drafts {
		drafts = append(drafts, wire.Draft{ID: d.id, Name: d.name, Args: d.args.String()})
	}
	r.Calls = wire.Calls(drafts, out.id, req, aliases)
	r.Stop = model.StopEnd
	if len(r.Calls) > 0 { // some endpoints say "stop" with calls
		r.Stop = model.StopCalls
	}
	return r
}
