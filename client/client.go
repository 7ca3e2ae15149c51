package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// Options of a client. The zero value works.
type Options struct {
	// HTTP is how the server is reached. Default: a client of its own.
	HTTP *http.Client
	// Timeout of one attempt of a call that does not wait. Default: 30 seconds.
	Timeout time.Duration
	// Retries after a connection that broke or a server that could not answer, where the call may be made again. Default: 4; negative: none.
	Retries int
	// Wait is how long one long poll lasts. Default: 30 seconds; 60 at most.
	Wait time.Duration
	// ForUser is whom a key with scope act_as_user speaks for. Default: nobody.
	ForUser string
	// Agent is sent as User-Agent. Default: holdshort-go.
	Agent string
}

// Client calls one server with one set of credentials. It is safe for concurrent use.
type Client struct {
	base    string
	token   string
	options Options
	pause   func(ctx context.Context, d time.Duration) error
}

// Codes that only a client gives.
const (
	Unreachable holdshort.Code = "unreachable" // nobody answered, or not in HTTP as we know it
)

// New makes a client of the server at address; token is an API key or a bearer token, "" for none.
func New(address, token string, o Options) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "url", Message: "the server's address is no http or https URL", Hint: "write http://127.0.0.1:8080"}
	}
	if strings.ContainsAny(token, " \r\n\t") {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "token", Message: "the token has spaces or line ends in it", Hint: "copy it again"}
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{CheckRedirect: noRedirects}
	}
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Wait = min(cmp.Or(o.Wait, 30*time.Second), time.Minute)
	o.Agent = cmp.Or(o.Agent, "holdshort-go")
	if o.Retries == 0 {
		o.Retries = 4
	}
	return &Client{base: strings.TrimRight(u.String(), "/"), token: token, options: o, pause: pause}, nil
}

// noRedirects: credentials do not follow to wherever somebody points.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// URL is the server's address.
func (c *Client) URL() string { return c.base }

// NewKey makes an idempotency key.
func NewKey() string { return rand.Text() }

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// page is one page of a list as the server gives it.
type page[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next_cursor"`
}

// Page is one page of a list; Next is the cursor of the following one, "" at the end.
type Page[T any] struct {
	Items []T
	Next  string
}

func (p page[T]) out() Page[T] {
	out := Page[T]{Items: p.Items}
	if p.Next != nil {
		out.Next = *p.Next
	}
	return out
}

// query builds a query string of what is not empty.
func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

func id[T ~string](s T) string { return url.PathEscape(string(s)) }
