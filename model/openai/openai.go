// Package openai is a model behind any endpoint that speaks the chat completions protocol, at its inventor's or anywhere else.
// It may import the root package, model and model/internal/wire.
package openai

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/internal/wire"
)

// DefaultBaseURL is the inventor's.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config of a model.
type Config struct {
	// BaseURL is what comes before /chat/completions. Default: DefaultBaseURL.
	BaseURL string
	// APIKey goes into the header Authorization. Default: none is sent.
	APIKey string
	// Model, as the provider names it. Required.
	Model string
	// Timeout is how long the provider may be silent, before its answer and between two pieces of it. A whole answer may take ten times as long. Default: one minute.
	Timeout time.Duration
	// Prices for what answers cost. Default: they cost nothing.
	Prices model.Prices
	// MaxAnswer is how many bytes of text and arguments an answer may have. Default: 8 MiB.
	MaxAnswer int64
	// Headers to send besides. Default: none.
	Headers map[string]string
	// Strict has the provider hold answers to Request.Schema, of which it then takes only a part of what JSON Schema can say. Default: it tries.
	Strict bool
	// Client to send with. Redirects are never followed. Default: one of its own.
	Client *http.Client
}

// Model is one model at one endpoint.
type Model struct {
	endpoint *wire.Endpoint
	config   Config
	// modern: the endpoint wants max_completion_tokens. Others know max_tokens only.
	modern bool
}

var _ model.Model = (*Model)(nil)

// New checks the configuration; nothing is sent yet. It fails with holdshort.Invalid.
func New(c Config) (model.Model, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	endpoint, err := wire.New(wire.Setup{
		Op: "set up openai model", BaseURL: c.BaseURL, Path: "chat/completions", Model: c.Model, Key: c.APIKey,
		Header: c.Headers, Timeout: c.Timeout, MaxAnswer: c.MaxAnswer, Client: c.Client,
	}, func(key string) map[string]string { return map[string]string{"Authorization": "Bearer " + key} })
	if err != nil {
		return nil, err
	}
	m := &Model{endpoint: endpoint, config: c}
	if base, err := url.Parse(c.BaseURL); err == nil {
		host := base.Hostname()
		m.modern = strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
	}
	m.config.APIKey, m.config.Headers = "", nil
	return m, nil
}

// String leaves out all that is secret.
func (m *Model) String() string { return "openai model " + m.config.Model }

// GoString is String: %#v must not show more.
func (m *Model) GoString() string { return m.String() }

// Generate asks once.
func (m *Model) Generate(ctx context.Context, req model.Request, say func(text string)) (model.Response, error) {
	aliases := model.AliasesOf(req.Tools)
	var out answer
	err := m.endpoint.Do(ctx, m.body(req, aliases, say != nil), say != nil, func(a *wire.Answer) error {
		if a.Streams() {
			return out.stream(a, say)
		}
		return out.whole(a, say)
	})
	if err != nil {
		return model.Response{}, err
	}
	return out.response(req, aliases, m.config.Prices), nil
}
