package anthropic

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/internal/wire"
)

// event is one event of a stream.
type event struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      document        `json:"message"`
	ContentBlock block           `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        usage           `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

type delta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	PartialJSON string `json:"partial_json"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	StopReason  string `json:"stop_reason"`
}

// stream reads events until the message has ended. Kinds of events that are not known here are passed over, as the protocol asks.
func (out *answer) stream(a *wire.Answer, say func(string)) error {
	events := a.Events()
	for {
		raw, err := events.Next()
		if errors.Is(err, io.EOF) {
			return &model.Error{Kind: model.Truncated, Message: "the stream ended before the answer did"}
		}
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(raw.Data, &e) != nil {
			return malformed("an event of the stream is not the JSON of the protocol")
		}
		switch e.Type {
		case "message_start":
			out.id, out.model = e.Message.ID, e.Message.Model
			out.usage.update(e.Message.Usage)
		case "content_block_start":
			err = out.begin(a, e, say)
		case "content_block_delta":
			err = out.grow(a, e, say)
		case "content_block_stop":
			if p := out.byIndex[e.Index]; p != nil {
				p.open = false
			}
		case "message_delta":
			if e.Delta.StopReason != "" {
				out.stop = e.Delta.StopReason
			}
			out.usage.update(e.Usage)
		case "message_stop":
			return out.ended()
		case "error":
			err = wire.FaultOf(e.Error).Error()
		}
		if err != nil {
			return err
		}
	}
}

func (out *answer) begin(a *wire.Answer, e event, say func(string)) error {
	if len(out.parts) == wire.MaxCalls {
		return tooMany()
	}
	if out.byIndex[e.Index] != nil {
		return malformed("a block of the answer begins twice")
	}
	p := &part{block: e.ContentBlock, open: true}
	if out.byIndex == nil {
		out.byIndex = map[int]*part{}
	}
	out.byIndex[e.Index] = p
	out.parts = append(out.parts, p)
	if err := a.Grow(len(p.ID) + len(p.Name) + len(p.Data)); err != nil {
		return err
	}
	// A block begins empty; what it begins with, where it does not, counts. The input of a call is {} until its pieces come.
	switch p.Type {
	case "text":
		return p.add(a, p.Text, say)
	case "thinking":
		p.signed.WriteString(p.Signature)
		return p.add(a, p.Thinking, nil)
	case "tool_use":
		if string(p.Input) != "{}" && string(p.Input) != "null" {
			return p.add(a, string(p.Input), nil)
		}
	}
	return nil
}

func (out *answer) grow(a *wire.Answer, e event, say func(string)) error {
	p := out.byIndex[e.Index]
	if p == nil || !p.open {
		return malformed("a piece of the answer belongs to no block")
	}
	switch {
	case e.Delta.Type == "text_delta" && p.Type == "text":
		return p.add(a, e.Delta.Text, say)
	case e.Delta.Type == "input_json_delta" && p.Type == "tool_use":
		return p.add(a, e.Delta.PartialJSON, nil)
	case e.Delta.Type == "thinking_delta" && p.Type == "thinking":
		return p.add(a, e.Delta.Thinking, nil)
	case e.Delta.Type == "signature_delta" && p.Type == "thinking":
		p.signed.WriteString(e.Delta.Signature)
		return a.Grow(len(e.Delta.Signature))
	}
	return nil
}

func (p *part) add(a *wire.Answer, text string, say func(string)) error {
	if err := a.Grow(len(text)); err != nil {
		return err
	}
	p.grown.WriteString(text)
	if say != nil && text != "" {
		say(text)
	}
	return nil
}

// ended checks a stream that says it is complete.
func (out *answer) ended() error {
	if out.stop == "" {
		return malformed("the answer does not say why it ended")
	}
	for _, p := range out.parts {
		if p.open {
			return &model.Error{Kind: model.Truncated, Message: "the answer ended within a block"}
		}
	}
	return nil
}
