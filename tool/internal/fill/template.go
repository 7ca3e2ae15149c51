// Package fill puts the arguments of a call into texts: addresses, headers, bodies, command lines.
// It may import the root package and tool.
package fill

import (
	"fmt"
	"strings"
)

// Template is text with places for arguments: "{order}" is one, "{a.b}" one within another, "{order?}" one that may be missing, and
// "{@operation_id}" a fact of the call itself. "{{" and "}}" are plain braces.
type Template struct {
	text  string
	parts []part
}

type part struct {
	literal string
	place   *Place
}

// Place is where an argument goes.
type Place struct {
	Name     string // "a.b"; without the @ of a fact
	Optional bool   // without it, whatever the template makes is left out
	Fact     bool   // of the call: operation_id, run_id, tenant, args
}

func (p Place) String() string {
	if p.Fact {
		return "@" + p.Name
	}
	return p.Name
}

// Path of an argument.
func (p Place) Path() []string { return strings.Split(p.Name, ".") }

// facts that a template may name.
var facts = []string{"operation_id", "run_id", "tenant", "args"}

// Parse reads a template.
func Parse(text string) (Template, error) {
	t := Template{text: text}
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			t.parts = append(t.parts, part{literal: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "{{"), strings.HasPrefix(text[i:], "}}"):
			literal.WriteByte(text[i])
			i += 2
		case text[i] == '}':
			return Template{}, fmt.Errorf("a } at byte %d closes nothing: write }} for a brace", i)
		case text[i] == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return Template{}, fmt.Errorf("the { at byte %d is never closed: write {{ for a brace", i)
			}
			place, err := parsePlace(text[i+1 : i+end])
			if err != nil {
				return Template{}, err
			}
			flush()
			t.parts = append(t.parts, part{place: &place})
			i += end + 1
		default:
			literal.WriteByte(text[i])
			i++
		}
	}
	flush()
	return t, nil
}

func parsePlace(text string) (Place, error) {
	name, optional := strings.CutSuffix(text, "?")
	name, fact := strings.CutPrefix(name, "@")
	p := Place{Name: name, Optional: optional, Fact: fact}
	if fact {
		for _, known := range facts {
			if name == known {
				return p, nil
			}
		}
		return Place{}, fmt.Errorf("{%s} is no fact of a call: there are @%s", text, strings.Join(facts, ", @"))
	}
	for _, step := range p.Path() {
		if step == "" || strings.Trim(step, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-$") != "" {
			return Place{}, fmt.Errorf("{%s} names no argument: write {name}, {name.part} or {name?}, and {{ for a brace", text)
		}
	}
	return p, nil
}

// Text is the template as it was written.
func (t Template) Text() string { return t.text }

// Literal gives the text of a template without places.
func (t Template) Literal() (string, bool) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.place != nil {
			return "", false
		}
		b.WriteString(p.literal)
	}
	return b.String(), true
}

// Static is the literal text of a template, without its places.
func (t Template) Static() string {
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.literal)
	}
	return b.String()
}

// Prefix is the literal text before the first place.
func (t Template) Prefix() string {
	if len(t.parts) == 0 {
		return ""
	}
	return t.parts[0].literal
}

// Whole gives the place of a template that is nothing else.
func (t Template) Whole() (Place, bool) {
	if len(t.parts) != 1 || t.parts[0].place == nil {
		return Place{}, false
	}
	return *t.parts[0].place, true
}

// Places gives the places, in order.
func (t Template) Places() []Place {
	var all []Place
	for _, p := range t.parts {
		if p.place != nil {
			all = append(all, *p.place)
		}
	}
	return all
}

// Fill puts values into the places, each through escape. It gives false if an optional one is missing.
func (t Template) Fill(v Values, escape func(Place, string) (string, error)) (text string, ok bool, err error) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.place == nil {
			b.WriteString(p.literal)
			continue
		}
		value, ok, err := v.Text(*p.place)
		if err != nil || !ok {
			return "", false, err
		}
		if escape != nil {
			if value, err = escape(*p.place, value); err != nil {
				return "", false, err
			}
		}
		b.WriteString(value)
	}
	return b.String(), true, nil
}
