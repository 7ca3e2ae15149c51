package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) documentEndpoints() []endpoint {
	return []endpoint{
		stream("GET", "/openapi.json", about{tag: "about", summary: "This document.", open: true}, (*call).serveDocument),
		stream("GET", "/docs", about{tag: "about", summary: "This document, readable.", open: true, media: "text/html"}, (*call).serveDocs),
	}
}

func (c *call) serveDocument(none) error {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Write(c.spec)
	return nil
}

// document makes the OpenAPI description from the table of endpoints: what is not in the one is not in the other.
func (s *Server) document() ([]byte, error) {
	types := &schemas{components: map[string]any{}}
	paths := map[string]object{}
	for _, e := range s.table {
		if paths[e.path] == nil {
			paths[e.path] = object{}
		}
		paths[e.path][strings.ToLower(e.method)] = e.operation(types)
	}
	problem := types.of(reflect.TypeFor[Problem]())
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": "Holdshort", "version": s.options.Version, "license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "A durable human-in-the-loop control plane for AI agents. Bodies are JSON; times are RFC 3339 in UTC; refusals are application/problem+json with a stable code."},
		"paths": paths,
		"components": object{
			"schemas":         types.components,
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer", "description": "an API key or a JWT"}},
			"responses":       object{"Refused": object{"description": "Refused, with a stable code.", "content": object{"application/problem+json": object{"schema": problem}}}},
		},
		"security": []any{object{"bearer": []string{}}},
	}
	if s.options.PublicURL != "" {
		doc["servers"] = []any{object{"url": s.options.PublicURL}}
	}
	return json.MarshalIndent(doc, "", " ")
}

func (e endpoint) operation(types *schemas) object {
	op := object{"summary": e.about.summary, "tags": []string{e.about.tag}, "operationId": e.operationID(), "responses": e.responses(types)}
	if e.about.open {
		op["security"] = []any{}
	}
	var parameters []any
	for i := range e.in.NumField() {
		f := e.in.Field(i)
		if name, ok := f.Tag.Lookup("path"); ok {
			parameters = append(parameters, object{"name": name, "in": "path", "required": true, "schema": types.of(f.Type)})
		}
		if name, ok := f.Tag.Lookup("query"); ok {
			parameters = append(parameters, object{"name": name, "in": "query", "schema": types.of(f.Type)})
		}
		if _, ok := f.Tag.Lookup("body"); ok {
			op["requestBody"] = object{"content": object{"application/json": object{"schema": types.of(f.Type)}}}
		}
	}
	if e.about.once {
		parameters = append(parameters, object{"name": "Idempotency-Key", "in": "header", "schema": object{"type": "string", "maxLength": longestKey},
			"description": "The same key and body again get the same answer, and nothing is done twice."})
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	return op
}

func (e endpoint) operationID() string {
	var b strings.Builder
	b.WriteString(strings.ToLower(e.method))
	for _, part := range strings.FieldsFunc(e.path, func(r rune) bool { return strings.ContainsRune("/{}.", r) }) {
		b.WriteString("_" + part)
	}
	return b.String()
}

func (e endpoint) responses(types *schemas) object {
	out := object{}
	first := e.about.status
	if first == 0 {
		first = http.StatusOK
	}
	media := e.about.media
	if media == "" {
		media = "application/json"
	}
	for _, status := range slices.Concat([]int{first}, e.about.also) {
		answer := object{"description": http.StatusText(status)}
		switch {
		case e.out == reflect.TypeFor[none]():
			status, answer = http.StatusNoContent, object{"description": "Done."}
		case e.or != nil:
			answer["content"] = object{media: object{"schema": object{"oneOf": []any{types.of(e.out), types.of(e.or)}}}}
		case e.out != nil:
			answer["content"] = object{media: object{"schema": types.of(e.out)}}
		default:
			answer["content"] = object{media: object{}}
		}
		out[strconv.Itoa(status)] = answer
	}
	refusals := slices.Concat([]int{400, 401, 403, 404, 429, 503}, e.about.errors)
	if e.about.open {
		refusals = []int{400, 503}
	}
	for _, status := range refusals {
		out[strconv.Itoa(status)] = object{"$ref": "#/components/responses/Refused"}
	}
	return out
}

var docsPage = template.Must(template.New("docs").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Holdshort API</title>
<style nonce="{{.Nonce}}">body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}code{font-size:.95em}h2{margin-top:2rem;text-transform:capitalize}dt{margin-top:.7rem}dd{margin-left:1rem}</style>
<h1>Holdshort API</h1><p>Version {{.Version}}. The whole description, with every field: <a href="/openapi.json">openapi.json</a>.</p>
{{range .Groups}}<h2>{{.Tag}}</h2><dl>{{range .Rows}}<dt><code>{{.Method}} {{.Path}}</code></dt><dd>{{.Summary}}</dd>{{end}}</dl>{{end}}
</html>`))

func (c *call) serveDocs(none) error {
	type row struct{ Method, Path, Summary string }
	type group struct {
		Tag  string
		Rows []row
	}
	var groups []group
	for _, e := range c.table {
		i := slices.IndexFunc(groups, func(g group) bool { return g.Tag == e.about.tag })
		if i < 0 {
			groups, i = append(groups, group{Tag: e.about.tag}), len(groups)
		}
		groups[i].Rows = append(groups[i].Rows, row{e.method, e.path, e.about.summary})
	}
	var b bytes.Buffer
	nonce := nonce()
	if err := docsPage.Execute(&b, object{"Nonce": nonce, "Version": c.options.Version, "Groups": groups}); err != nil {
		return fmt.Errorf("draw the documentation: %w", err)
	}
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+nonce+"'; frame-ancestors 'none'; base-uri 'none'")
	c.w.Write(b.Bytes())
	return nil
}
