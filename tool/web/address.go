package web

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/fill"
	"github.com/holdshort/holdshort/tool/internal/outgoing"
)

// address is a URL whose parts are templates.
type address struct {
	whole    *fill.Place // the caller's own URL
	scheme   string
	host     string          // written out, with its port
	labels   []fill.Template // or made of these
	port     string          // ":8080", of labels
	segments []fill.Template
	slashes  int // of the path once it is decoded: also those that are written as %2F
	query    []parameter
}

// parameter of a query or form.
type parameter struct {
	name    string // encoded
	value   fill.Template
	encoded bool // the literal text of value is
}

// guarded reports whether an argument has a part in the host.
func (a address) guarded() bool { return a.host == "" }

// cut splits text at the first of the characters that is in no place.
func cut(text, characters string) (before, after string, found byte) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '{':
			depth++
		case text[i] == '}':
			depth--
		case depth <= 0 && strings.IndexByte(characters, text[i]) >= 0:
			return text[:i], text[i+1:], text[i]
		}
	}
	return text, "", 0
}

func split(text, separator string) (list []string) {
	for {
		before, after, found := cut(text, separator)
		list = append(list, before)
		if found == 0 {
			return list
		}
		text = after
	}
}

// parseAddress reads the template of a URL.
func parseAddress(text string) (a address, err error) {
	t, err := fill.Parse(text)
	if err != nil {
		return a, err
	}
	if p, ok := t.Whole(); ok {
		if p.Optional || p.Fact {
			return a, errors.New("an address cannot be left out")
		}
		a.whole = &p
		return a, nil
	}
	if strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r >= 0x80 || r == '\\' || r == '"' || r == '<' || r == '>' || r == '^' || r == '`'
	}) {
		return a, errors.New("it has characters that an address cannot have: encode them")
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if scheme = strings.ToLower(scheme); !ok || scheme != "http" && scheme != "https" {
		return a, errors.New("it must begin with https:// or http://")
	}
	a.scheme = scheme
	if _, _, found := cut(rest, "#"); found != 0 {
		return a, errors.New("a fragment is never sent: leave out #")
	}
	rest, query, hasQuery := cut(rest, "?")
	authority, path, hasPath := cut(rest, "/")
	if err := a.parseAuthority(authority); err != nil {
		return a, err
	}
	if hasPath != 0 {
		if err := a.parsePath(path); err != nil {
			return a, err
		}
	}
	if hasQuery != 0 {
		if a.query, err = parseQuery(query); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (a *address) parsePath(text string) error {
	for _, segment := range split(text, "/") {
		t, err := fill.Parse(segment)
		if err != nil {
			return err
		}
		for _, p := range t.Places() {
			if p.Optional {
				return fmt.Errorf("{%s?} cannot be left out of the path", p)
			}
		}
		_, literal := t.Literal()
		plain, err := url.PathUnescape(t.Static())
		if err != nil || literal && dots(plain) {
			return fmt.Errorf("%q is no part of a path", segment)
		}
		a.slashes += 1 + strings.Count(plain, "/")
		a.segments = append(a.segments, t)
	}
	return nil
}

func parseQuery(text string) (list []parameter, err error) {
	for _, pair := range split(text, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := cut(pair, "=")
		t, err := fill.Parse(name)
		if err != nil {
			return nil, err
		}
		plain, ok := t.Literal()
		if plain, err = url.QueryUnescape(plain); !ok || err != nil || plain == "" {
			return nil, fmt.Errorf("%q is no name of a parameter: names are written out", name)
		}
		if t, err = fill.Parse(value); err != nil {
			return nil, err
		}
		if _, err := url.QueryUnescape(t.Text()); err != nil && len(t.Places()) == 0 {
			return nil, fmt.Errorf("%q is not encoded", value)
		}
		list = append(list, parameter{name: url.QueryEscape(plain), value: t, encoded: true})
	}
	return list, nil
}

// places that the address has.
func (a address) places() (all []fill.Place) {
	if a.whole != nil {
		return []fill.Place{*a.whole}
	}
	for _, t := range a.labels {
		all = append(all, t.Places()...)
	}
	for _, t := range a.segments {
		all = append(all, t.Places()...)
	}
	for _, p := range a.query {
		all = append(all, p.value.Places()...)
	}
	return all
}

// fill makes the URL of one call, and proves that the values only filled it.
func (a address) fill(v fill.Values, g outgoing.Guard, more []parameter) (*url.URL, error) {
	if a.whole != nil {
		return a.fillWhole(v, g, more)
	}
	host, err := a.fillHost(v, g)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(a.scheme + "://" + host)
	for _, t := range a.segments {
		segment, err := fillSegment(t, v)
		if err != nil {
			return nil, err
		}
		b.WriteString("/" + segment)
	}
	query, err := encode(append(a.query[:len(a.query):len(a.query)], more...), v)
	if err != nil {
		return nil, err
	}
	if query != "" {
		b.WriteString("?" + query)
	}
	u, err := url.Parse(b.String())
	if err != nil || u.Scheme != a.scheme || u.Host != host || u.User != nil || u.Fragment != "" || u.Opaque != "" || u.RawQuery != query ||
		strings.Count(u.EscapedPath(), "/") != len(a.segments) || strings.Count(u.Path, "/") != a.slashes {
		return nil, tool.NotSent(errors.New("make address: the arguments do not fit into it"))
	}
	if b.Len() > mostURL {
		return nil, tool.NotSent(fmt.Errorf("make address: it has %d bytes, the limit is %d", b.Len(), mostURL))
	}
	return u, nil
}
