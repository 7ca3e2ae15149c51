package setup

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/anthropic"
	"github.com/holdshort/holdshort/model/openai"
	"github.com/holdshort/holdshort/model/script"
)

func (b *builder) readModels(context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(b.Models)) {
		path := config.Path("models", name)
		if own, ok := b.options.Models[name]; ok {
			b.models[name] = own
			continue
		}
		if b.Incomplete(path) {
			continue
		}
		m, err := newModel(b.Models[name])
		if err != nil {
			if err := b.collect(b.wrong(path, err)); err != nil {
				return err
			}
			continue
		}
		b.models[name] = m
	}
	return nil
}

func newModel(c config.Model) (m model.Model, err error) {
	prices := model.Prices{Input: c.Prices.Input, Cached: c.Prices.Cached, Output: c.Prices.Output}
	switch c.Provider {
	case "script":
		if m, err = newScript(c.Rules); err != nil {
			return nil, err
		}
		return model.Priced(m, prices), nil
	case "openai":
		m, err = openai.New(openai.Config{BaseURL: c.BaseURL, APIKey: c.APIKey, Model: c.Model, Timeout: time.Duration(c.Timeout), Prices: prices})
	case "anthropic":
		m, err = anthropic.New(anthropic.Config{BaseURL: c.BaseURL, APIKey: c.APIKey, Model: c.Model, Timeout: time.Duration(c.Timeout), Prices: prices, MaxTokens: c.MaxTokens})
	default:
		err = &holdshort.Error{Code: holdshort.Invalid, Field: "provider", Message: "unknown provider " + c.Provider, Hint: "write openai, anthropic or script"}
	}
	if err != nil {
		return nil, err
	}
	retry := model.Retry{}
	if c.Retries != nil {
		if retry.Times = *c.Retries; retry.Times == 0 {
			retry.Times = -1
		}
	}
	return model.Retrying(m, retry), nil
}

func newScript(rules []config.ScriptRule) (model.Model, error) {
	list := make([]script.Rule, len(rules))
	for i, r := range rules {
		list[i] = script.Rule{When: script.When{User: r.When.User, Tool: r.When.Tool, Result: r.When.Result, Failed: r.When.Failed}, Say: r.Say, Wait: time.Duration(r.Wait)}
		for _, c := range r.Call {
			list[i].Call = append(list[i].Call, script.CallSpec{Tool: c.Tool, Args: c.Args})
		}
	}
	return script.New(list)
}
