package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// inText is the path of a place within a text: policies[0].when#2:15.
func inText(path string, line, column int) string {
	if line < 1 {
		return path
	}
	return fmt.Sprintf("%s#%d:%d", path, line, column)
}

// cutText takes the place within a text off a path.
func cutText(path string) (outer string, line, column int, ok bool) {
	i := strings.LastIndexByte(path, '#')
	if i < 0 {
		return path, 0, 0, false
	}
	l, c, found := strings.Cut(path[i+1:], ":")
	line, lineErr := strconv.Atoi(l)
	column, columnErr := strconv.Atoi(c)
	if !found || lineErr != nil || columnErr != nil {
		return path, 0, 0, false
	}
	return path[:i], line, column, true
}

// text is where a scalar begins in the file, and what it says.
type text struct {
	place
	block bool // | or >: it begins on the next line
	says  string
}

func (d *decoder) noteText(path string, node ast.Node) {
	t := text{}
	switch n := node.(type) {
	case *ast.StringNode:
		t.says = n.Value
	case *ast.LiteralNode:
		t.says, t.block = n.Value.Value, true
	default:
		return
	}
	tk := node.GetToken()
	if tk == nil || tk.Position == nil || strings.Contains(t.says, "${") { // what the environment says stands nowhere in the file
		return
	}
	t.place = place{tk.Position.Line, tk.Position.Column}
	if d.texts == nil {
		d.texts = map[string]text{}
	}
	d.texts[path] = t
}

// atText makes the fault of a place within a text.
func (d *decoder) atText(path, message, hint string) (Fault, bool) {
	outer, line, column, ok := cutText(path)
	if !ok {
		return Fault{}, false
	}
	f := d.at(outer, message, hint)
	if t, known := d.texts[outer]; known {
		if p, found := d.locate(t, line, column); found {
			f.Line, f.Column = p.line, p.column
			f.Excerpt = excerpt(d.lines, f.Line, f.Column)
		}
	}
	return f, true
}

// locate walks through the file and what was read of it side by side, up to a line and column of the latter: quotes, escapes, folded lines and
// indents stand only in the file.
func (d *decoder) locate(t text, line, column int) (place, bool) {
	at := source{lines: d.lines, line: t.line, column: t.column}
	if t.block {
		at.line, at.column = t.line+1, 1
	} else if q := at.rune(); q == '"' || q == '\'' {
		at.quote = q
		at.next()
	}
	l, c := 1, 1
	for _, r := range t.says {
		if !at.skipTo(r) {
			return place{}, false
		}
		if l == line && c == column {
			return place{at.line, at.column}, true
		}
		at.consume()
		if c++; r == '\n' {
			l, c = l+1, 1
		}
	}
	return place{at.line, at.column}, l == line && c == column
}

// source is a place in the file, in characters.
type source struct {
	lines        []string
	line, column int
	quote        rune
}

// rune gives the character here, 0 after the last.
func (s *source) rune() rune {
	if s.line < 1 || s.line > len(s.lines) {
		return 0
	}
	n := 1
	for _, r := range s.lines[s.line-1] {
		if n == s.column {
			return r
		}
		n++
	}
	return 0
}

func (s *source) next() {
	if s.column++; s.line <= len(s.lines) && s.column > utf8.RuneCountInString(s.lines[s.line-1]) {
		s.line, s.column = s.line+1, 1
	}
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// skipTo goes on to where r is written. A blank may be written as any number of blanks, and any other character after some.
func (s *source) skipTo(r rune) bool {
	for s.rune() != r && blank(s.rune()) && !blank(r) {
		s.next()
	}
	here := s.rune()
	return here == r || blank(r) && (blank(here) || here == 0) || s.quote == '"' && here == '\\'
}

// consume steps over one character as it is written.
func (s *source) consume() {
	escaped := s.quote == '"' && s.rune() == '\\' || s.quote == '\'' && s.rune() == '\''
	if !escaped {
		s.next()
		return
	}
	s.next()
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[s.rune()]
	s.next()
	if s.quote == '"' {
		for range digits {
			s.next()
		}
	}
}
