package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/fill"
)

// definition is a tool as the server describes it.
type definition struct {
	name string
	pin  string
	tool *mcp.Tool
}

// Limits of what a server may say of a tool, and of how many it may have.
const (
	mostTools       = 500
	mostPages       = 100
	mostDescription = 4096      // runes
	mostSchema      = 128 << 10 // bytes
)

// Pin names the definition of a tool: it changes with its name, title, description, schemas and annotations.
func Pin(t *mcp.Tool) string {
	raw, err := json.Marshal(struct {
		Name        string               `json:"name"`
		Title       string               `json:"title"`
		Description string               `json:"description"`
		Input       any                  `json:"input"`
		Output      any                  `json:"output"`
		Annotations *mcp.ToolAnnotations `json:"annotations"`
	}{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations})
	if err != nil {
		return ""
	}
	canonical, err := holdshort.Canonical(raw)
	if err != nil { // not fit to be hashed: it fits no pin
		return ""
	}
	return holdshort.ArgsHash(canonical)
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

// declare makes the declaration of a tool out of its definition, or says why it cannot be offered.
func (c Config) declare(d definition) (tool.Tool, error) {
	t := tool.Tool{Name: c.Name + "/" + d.name, Description: plain(d.tool.Description), Timeout: c.Timeout}
	if !toolName.MatchString(d.name) {
		return t, fmt.Errorf("its name is no name")
	}
	if d.pin == "" {
		return t, fmt.Errorf("its definition is no JSON that can be compared")
	}
	if d.tool.InputSchema != nil {
		raw, err := plainSchema(d.tool.InputSchema)
		if err != nil {
			return t, err
		}
		if len(raw) > mostSchema {
			return t, fmt.Errorf("its schema has %d bytes, the limit is %d", len(raw), mostSchema)
		}
		t.Schema = raw
	}
	t.Hints = &tool.Hints{Server: c.Name, Trusted: c.Trusted}
	if a := d.tool.Annotations; a != nil {
		t.Hints.Destructive = a.DestructiveHint != nil && *a.DestructiveHint
		t.Hints.ReadOnly = a.ReadOnlyHint && !t.Hints.Destructive // who says both is not believed the better half
		if c.Trusted {
			if t.Hints.ReadOnly {
				t.Effect = tool.Read
			}
			t.Idempotent = a.IdempotentHint
			if !a.ReadOnlyHint && a.DestructiveHint != nil && !*a.DestructiveHint {
				t.Reversible = tool.External
			}
		}
	}
	if c.Effect != "" {
		t.Effect = c.Effect
	}
	return t, nil
}

// plainSchema makes the descriptions in a schema show everything they say. What it takes stays the same.
func plainSchema(schema any) (json.RawMessage, error) {
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	tree, err := fill.Decode(raw)
	if err != nil {
		return nil, err
	}
	plainTexts(tree)
	return json.Marshal(tree)
}

func plainTexts(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			plainTexts(item)
		}
	case map[string]any:
		for name, member := range node {
			if text, ok := member.(string); ok && (name == "description" || name == "title" || name == "$comment") {
				node[name] = plain(text)
				continue
			}
			plainTexts(member)
		}
	}
}

// plain makes text of a description that shows everything it says: no control characters, nothing invisible, and an end.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r == utf8.RuneError, r == '\u2028', r == '\u2029':
			return -1
		case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0: // selectors and fillers
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) > mostDescription {
		s = string([]rune(s)[:mostDescription-1]) + "…"
	}
	return s
}
