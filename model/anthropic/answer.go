package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/internal/wire"
)

// document is a whole answer.
type document struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	Model      string          `json:"model"`
	Content    []block         `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      usage           `json:"usage"`
	Error      json.RawMessage `json:"error"`
}

// block is one part of an answer. Of kinds that are not known here nothing is kept.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"` // of reasoning that nobody may read
}

// usage counts input that was read from or written to the cache apart from other input. A stream repeats the counts that it corrects.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	Output     *int64 `json:"output_tokens"`
}

func (u *usage) update(by usage) {
	for _, field := range []struct{ have, now **int64 }{{&u.Input, &by.Input}, {&u.CacheWrite, &by.CacheWrite}, {&u.CacheRead, &by.CacheRead}, {&u.Output, &by.Output}} {
		if *field.now != nil {
			*field.have = *field.now
		}
	}
}

func (u usage) total() model.Usage {
	count := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return wire.Count(*n)
	}
	return model.Usage{Input: count(u.Input) + count(u.CacheWrite) + count(u.CacheRead), Cached: count(u.CacheRead), Output: count(u.Output)}
}

// answer is what has come so far.
type answer struct {
	id, model string
	parts     []*part
	byIndex   map[int]*part
	stop      string
	usage     usage
}

// part is a block as it grows.
type part struct {
	block
	grown  strings.Builder // text, arguments or reasoning
	signed strings.Builder
	open   bool
}

// whole reads an answer that came in one piece.
func (out *answer) whole(a *wire.Answer, say func(string)) error {
	var doc document
	if err := a.JSON(&doc); err != nil {
		return err
	}
	if doc.Type == "error" {
		return wire.FaultOf(doc.Error).Error()
	}
	if doc.Type != "message" || doc.StopReason == "" {
		return malformed("the answer is no message that ended")
	}
	out.id, out.model, out.stop, out.usage = doc.ID, doc.Model, doc.StopReason, doc.Usage
	if len(doc.Content) > wire.MaxCalls {
		return tooMany()
	}
	for _, b := range doc.Content {
		p := &part{block: b}
		switch b.Type {
		case "text":
			p.grown.WriteString(b.Text)
			if say != nil && b.Text != "" {
				say(b.Text)
			}
		case "tool_use":
			if string(b.Input) != "null" {
				p.grown.Write(b.Input)
			}
		case "thinking":
			p.grown.WriteString(b.Thinking)
			p.signed.WriteString(b.Signature)
		}
		out.parts = append(out.parts, p)
	}
	return nil
}

func (out *answer) response(req model.Request, aliases *model.Aliases, prices model.Prices) model.Response {
	var text strings.Builder
	var drafts []wire.Draft
	for _, p := range out.parts {
		switch p.Type {
		case "text":
			text.WriteString(p.grown.String())
		case "tool_use":
			drafts = append(drafts, wire.Draft{ID: p.ID, Name: p.Name, Args: p.grown.String()})
		}
	}
	r := model.Response{Text: text.String(), Model: out.model, Usage: out.usage.total()}
	r.Usage.Cost = prices.Of(r.Usage)
	switch out.stop {
	case "max_tokens", "model_context_window_exceeded":
		r.Stop = model.StopLength // a call that was cut off could read as one without arguments: none is passed on
		return r
	case "refusal":
		r.Stop = model.StopRefused
		return r
	}
	r.Stop = model.StopEnd
	if r.Calls = wire.Calls(drafts, out.id, req, aliases); len(r.Calls) > 0 {
		r.Stop = model.StopCalls
	}
	r.Echo = out.echo(r.Calls)
	return r
}

// echo remembers the order of the blocks, if there is reasoning among them.
func (out *answer) echo(calls []model.Call) json.RawMessage {
	var blocks []echo
	for _, p := range out.parts {
		switch p.Type {
		case "text":
			blocks = append(blocks, echo{Text: p.grown.String()})
		case "tool_use":
			blocks = append(blocks, echo{Call: calls[0].ID})
			calls = calls[1:]
		case "thinking", "redacted_thinking":
			if raw, err := p.thinking(); err == nil {
				blocks = append(blocks, echo{Thinking: raw})
			}
		}
	}
	return echoOf(blocks)
}

func (p *part) thinking() (json.RawMessage, error) {
	if p.Type == "redacted_thinking" {
		return json.Marshal(struct {
			Type string `json:"type"`
			Data string `json:"data"`
		}{p.Type, p.Data})
	}
	return json.Marshal(struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}{p.Type, p.grown.String(), p.signed.String()})
}

func malformed(message string) error {
	return &model.Error{Kind: model.Malformed, Message: message}
}

func tooMany() error {
	return &model.Error{Kind: model.TooLarge, Message: "the answer has more parts than anybody wants"}
}
