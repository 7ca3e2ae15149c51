// Package anthropic is a model behind the messages protocol.
// It may import the root package, model and model/internal/wire.
package anthropic

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/model/internal/wire"
)

// DefaultBaseURL is the inventor's.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxTokens of an answer: the protocol wants a number.
const DefaultMaxTokens = 8192

// version of the protocol that is spoken.
const version = "2023-06-01"

// Config of a model.
type Config struct {
	// BaseURL is what comes before /v1/messages. Default: DefaultBaseURL.
	BaseURL string
	// APIKey goes into the header x-api-key. Default: none is sent.
	APIKey string
	// Model, as the provider names it. Required.
	Model string
	// MaxTokens of an answer, where the request says nothing. Default: DefaultMaxTokens.
	MaxTokens int
	// Timeout is how long the provider may be silent, before its answer and between two pieces of it. A whole answer may take ten times as long. Default: one minute.
	Timeout time.Duration
	// Prices for what answers cost. Default: they cost nothing.
	Prices model.Prices
	// MaxAnswer is how many bytes of text and arguments an answer may have. Default: 8 MiB.
	MaxAnswer int64
	// Headers to send besides. Default: none.
	Headers map[string]string
	// Client to send with. Redirects are never followed. Default: one of its own.
	Client *http.Client
}

// Model is one model at one endpoint.
type Model struct {
	endpoint *wire.Endpoint
	config   Config
}

var _ model.Model = (*Model)(nil)

// New checks the configuration; nothing is sent yet. It fails with holdshort.Invalid.
func New(c Config) (model.Model, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.MaxTokens <= 0 {
		c.MaxTokens = DefaultMaxTokens
	}
	headers := map[string]string{"anthropic-version": version}
	maps.Copy(headers, c.Headers)
	endpoint, err := wire.New(wire.Setup{
		Op: "set up anthropic model", BaseURL: strings.TrimSuffix(strings.TrimSuffix(c.BaseURL, "/"), "/v1"), Path: "v1/messages", Model: c.Model, Key: c.APIKey,
		Header: headers, Timeout: c.Timeout, MaxAnswer: c.MaxAnswer, Client: c.Client,
	}, func(key string) map[string]string { return map[string]string{"x-api-key": key} })
	if err != nil {
		return nil, err
	}
	c.APIKey, c.Headers = "", nil
	return &Model{endpoint: endpoint, config: c}, nil
}

// String leaves out all that is secret.
func (m *Model) String() string { return "anthropic model " + m.config.Model }

// GoString is String: %#v must not show more.
func (m *Model) GoString() string { return m.String() }

// Generate asks once. Where the provider does not take the reasoning that it is shown again, because the conversation around it has changed, it is
// asked without.
func (m *Model) Generate(ctx context.Context, req model.Request, say func(text string)) (model.Response, error) {
	r, err := m.generate(ctx, req, say)
	var refused *model.Error
	if errors.As(err, &refused) && refused.Status == http.StatusBadRequest && slices.ContainsFunc(req.Messages, func(msg model.Message) bool { return len(msg.Echo) > 0 }) {
		req.Messages = slices.Clone(req.Messages)
		for i := range req.Messages {
			req.Messages[i].Echo = nil
		}
		return m.generate(ctx, req, say)
	}
	return r, err
}

func (m *Model) generate(ctx context.Context, req model.Request, say func(text string)) (model.Response, error) {
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
