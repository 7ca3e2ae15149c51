package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/holdshort/holdshort/model"
)

// echo is one block of an answer whose reasoning the provider wants to see again: reasoning as it came, text as it came, a call by its id.
// The order of the blocks is part of what is signed.
type echo struct {
	Thinking json.RawMessage `json:"thinking,omitempty"`
	Text     string          `json:"text,omitempty"`
	Call     string          `json:"call,omitempty"`
}

// echoOf is nil where there was no reasoning: text and calls stand in the message anyway.
func echoOf(blocks []echo) json.RawMessage {
	if !slices.ContainsFunc(blocks, func(b echo) bool { return len(b.Thinking) > 0 }) {
		return nil
	}
	raw, err := json.Marshal(blocks)
	if err != nil { // the blocks came as JSON
		return nil
	}
	return raw
}

// echoed gives the blocks of a message in the order in which they came. Without reasoning, or where the message is not what it was, it gives none.
func echoed(msg model.Message, aliases *model.Aliases) ([]any, bool) {
	var echoes []echo
	if len(msg.Echo) == 0 || json.Unmarshal(msg.Echo, &echoes) != nil {
		return nil, false
	}
	var blocks []any
	var text strings.Builder
	calls := 0
	for _, e := range echoes {
		switch {
		case len(e.Thinking) > 0:
			blocks = append(blocks, e.Thinking)
		case e.Text != "":
			text.WriteString(e.Text)
			blocks = append(blocks, textBlock{Type: "text", Text: e.Text})
		case e.Call != "":
			at := slices.IndexFunc(msg.Calls, func(c model.Call) bool { return c.ID == e.Call })
			if at < 0 {
				return nil, false
			}
			calls++
			blocks = append(blocks, use(msg.Calls[at], aliases))
		}
	}
	return blocks, text.String() == msg.Text && calls == len(msg.Calls)
}
