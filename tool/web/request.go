package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/answer"
	"github.com/holdshort/holdshort/tool/internal/fill"
	"github.com/holdshort/holdshort/tool/internal/outgoing"
)

// request is everything of a request that is a template.
type request struct {
	method  string
	address address
	guard   outgoing.Guard
	query   []parameter
	headers []header
	body    *fill.Structure
	form    []parameter
	isForm  bool
	args    bool // the body is the arguments
	secrets answer.Secrets
}

type header struct {
	name  string
	value fill.Template
}

// ours are headers that belong to the connection, not to the configuration.
var ours = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "Te", "Trailer", "Expect", "Proxy-Authorization", "Proxy-Connection"}

func parseHeaders(texts map[string]string) ([]header, error) {
	var list []header
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if !token(name) || slices.Contains(ours, canonical) {
			return nil, errors.New(name + " is no header that can be set")
		}
		t, err := fill.Parse(texts[name])
		if err != nil {
			return nil, errors.New(name + ": " + err.Error())
		}
		if literal, ok := t.Literal(); ok {
			if _, err := headerText(fill.Place{}, literal); err != nil {
				return nil, errors.New(name + " is not one line of plain text")
			}
		}
		if slices.ContainsFunc(list, func(h header) bool { return h.name == canonical }) {
			return nil, errors.New(name + " is set twice")
		}
		list = append(list, header{canonical, t})
	}
	return list, nil
}

// token reports whether name can be the name of a header.
func token(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return name != ""
}

func parseParameters(texts map[string]string) ([]parameter, error) {
	var list []parameter
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t, err := fill.Parse(texts[name])
		if err != nil {
			return nil, errors.New(name + ": " + err.Error())
		}
		list = append(list, parameter{name: url.QueryEscape(name), value: t})
	}
	return list, nil
}

// parseRequest reads the templates; fault names the field that is wrong.
func parseRequest(method, address string, query, headers map[string]string, body json.RawMessage, form map[string]string) (r request, field string, err error) {
	r.method = method
	if r.address, err = parseAddress(address); err != nil {
		return r, "url", err
	}
	if r.query, err = parseParameters(query); err != nil {
		return r, "query", err
	}
	if r.headers, err = parseHeaders(headers); err != nil {
		return r, "headers", err
	}
	switch {
	case form != nil:
		r.isForm = true
		if r.form, err = parseParameters(form); err != nil {
			return r, "form", err
		}
	case len(body) > 0 && !isNull(body):
		s, err := fill.ParseStructure(body)
		if err != nil {
			return r, "body", err
		}
		r.body = &s
	case len(body) == 0 && (method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch):
		r.args = true
	}
	for _, h := range r.headers {
		if literal, ok := h.value.Literal(); ok {
			r.secrets.Add(h.name, literal)
		}
	}
	for _, p := range slices.Concat(r.address.query, r.query, r.form) {
		if literal, ok := p.value.Literal(); ok {
			r.secrets.Add(p.name, literal)
		}
	}
	return r, "", nil
}

// places of all its templates.
func (r request) places() []fill.Place {
	all := r.address.places()
	for _, p := range append(r.query[:len(r.query):len(r.query)], r.form...) {
		all = append(all, p.value.Places()...)
	}
	for _, h := range r.headers {
		all = append(all, h.value.Places()...)
	}
	if r.body != nil {
		all = append(all, r.body.Places()...)
	}
	return all
}

// make fills the templates for one call. Whatever is wrong, nothing was sent.
func (r request) make(ctx context.Context, call tool.Call) (*http.Request, error) {
	v, err := fill.ValuesOf(call)
	if err != nil {
		return nil, err
	}
	u, err := r.address.fill(v, r.guard, r.query)
	if err != nil {
		return nil, err
	}
	content, kind, err := r.content(v, call.Args)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if kind != "" {
		body = bytes.NewReader(content)
	}
	out, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return nil, tool.NotSent(errors.New("make request: the address cannot be used"))
	}
	out.URL = u // as it was checked
	out.Header.Set("Accept", "application/json, text/*;q=0.9, */*;q=0.5")
	out.Header.Set("User-Agent", "holdshort")
	if kind != "" {
		out.Header.Set("Content-Type", kind)
	}
	for _, h := range r.headers {
		value, ok, err := h.value.Fill(v, headerText)
		if err != nil {
			return nil, err
		}
		if ok {
			out.Header.Set(h.name, value)
		}
	}
	return out, nil
}

func (r request) content(v fill.Values, args json.RawMessage) (content []byte, kind string, err error) {
	switch {
	case r.isForm:
		text, err := encode(r.form, v)
		return []byte(text), "application/x-www-form-urlencoded", err
	case r.body != nil:
		content, err = r.body.Fill(v)
		return content, "application/json", err
	case r.args && len(bytes.TrimSpace(args)) > 0:
		return args, "application/json", nil
	}
	return nil, "", nil
}
