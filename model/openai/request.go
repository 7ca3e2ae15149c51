package openai

import (
	"encoding/json"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/internal/wire"
)

type request struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Tools               []tool         `json:"tools,omitempty"`
	ResponseFormat      *format        `json:"response_format,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty"`
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role       string  `json:"role"`
	Content    *string `json:"content"` // null is for an assistant that only calls
	ToolCalls  []call  `json:"tool_calls,omitempty"`
	ToolCallID string  `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string     `json:"type"`
	Function definition `json:"function"`
}

type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type format struct {
	Type       string `json:"type"`
	JSONSchema schema `json:"json_schema"`
}

type schema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict,omitempty"`
}

func (m *Model) body(req model.Request, aliases *model.Aliases, stream bool) request {
	body := request{Model: m.config.Model, Messages: []message{}, Temperature: req.Temperature}
	if req.System != "" {
		body.Messages = append(body.Messages, message{Role: "system", Content: &req.System})
	}
	for _, msg := range req.Messages {
		body.Messages = append(body.Messages, messageOf(msg, aliases))
	}
	for _, t := range req.Tools {
		body.Tools = append(body.Tools, tool{Type: "function", Function: definition{Name: aliases.Alias(t.Name), Description: t.Description, Parameters: wire.Schema(t.Schema)}})
	}
	if len(req.Schema) > 0 {
		body.ResponseFormat = &format{Type: "json_schema", JSONSchema: schema{Name: "answer", Schema: req.Schema, Strict: m.config.Strict}}
	}
	if m.modern {
		body.MaxCompletionTokens = req.MaxTokens
	} else {
		body.MaxTokens = req.MaxTokens
	}
	if stream {
		body.Stream, body.StreamOptions = true, &streamOptions{IncludeUsage: true}
	}
	return body
}

func messageOf(msg model.Message, aliases *model.Aliases) message {
	switch msg.Role {
	case model.ToolRole:
		text := model.Marked(msg)
		return message{Role: "tool", Content: &text, ToolCallID: msg.CallID}
	case model.Assistant:
		out := message{Role: "assistant"}
		if msg.Text != "" || len(msg.Calls) == 0 {
			out.Content = &msg.Text
		}
		for _, c := range msg.Calls {
			out.ToolCalls = append(out.ToolCalls, call{ID: c.ID, Type: "function", Function: function{Name: aliases.Alias(c.Tool), Arguments: string(wire.Input(c))}})
		}
		return out
	default:
		text := model.Marked(msg)
		return message{Role: "user", Content: &text}
	}
}
