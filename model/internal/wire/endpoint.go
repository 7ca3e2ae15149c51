// Package wire is what the providers of models have in common: one HTTP request, its errors sorted, its answer read within limits of time and size.
// It may import the root package and model.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/model"
)

// Defaults of a Setup.
const (
	DefaultTimeout   = time.Minute
	DefaultMaxAnswer = 8 << 20
)

// patience is how many times the timeout an answer may take as a whole, as long as it keeps coming.
const patience = 10

// Setup is what a provider knows of its endpoint.
type Setup struct {
	Op        string // for errors: "set up openai model"
	BaseURL   string
	Path      string // below BaseURL
	Model     string
	Key       string
	Header    map[string]string
	Timeout   time.Duration
	MaxAnswer int64
	Client    *http.Client
}

// Endpoint is where requests go.
type Endpoint struct {
	url       string
	header    http.Header
	client    *http.Client
	timeout   time.Duration // of silence
	whole     time.Duration // of an answer that keeps coming
	maxAnswer int64
	secrets   []string
}

// New checks a setup. auth gives the headers that carry the key.
func New(s Setup, auth func(key string) map[string]string) (*Endpoint, error) {
	wrong := func(field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: s.Op, Message: field + " " + message, Hint: hint, Field: field}
	}
	base, err := url.Parse(s.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, wrong("base_url", "is no address of a web server", "write it as https://host/path")
	}
	if base.User != nil {
		return nil, wrong("base_url", "has a user in it", "put the key into api_key, or into a header")
	}
	if s.Model == "" {
		return nil, wrong("model", "is missing", "name the model as its provider does")
	}
	if s.Timeout < 0 || s.MaxAnswer < 0 {
		return nil, wrong("timeout", "and max_answer cannot be negative", "leave them out, or give positive ones")
	}
	e := &Endpoint{header: http.Header{}, timeout: s.Timeout, maxAnswer: s.MaxAnswer}
	key := strings.TrimSpace(s.Key) // files that hold a key end in a new line
	headers := map[string]string{}
	if key != "" {
		headers = auth(key)
		e.secrets = append(e.secrets, key)
	}
	for name, value := range s.Header {
		headers[name] = value
		e.secrets = append(e.secrets, value)
	}
	for name, value := range headers {
		if !plainHeader(name) || !plainHeader(value) {
			return nil, wrong("api_key", "or a header has characters that no header can hold", "look for line breaks and quotes around them")
		}
		e.header.Set(name, value)
	}
	e.header.Set("Content-Type", "application/json")
	if e.timeout == 0 {
		e.timeout = DefaultTimeout
	}
	e.whole = patience * e.timeout
	if e.maxAnswer == 0 {
		e.maxAnswer = DefaultMaxAnswer
	}
	e.url = base.JoinPath(s.Path).String()
	client := http.Client{}
	if s.Client != nil {
		client = *s.Client
	}
	// A redirect would carry the key and the conversation to an address that nobody configured.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e.client = &client
	return e, nil
}

func plainHeader(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r > 0xff })
}

var (
	errSilent = errors.New("nothing came for too long")
	errSlow   = errors.New("the answer did not end")
)

// Do posts body and has read look at the answer, if there is one. Its error is the caller's own when ctx has ended, else a model.Error.
func (e *Endpoint) Do(ctx context.Context, body any, stream bool, read func(*Answer) error) error {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(body) != nil {
		return &model.Error{Kind: model.Rejected, Message: "the request cannot be written as JSON: look at the schemas of the tools and of the answer"}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	silence := time.AfterFunc(e.timeout, func() { stop(errSilent) })
	defer silence.Stop()
	whole := time.AfterFunc(e.whole, func() { stop(errSlow) })
	defer whole.Stop()

	req, err := http.NewRequestWithContext(within, http.MethodPost, e.url, &raw)
	if err != nil {
		return &model.Error{Kind: model.Rejected, Message: "the address of the provider cannot be used"}
	}
	req.Header = e.header.Clone()
	req.Header.Set("Accept", "application/json")
	if stream {
		req.Header.Set("Accept", "text/event-stream")
	}
	res, err := e.client.Do(req)
	if err != nil {
		return e.fault(ctx, within, err, nil)
	}
	defer res.Body.Close()
	a := &Answer{res: res, renew: func() { silence.Reset(e.timeout) }, max: e.maxAnswer}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return e.fault(ctx, within, refusal(a), a)
	}
	if err := read(a); err != nil {
		return e.fault(ctx, within, err, a)
	}
	return nil
}
