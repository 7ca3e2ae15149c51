package anthropic

import (
	"encoding/json"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/internal/wire"
)

type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	System       string        `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
	Tools        []tool        `json:"tools,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	Temperature  *float64      `json:"temperature,omitempty"`
	Stream       bool          `json:"stream,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type outputConfig struct {
	Format format `json:"format"`
}

type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type useBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type resultBlock struct {
	Type      string `json:"type"`
	ToolUseID string `json:"tool_use_id"`
	Content   string `json:"content,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`
}

func (m *Model) body(req model.Request, aliases *model.Aliases, stream bool) request {
	body := request{Model: m.config.Model, MaxTokens: req.MaxTokens, System: req.System, Messages: turns(req.Messages, aliases), Temperature: req.Temperature, Stream: stream}
	if body.MaxTokens <= 0 {
		body.MaxTokens = m.config.MaxTokens
	}
	for _, t := range req.Tools {
		body.Tools = append(body.Tools, tool{Name: aliases.Alias(t.Name), Description: t.Description, InputSchema: wire.Schema(t.Schema)})
	}
	if len(req.Schema) > 0 {
		body.OutputConfig = &outputConfig{Format: format{Type: "json_schema", Schema: req.Schema}}
	}
	return body
}

// turns folds messages into turns of the user and of the assistant, one after the other: the results of a batch stand together, before anything
// the user says to them.
func turns(messages []model.Message, aliases *model.Aliases) []message {
	all := []message{}
	for _, msg := range messages {
		role, blocks := "user", []any(nil)
		switch msg.Role {
		case model.Assistant:
			role, blocks = "assistant", assistantBlocks(msg, aliases)
		case model.ToolRole:
			blocks = []any{resultBlock{Type: "tool_result", ToolUseID: wire.PlainID(msg.CallID), Content: model.Marked(msg), IsError: msg.Failed}}
		default:
			if text := model.Marked(msg); text != "" {
				blocks = []any{textBlock{Type: "text", Text: text}}
			}
		}
		if len(blocks) == 0 {
			continue // the protocol has no empty messages
		}
		if n := len(all); n > 0 && all[n-1].Role == role {
			all[n-1].Content = append(all[n-1].Content, blocks...)
			continue
		}
		all = append(all, message{Role: role, Content: blocks})
	}
	return all
}

func assistantBlocks(msg model.Message, aliases *model.Aliases) []any {
	if blocks, ok := echoed(msg, aliases); ok {
		return blocks
	}
	var blocks []any
	if msg.Text != "" {
		blocks = append(blocks, textBlock{Type: "text", Text: msg.Text})
	}
	for _, c := range msg.Calls {
		blocks = append(blocks, use(c, aliases))
	}
	return blocks
}

func use(c model.Call, aliases *model.Aliases) useBlock {
	return useBlock{Type: "tool_use", ID: wire.PlainID(c.ID), Name: aliases.Alias(c.Tool), Input: wire.Input(c)}
}
