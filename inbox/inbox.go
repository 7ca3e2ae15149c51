package inbox

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/internal/network"
	"github.com/holdshort/holdshort/internal/pace"
)

// Options of the pages. The zero value serves.
type Options struct {
	// PublicURL is where people reach the server. Default: none, links are paths.
	PublicURL string
	// BodyLimit of a form, in bytes. Default: 1 MiB.
	BodyLimit int64
	// Rate is how many pages one person may ask for a second, and Burst how many at once. Default: 50 and 200; negative: no limit.
	Rate  float64
	Burst int
	// Timeout of a page. Default: 30 seconds.
	Timeout time.Duration
	// KeepAlive of live connections. Default: 15 seconds.
	KeepAlive time.Duration
	// Undo is how long a decision waits in the browser before it is sent, where the rule does not say. Default: 5 seconds; negative: none.
	Undo time.Duration
	// Agents that people can talk to in the playground. Default: none.
	Agents []Agent
	// Rules are shown and tried out on the policy page. Default: none are shown.
	Rules Rules
	// Version of this build.
	Version string
	// Logger. Default: slog.Default().
	Logger *slog.Logger
}

// Agent is one that people can talk to.
type Agent struct {
	Name, Description string
	Tools             []string
	Examples          []string // what somebody could say to it first
}

func (o Options) withDefaults() Options {
	if o.BodyLimit <= 0 {
		o.BodyLimit = 1 << 20
	}
	if o.Rate == 0 {
		o.Rate = 50
	}
	if o.Burst <= 0 {
		o.Burst = 200
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.Undo == 0 {
		o.Undo = 5 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	return o
}

// People knows who is there, and whose a personal link is.
type People interface {
	identity.Resolver
	identity.Links
}

// Inbox is the pages.
type Inbox struct {
	engine  *engine.Engine
	people  People
	options Options
	log     *slog.Logger
	mux     *http.ServeMux
	rates   *pace.Rates
	csrf    *http.CrossOriginProtection
	looks   *looks
	ending  context.Context
	end     context.CancelFunc
}

var _ http.Handler = (*Inbox)(nil)

// New makes the pages over an engine.
func New(e *engine.Engine, people People, options Options) (*Inbox, error) {
	options = options.withDefaults()
	in := &Inbox{engine: e, people: people, options: options, log: options.Logger, mux: http.NewServeMux(), rates: pace.New(options.Rate, options.Burst)}
	var err error
	if in.looks, err = newLooks(); err != nil {
		return nil, err
	}
	if in.csrf, err = network.Origins(options.PublicURL); err != nil {
		return nil, err
	}
	in.ending, in.end = context.WithCancel(context.Background())
	in.routes()
	return in, nil
}

// Close ends what waits: live connections close, so that a graceful stop need not wait for them. Pages connect again by themselves.
func (in *Inbox) Close() { in.end() }

// ServeHTTP implements http.Handler.
func (in *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	in.mux.ServeHTTP(w, r)
}
