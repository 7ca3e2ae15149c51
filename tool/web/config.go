// Package web makes tools of calls to HTTP addresses, described by templates whose values can change neither host nor path.
// It may import the root package, tool and what tools share.
package web

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

// Config describes a tool that calls an address. Only URL is needed.
//
// URL, Query, Headers, Body and Form are templates: "{order}" is an argument of the call, "{customer.id}" one within another. "{order?}" may
// be missing: the query parameter, header or field that it is in is then left out. "{@operation_id}", "{@run_id}" and "{@tenant}" are facts of
// the call. "{{" and "}}" are plain braces. Whatever a value holds, it stays a value:
//
//   - in the path it is part of one segment: one that holds a slash, a backslash or a dot segment, however encoded, is refused;
//   - in the query and in forms it is encoded; a list becomes one parameter for each of its items;
//   - in a header, line breaks and what is no plain text are refused;
//   - in a body it is JSON: "{items}" alone keeps its type, "for {name}" makes a text;
//   - in the host it is one label ("{region}.example.com"), unless the host is nothing else ("{host}", or "{url}" for the whole address).
//
// An address whose host is written out may be private. One that an argument has a part in must be public: the address that is dialed is
// looked at, after every look-up; where the whole host is an argument, headers that could be secret need a list of hosts. No proxy of the
// environment is used. Redirects are followed only for reads, only by GET and HEAD, and only
// on the same host.
type Config struct {
	// Method. Default: POST.
	Method string
	// URL of the address.
	URL string
	// Query has parameters besides those of the URL. Default: none.
	Query map[string]string
	// Headers of the request. Default: Accept, Content-Type and User-Agent, as they fit.
	Headers map[string]string
	// Body is JSON whose texts are templates; null is no body. Default: the arguments, for POST, PUT and PATCH.
	Body json.RawMessage
	// Form is sent instead of a JSON body, as application/x-www-form-urlencoded. Default: none.
	Form map[string]string
	// Response is the path to the part of the answer that is the result: "data.items.0". Default: the whole answer.
	Response string
	// ExternalIDs are the names of what was made outside, each with its path in the answer. They go to the ledger. Default: none.
	ExternalIDs map[string]string
	// IdempotencyHeader carries the operation id, the same for every attempt. Default: none.
	IdempotencyHeader string
	// Effect: tool.Read lets redirects be followed, and errors be errors. Default: tool.Write.
	Effect tool.Effect
	// Definite are the statuses that prove that nothing was done. Default: 400, 401, 403, 404, 405, 410, 422, 429.
	Definite []int
	// MaxAnswer is how many bytes of an answer are kept; what is longer is cut and marked. Default: 256 KiB, at most 1 MiB.
	MaxAnswer int64
	// Timeout of a call. Default: 30 seconds.
	Timeout time.Duration
	// Outgoing lists the hosts ("api.example.com", "*.example.com") that a host of a template may be, and private networks ("10.0.0.0/8")
	// that it may be in. Default: any host with a public address.
	Outgoing []string
	// Schema of the arguments. Default: one made of the places in the templates.
	Schema json.RawMessage
	// Reconcile asks what became of a call whose answer was lost. Default: a person is asked.
	Reconcile *Reconcile
	// TLS of the connection. Default: the system's.
	TLS *tls.Config
	// Resolver looks names up. Default: the system's.
	Resolver *net.Resolver
}

// Reconcile is a request whose answer says whether a lost call took effect. 404 and 410 say that it did not, a success that it did, or what
// Part says; anything else leaves it to a person.
type Reconcile struct {
	// Method: GET, HEAD or POST. Default: GET.
	Method string
	// URL, Query, Headers and Body as in Config. One of them has to name {@operation_id} or an argument.
	URL     string
	Query   map[string]string
	Headers map[string]string
	Body    json.RawMessage
	// Part is the path to what says it, in an answer of success: it happened if that is there and is neither null, false, 0, "" nor an empty
	// list or object. Default: the status says it.
	Part string
	// Happened and NotHappened are the values of Part that say so; any other value leaves it to a person. Default: see Part.
	Happened, NotHappened []string
	// Response and ExternalIDs, of what happened. Default: those of the tool.
	Response    string
	ExternalIDs map[string]string
}

const (
	defaultMaxAnswer = 256 << 10
	mostMaxAnswer    = 1 << 20
	mostURL          = 16 << 10
)

var (
	methods         = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	defaultDefinite = []int{400, 401, 403, 404, 405, 410, 422, 429}
)

func (c Config) withDefaults() Config {
	if c.Method == "" {
		c.Method = http.MethodPost
	}
	if c.Effect == "" {
		c.Effect = tool.Write
	}
	if c.Definite == nil {
		c.Definite = defaultDefinite
	}
	if c.MaxAnswer == 0 {
		c.MaxAnswer = defaultMaxAnswer
	}
	if c.Timeout == 0 {
		c.Timeout = tool.DefaultTimeout
	}
	return c
}

func (c Config) validate(name string) error {
	switch {
	case !slices.Contains(methods, c.Method):
		return invalid(name, "method", "unknown method "+c.Method, "use GET, HEAD, POST, PUT, PATCH or DELETE")
	case c.Effect != tool.Read && c.Effect != tool.Write:
		return invalid(name, "effect", "unknown effect "+string(c.Effect), "use read or write")
	case c.MaxAnswer < 0 || c.MaxAnswer > mostMaxAnswer:
		return invalid(name, "max_answer", "an answer of that size cannot be kept", "use 1 byte to 1 MiB")
	case c.Timeout < 0:
		return invalid(name, "timeout", "a timeout cannot be negative", "leave it out for the default")
	case len(c.Body) > 0 && c.Form != nil:
		return invalid(name, "form", "a request has either a body or a form", "leave one out")
	case (len(c.Body) > 0 || c.Form != nil) && (c.Method == http.MethodGet || c.Method == http.MethodHead):
		return invalid(name, "body", "a "+c.Method+" has no body", "put the values into the query")
	}
	for _, status := range c.Definite {
		if status < 300 || status > 599 {
			return invalid(name, "definite", "a status that refuses is from 300 to 599", "leave out the others")
		}
	}
	return nil
}

func invalid(name, field, message, hint string) error {
	return &holdshort.Error{Code: holdshort.Invalid, Op: "make tool " + name, Field: field, Message: message, Hint: hint}
}
