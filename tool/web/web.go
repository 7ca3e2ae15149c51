package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/answer"
	"github.com/holdshort/holdshort/tool/internal/fill"
	"github.com/holdshort/holdshort/tool/internal/outgoing"
)

// caller makes the calls of one tool.
type caller struct {
	config    Config
	request   request
	client    *http.Client
	reconcile *request
	look      *http.Client // of reconcile
}

// New makes a tool of an address. Description, Reversible, Idempotent and Retries are the caller's to set.
func New(name string, c Config) (tool.Tool, error) {
	c = c.withDefaults()
	if err := c.validate(name); err != nil {
		return tool.Tool{}, err
	}
	k := &caller{config: c}
	var err error
	if k.request, err = k.parse(name, "", c.Method, c.URL, c.Query, c.Headers, c.Body, c.Form); err != nil {
		return tool.Tool{}, err
	}
	if h := c.IdempotencyHeader; h != "" && (!token(h) || slices.ContainsFunc(k.request.headers, func(o header) bool { return strings.EqualFold(o.name, h) })) {
		return tool.Tool{}, invalid(name, "idempotency_header", "that header cannot carry the operation id", "name one that is not set otherwise")
	}
	k.client = c.client(k.request, c.Effect == tool.Read)
	t := tool.Tool{Name: name, Effect: c.Effect, Timeout: c.Timeout, Schema: c.Schema, Call: k.call}
	if len(t.Schema) == 0 {
		t.Schema = fill.SchemaOf(k.request.places())
	} else if err := fill.CheckSchema(t.Schema, k.request.places()); err != nil {
		return tool.Tool{}, invalid(name, "schema", err.Error(), "name arguments that the schema has, or add them to it")
	}
	if c.Reconcile != nil {
		if err := k.parseReconcile(name); err != nil {
			return tool.Tool{}, err
		}
		t.Reconcile = k.find
	}
	return t, nil
}

func (k *caller) parse(name, prefix, method, address string, query, headers map[string]string, body []byte, form map[string]string) (request, error) {
	r, field, err := parseRequest(method, address, query, headers, body, form)
	if err != nil {
		return r, &holdshort.Error{Code: holdshort.Invalid, Op: "make tool " + name, Field: prefix + field, Message: "the " + field + " cannot be used", Err: err,
			Hint: "correct the template: {name} is an argument, {{ a brace"}
	}
	if r.guard, err = outgoing.Parse(k.config.Outgoing); err != nil {
		return r, &holdshort.Error{Code: holdshort.Invalid, Op: "make tool " + name, Field: "outgoing", Message: "the list of what may be called cannot be used", Err: err,
			Hint: "list hosts and networks"}
	}
	for _, h := range r.headers {
		if r.address.open() && !r.guard.Narrow() && !slices.Contains(harmless, h.name) {
			return r, invalid(name, prefix+"headers", "whoever makes a call could send "+h.name+" to any host", "list the hosts that may be called in outgoing, or leave the header out")
		}
	}
	return r, nil
}

// harmless are headers that no host is trusted with anything by.
var harmless = []string{"Accept", "Accept-Language", "Content-Type", "User-Agent"}

// client makes an HTTP client for a request. Reads may follow redirects on the same host and keep connections; a write has a connection of its
// own, because a transport repeats by itself what it sent on one that was kept and turned out to be closed.
func (c Config) client(r request, reads bool) *http.Client {
	dialer := &net.Dialer{Timeout: c.Timeout, Resolver: c.Resolver}
	if r.address.guarded() {
		dialer.Control = r.guard.Control
	}
	var secure *tls.Config
	if c.TLS != nil {
		secure = c.TLS.Clone()
	}
	return &http.Client{
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			first := via[0]
			if !reads || first.Method != http.MethodGet && first.Method != http.MethodHead || len(via) > 5 || next.Method != first.Method ||
				next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host || next.URL.User != nil {
				return http.ErrUseLastResponse
			}
			return nil
		},
		Transport: &http.Transport{
			Proxy:                  nil, // one of the environment would look names up behind the guard's back
			DialContext:            dialer.DialContext,
			TLSClientConfig:        secure,
			TLSHandshakeTimeout:    c.Timeout,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true,
			DisableKeepAlives:      !reads,
			ForceAttemptHTTP2:      reads, // its transport repeats by itself too
			MaxIdleConnsPerHost:    8,
			IdleConnTimeout:        30 * time.Second,
		},
	}
}

func (k *caller) call(ctx context.Context, call tool.Call) (tool.Result, error) {
	r, err := k.request.make(ctx, call)
	if err != nil {
		return tool.Result{}, err
	}
	if k.config.IdempotencyHeader != "" {
		r.Header.Set(k.config.IdempotencyHeader, fill.Key(call.OperationID))
	}
	a, err := k.request.exchange(k.client, r, k.config.MaxAnswer)
	if err != nil {
		return tool.Result{}, err
	}
	if a.status/100 != 2 {
		return tool.Result{}, k.refused(a, call)
	}
	if a.lost != nil {
		return tool.Result{}, fmt.Errorf("read answer of %s: %w", r.URL.Host, a.lost)
	}
	return a.result(k.config.Response, k.config.ExternalIDs), nil
}

// refused makes the error of an answer that is no success.
func (k *caller) refused(a reply, call tool.Call) error {
	fault := tool.Classify(a.status, a.body, call.Args)
	if a.status/100 == 3 {
		fault.Message = "it redirects to another address, which is not followed"
	}
	if k.config.Effect == tool.Read {
		return fault
	}
	if slices.Contains(k.config.Definite, a.status) {
		return tool.Definite(fault)
	}
	return fmt.Errorf("status %d: %s", a.status, fault.Message) // a Fault of class Validation would be proof
}

// reply is what came back.
type reply struct {
	status int
	kind   string
	body   []byte
	more   bool  // there was more than the limit
	size   int64 // of the whole, if the other side said so
	lost   error // the body ended too early
}

// exchange sends a request, once. What never had a connection was not sent. Secrets of the configuration that come back are hidden.
func (t request) exchange(client *http.Client, r *http.Request, most int64) (reply, error) {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	response, err := client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil {
		var long *url.Error
		if errors.As(err, &long) {
			err = long.Err // without the address, which holds arguments
		}
		err = fmt.Errorf("%s %s: %w", r.Method, r.URL.Host, err)
		if !connected.Load() {
			return reply{}, tool.NotSent(err)
		}
		return reply{}, err
	}
	defer response.Body.Close()
	a := reply{status: response.StatusCode, size: response.ContentLength}
	a.kind, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	a.body, a.lost = io.ReadAll(io.LimitReader(response.Body, most+1))
	if int64(len(a.body)) > most {
		a.body, a.more = t.secrets.HideCut(a.body[:most]), true
		return a, nil
	}
	a.body = t.secrets.Hide(a.body)
	return a, nil
}

// result maps an answer of success.
func (a reply) result(path string, ids map[string]string) tool.Result {
	if a.more {
		return tool.Result{Value: answer.Bound(answer.Truncated(a.body, max(a.size, 0)))}
	}
	value := answer.Bound(answer.Of(a.body, a.kind))
	tree, err := fill.Decode(value)
	if err != nil {
		return tool.Result{Value: value}
	}
	result := tool.Result{Value: value, ExternalIDs: externalIDs(tree, ids)}
	if path != "" {
		part, _ := fill.At(tree, strings.Split(path, "."))
		result.Value = answer.Bound(answer.Marshal(part))
	}
	return result
}

// externalIDs finds the names of what was made.
func externalIDs(tree any, paths map[string]string) map[string][]string {
	var ids map[string][]string
	for name, path := range paths {
		found, ok := fill.At(tree, strings.Split(path, "."))
		list, isList := found.([]any)
		if !isList {
			list = []any{found}
		}
		for _, item := range list {
			if text, isText := fill.TextOf(item); ok && isText && text != "" {
				if ids == nil {
					ids = map[string][]string{}
				}
				ids[name] = append(ids[name], text)
			}
		}
	}
	return ids
}
