package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/answer"
	"github.com/holdshort/holdshort/tool/internal/fill"
)

func (k *caller) parseReconcile(name string) error {
	c := *k.config.Reconcile
	if c.Method == "" {
		c.Method = http.MethodGet
	}
	if c.Method != http.MethodGet && c.Method != http.MethodHead && c.Method != http.MethodPost {
		return invalid(name, "reconcile.method", "asking what happened must change nothing", "use GET, HEAD, or POST for a search")
	}
	if c.Method != http.MethodPost && len(c.Body) > 0 {
		return invalid(name, "reconcile.body", "a "+c.Method+" has no body", "put the values into the query")
	}
	if c.Part == "" && len(c.Happened)+len(c.NotHappened) > 0 {
		return invalid(name, "reconcile.part", "values mean nothing without the part that has them", "name the part of the answer")
	}
	if c.Part != "" && c.Method == http.MethodHead {
		return invalid(name, "reconcile.part", "the answer of a HEAD has no parts", "use GET")
	}
	if len(c.Body) == 0 {
		c.Body = []byte("null")
	}
	r, err := k.parse(name, "reconcile.", c.Method, c.URL, c.Query, c.Headers, c.Body, nil)
	if err != nil {
		return err
	}
	if len(r.places()) == 0 {
		return invalid(name, "reconcile.url", "it asks the same for every call", "name {@operation_id} or an argument in it")
	}
	if len(k.config.Schema) > 0 {
		if err := fill.CheckSchema(k.config.Schema, r.places()); err != nil {
			return invalid(name, "reconcile", err.Error(), "name arguments that the schema has, or add them to it")
		}
	}
	if c.Response == "" {
		c.Response = k.config.Response
	}
	if c.ExternalIDs == nil {
		c.ExternalIDs = k.config.ExternalIDs
	}
	k.config.Reconcile = &c
	k.reconcile, k.look = &r, k.config.client(r, true)
	return nil
}

// find asks what became of a call.
func (k *caller) find(ctx context.Context, call tool.Call) (tool.Finding, error) {
	unclear := tool.Finding{State: tool.Unclear}
	r, err := k.reconcile.make(ctx, call)
	if err != nil {
		return unclear, err
	}
	a, err := k.reconcile.exchange(k.look, r, k.config.MaxAnswer)
	if err != nil {
		return unclear, err
	}
	switch {
	case a.status == http.StatusNotFound || a.status == http.StatusGone:
		return tool.Finding{State: tool.NotHappened}, nil
	case a.status/100 != 2:
		return unclear, fmt.Errorf("status %d: %s", a.status, tool.Classify(a.status, a.body, call.Args).Message)
	case a.lost != nil:
		return unclear, fmt.Errorf("read answer of %s: %w", r.URL.Host, a.lost)
	}
	c := k.config.Reconcile
	if c.Part == "" {
		return tool.Finding{State: tool.Happened, Result: a.result(c.Response, c.ExternalIDs)}, nil
	}
	if a.more {
		return unclear, errors.New("the answer is too long to be understood")
	}
	tree, err := fill.Decode(answer.Of(a.body, a.kind))
	if err != nil {
		return unclear, errors.New("the answer is no JSON")
	}
	state := c.judge(fill.At(tree, strings.Split(c.Part, ".")))
	if state == tool.Happened {
		return tool.Finding{State: state, Result: a.result(c.Response, c.ExternalIDs)}, nil
	}
	return tool.Finding{State: state}, nil
}

// judge says what a part means.
func (c Reconcile) judge(part any, there bool) tool.State {
	if len(c.Happened)+len(c.NotHappened) == 0 {
		if !there || empty(part) {
			return tool.NotHappened
		}
		return tool.Happened
	}
	text, ok := fill.TextOf(part)
	switch {
	case ok && slices.Contains(c.Happened, text):
		return tool.Happened
	case ok && slices.Contains(c.NotHappened, text):
		return tool.NotHappened
	}
	return tool.Unclear
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	text, _ := fill.TextOf(v)
	return text == "" || text == "false" || text == "0"
}
