package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/answer"
)

// part of a result that is not one text.
type part struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	URI       string `json:"uri,omitempty"`
	Name      string `json:"name,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	Binary    bool   `json:"binary,omitempty"`
	Bytes     int    `json:"bytes,omitempty"` // of what is binary, and left out
}

// valueOf makes the value of a result: what is structured as it is, one text as text, and else the list of parts.
func valueOf(r *mcp.CallToolResult, most int, hide answer.Secrets) json.RawMessage {
	if r.StructuredContent != nil {
		if raw, err := json.Marshal(r.StructuredContent); err == nil {
			return answer.Limit(hide.Hide(raw), most)
		}
	}
	if len(r.Content) == 0 {
		return json.RawMessage("null")
	}
	if only, ok := r.Content[0].(*mcp.TextContent); ok && len(r.Content) == 1 {
		text := hide.Hide([]byte(only.Text))
		if len(text) > most {
			return answer.Truncated(text[:most], int64(len(only.Text)))
		}
		return answer.Marshal(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	parts := make([]part, 0, len(r.Content))
	for _, c := range r.Content {
		parts = append(parts, partOf(c))
	}
	return answer.Limit(hide.Hide(answer.Marshal(parts)), most)
}

func partOf(c mcp.Content) part {
	switch c := c.(type) {
	case *mcp.TextContent:
		return part{Type: "text", Text: c.Text}
	case *mcp.ImageContent:
		return part{Type: "image", MediaType: c.MIMEType, Binary: true, Bytes: len(c.Data)}
	case *mcp.AudioContent:
		return part{Type: "audio", MediaType: c.MIMEType, Binary: true, Bytes: len(c.Data)}
	case *mcp.ResourceLink:
		return part{Type: "link", URI: c.URI, Name: c.Name, MediaType: c.MIMEType}
	case *mcp.EmbeddedResource:
		if c.Resource == nil {
			return part{Type: "resource"}
		}
		p := part{Type: "resource", URI: c.Resource.URI, MediaType: c.Resource.MIMEType, Text: c.Resource.Text}
		if len(c.Resource.Blob) > 0 {
			p.Binary, p.Bytes = true, len(c.Resource.Blob)
		}
		return p
	}
	return part{Type: "unknown"}
}

// reported makes the error of a result that says it is one. For a tool that writes it is no proof, unless the configuration promises that.
func (c Config) reported(r *mcp.CallToolResult, reads bool, args json.RawMessage) error {
	var b strings.Builder
	for _, content := range r.Content {
		if text, ok := content.(*mcp.TextContent); ok && b.Len() < 64<<10 {
			b.WriteString(text.Text + "\n")
		}
	}
	if b.Len() == 0 && r.StructuredContent != nil {
		if raw, err := json.Marshal(r.StructuredContent); err == nil {
			b.Write(raw)
		}
	}
	fault := tool.Classify(http.StatusBadRequest, c.hide.Hide([]byte(b.String())), args)
	if fault.Status = 0; strings.TrimSpace(b.String()) == "" {
		fault.Message = "the tool reports an error"
	}
	switch {
	case reads:
		return fault
	case c.Definite:
		return tool.Definite(fault)
	}
	return errors.New("the tool reports an error: " + fault.Message)
}

// failed makes the error of a call without a result. The protocol's own refusals come before a tool runs.
func (c Config) failed(err error, s *sent, args json.RawMessage) error {
	server := c.Name
	var late abandoned
	if !s.maybe.Load() && !errors.As(err, &late) {
		return tool.NotSent(fmt.Errorf("call MCP server %s: %w", server, err))
	}
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) {
		switch refusal.Code {
		case jsonrpc.CodeInvalidParams:
			fault := tool.Classify(http.StatusBadRequest, c.hide.Hide([]byte(refusal.Message)), args)
			fault.Status = 0
			return tool.Definite(fault)
		case jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest, jsonrpc.CodeMethodNotFound:
			return tool.Definite(fmt.Errorf("call MCP server %s: %s", server, refusal.Message))
		}
		return fmt.Errorf("call MCP server %s: %s", server, answer.Text([]byte(refusal.Message[:min(len(refusal.Message), 500)])))
	}
	return fmt.Errorf("call MCP server %s: %w", server, err)
}
