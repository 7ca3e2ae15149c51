package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/internal/network"
	"github.com/holdshort/holdshort/internal/pace"
)

// Options of a server. The zero value serves.
type Options struct {
	// PublicURL is where people reach the server, for links. Default: none, links are paths.
	PublicURL string
	// BodyLimit of a request, in bytes. Default: 1 MiB.
	BodyLimit int64
	// Rate is how many calls one caller may make a second, and Burst how many at once. Default: 200 and 400; negative: no limit.
	Rate  float64
	Burst int
	// Timeout of a call that does not wait. Default: 30 seconds.
	Timeout time.Duration
	// Streams is how many event streams one caller may have open. Default: 100; negative: no limit.
	Streams int
	// KeepAlive of event streams. Default: 15 seconds.
	KeepAlive time.Duration
	// Agents that callers can talk to, with their modes. Default: none are listed, and calls of whatever agents there are return at a pause.
	Agents []Agent
	// Version of this build, shown in the OpenAPI document.
	Version string
	// Pages serves what is not of the API: the inbox, and the pages of links. Default: none, there is nothing at any other path.
	Pages http.Handler
	// Metrics serves /metrics to whoever may see it. Default: none.
	Metrics http.Handler
	// Logger. Default: slog.Default().
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.BodyLimit <= 0 {
		o.BodyLimit = 1 << 20
	}
	if o.Rate == 0 {
		o.Rate = 200
	}
	if o.Burst <= 0 {
		o.Burst = 400
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Streams == 0 {
		o.Streams = 100
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.Version == "" {
		o.Version = "0"
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	return o
}

// People knows who calls, and makes the links by which people decide.
type People interface {
	identity.Resolver
	identity.Links
}

// Server answers the HTTP API.
type Server struct {
	engine  *engine.Engine
	people  People
	options Options
	log     *slog.Logger
	mux     *http.ServeMux
	table   []endpoint
	rates   *pace.Rates
	streams *streams
	csrf    *http.CrossOriginProtection
	spec    []byte // the OpenAPI document
	ending  context.Context
	end     context.CancelFunc
}

var _ http.Handler = (*Server)(nil)

// New makes a server over an engine.
func New(e *engine.Engine, people People, options Options) (*Server, error) {
	options = options.withDefaults()
	s := &Server{engine: e, people: people, options: options, log: options.Logger, mux: http.NewServeMux(), rates: pace.New(options.Rate, options.Burst), streams: &streams{most: options.Streams, of: map[string]int{}}}
	var err error
	if s.csrf, err = network.Origins(options.PublicURL); err != nil {
		return nil, err
	}
	s.ending, s.end = context.WithCancel(context.Background())
	s.table = s.endpoints()
	for _, e := range s.table {
		if e.serve == nil { // the pages'
			continue
		}
		s.mux.HandleFunc(e.method+" "+e.path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, e) })
	}
	s.mux.HandleFunc("/", s.elsewhere)
	spec, err := s.document()
	s.spec = spec
	return s, err
}

// Close ends what waits: long polls answer as things stand, streams end, so that a graceful stop need not wait for them.
func (s *Server) Close() { s.end() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	s.mux.ServeHTTP(w, r)
}

// serve is the way of every call: who is it, how often, what does it want.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, e endpoint) {
	c := &call{Server: s, w: w, r: r, about: e.about}
	who, err := reading(e.about.wait, func() (identity.Who, error) { return s.people.ResolveActor(r) })
	switch {
	case err == nil:
		c.who = who
	case !e.about.open:
		s.refuse(w, r, err)
		return
	}
	if !e.about.open {
		if err := s.csrf.Check(r); err != nil && who.CSRF { // a cookie is sent by any page that asks: only our own may act with it
			s.refuse(w, r, &holdshort.Error{Code: holdshort.Forbidden, Message: "another site asked for this", Hint: "act from the page itself, or with a key", Err: err})
			return
		}
		if wait := s.rates.Take(string(who.Tenant) + "\x00" + who.Actor.ID); wait > 0 {
			w.Header().Set("Retry-After", seconds(wait))
			s.refuse(w, r, &holdshort.Error{Code: holdshort.RateLimited, Message: "too many calls", Hint: "wait as long as Retry-After says"})
			return
		}
	}
	limit := s.options.Timeout
	if e.about.wait {
		limit = 0
	}
	ctx, cancel := withLimit(r.Context(), limit)
	defer cancel()
	c.ctx = ctx
	if err := e.serve(c); err != nil {
		s.refuse(w, r, err)
	}
}

func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// elsewhere answers what the table does not have: another method of a path that exists is 405, the rest is the pages' or 404.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) {
	var methods []string
	for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := s.mux.Handler(probe); pattern != "/" && pattern != "" {
			methods = append(methods, method)
		}
	}
	switch {
	case len(methods) > 0:
		w.Header().Set("Allow", strings.Join(methods, ", "))
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusMethodNotAllowed)
		write(w, Problem{Type: "about:blank", Title: "Method Not Allowed", Status: http.StatusMethodNotAllowed, Code: holdshort.Invalid, Detail: "this path takes " + strings.Join(methods, ", ")})
	case s.options.Pages != nil && !strings.HasPrefix(r.URL.Path, "/v1/"):
		s.options.Pages.ServeHTTP(w, r)
	default:
		s.refuse(w, r, &holdshort.Error{Code: holdshort.NotFound, Message: "there is nothing at this path", Hint: "/openapi.json lists what there is"})
	}
}
