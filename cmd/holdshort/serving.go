package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/channel/webhook"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/inbox"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/telemetry"
)

// serving is a whole server: store, engine, identity and API behind one address.
type serving struct {
	tenant   holdshort.TenantID // in whose log it stands which rules it judges by
	store    kept
	engine   *engine.Engine
	people   *identity.Identity
	api      *api.Server
	inbox    *inbox.Inbox
	listener net.Listener
	http     *http.Server
	log      *slog.Logger
	home     string        // the page that a login link leads to; default: the inbox
	patience time.Duration // for calls under way when it stops
	flush    func(context.Context) error
	parts    *setup.Parts
}

// servingOptions say what to serve. Store and Addr are needed.
type servingOptions struct {
	Addr     string
	Store    kept // closed by the serving
	Engine   engine.Config
	Parts    *setup.Parts // agents with their tools and rules, closed by the serving; default: none
	Identity identity.Config
	API      api.Options
	Inbox    inbox.Options
	Webhooks webhook.Options
	Shutdown time.Duration // default: defaultShutdown
	Log      *slog.Logger
}

// newServing binds the address and wires everything; nothing runs before run. The store is closed if it cannot.
func newServing(ctx context.Context, o servingOptions) (s *serving, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Store.Close(), o.Parts.Close())
		}
	}()
	if o.Parts != nil {
		o.Engine = o.Parts.Engine(o.Engine)
		for _, a := range o.Parts.Listed {
			o.API.Agents = append(o.API.Agents, api.Agent{Name: a.Name, Description: a.Description, Mode: a.Mode, Tools: a.Tools})
			o.Inbox.Agents = append(o.Inbox.Agents, inbox.Agent{Name: a.Name, Description: a.Description, Tools: a.Tools, Examples: a.Examples})
		}
	}
	if err := identity.RequireAuth(o.Addr, o.Identity); err != nil { // whoever calls this, it holds
		return nil, err
	}
	s = &serving{store: o.Store, parts: o.Parts, tenant: cmp.Or(o.Identity.Tenant, "default"), log: o.Log, patience: cmp.Or(o.Shutdown, defaultShutdown)}
	version := thisBuild().Version
	traces, flush, err := telemetry.Traces(ctx, version, o.Engine.Node)
	if err != nil {
		return nil, err
	}
	s.flush = flush
	metrics := telemetry.NewMetrics()
	observer := telemetry.NewObserver(metrics, traces)
	o.Engine.Senders = map[string]engine.Sender{engine.WebhookChannel: webhook.New(o.Webhooks)}
	o.Engine.Observer, o.Engine.Logger, o.Engine.Drain = observer, o.Log, cmp.Or(o.Engine.Drain, s.patience)
	if s.engine, err = engine.New(o.Store, o.Engine); err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", o.Addr); err != nil {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "listen on " + o.Addr, Message: "the address cannot be had", Hint: "stop what listens there, or choose another with --addr", Err: err}
	}
	listener := s.listener // an error leaves no s
	defer func() {
		if err != nil {
			listener.Close()
		}
	}()
	if o.Identity.Open && !isLoopback(s.listener.Addr()) { // a name may lead elsewhere than it says
		return nil, &holdshort.Error{Code: holdshort.Forbidden, Op: "listen on " + o.Addr, Message: "everybody who reaches it would be the administrator", Hint: "serve on 127.0.0.1, or leave --open out"}
	}
	if o.API.PublicURL == "" && isLoopback(s.listener.Addr()) {
		o.API.PublicURL = s.url()
	}
	o.Identity.PublicURL, o.Identity.Logger = o.API.PublicURL, o.Log
	if s.people, err = identity.New(s.engine, o.Identity); err != nil {
		return nil, err
	}
	metrics.Watch(s.engine, cmp.Or(o.Identity.Tenant, "default"))
	o.API.Version, o.API.Logger, o.API.Metrics = version, o.Log, metrics
	o.Inbox.Rules = rulesPage(o.Parts, o.Store)
	o.Inbox.PublicURL, o.Inbox.Version, o.Inbox.Logger, o.Inbox.BodyLimit = o.API.PublicURL, version, o.Log, o.API.BodyLimit
	if s.inbox, err = inbox.New(s.engine, s.people, o.Inbox); err != nil {
		return nil, err
	}
	o.API.Pages = s.inbox
	if s.api, err = api.New(s.engine, s.people, o.API); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/login", s.people.LoginHandler())
	mux.Handle("/login/", s.people.LoginHandler())
	mux.Handle("/logout", s.people.LogoutHandler())
	mux.Handle("/", s.api)
	s.http = &http.Server{Handler: observer.Door(timely(mux), o.Log), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)}
	return s, nil
}

// url is where the server can be reached from this machine.
func (s *serving) url() string {
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return ""
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

func isLoopback(a net.Addr) bool {
	at, ok := a.(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// run serves until ctx ends, then lets calls under way finish, hands runs back and closes the store. up is called once everything runs.
func (s *serving) run(ctx context.Context, up func() error) (err error) {
	running, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	defer stopEngine()
	engineEnd, httpEnd := make(chan error, 1), make(chan error, 1)
	go func() { engineEnd <- s.engine.Run(running) }()
	select {
	case <-s.engine.Ready():
	case err := <-engineEnd:
		s.listener.Close()
		return errors.Join(err, s.parts.Close(), s.store.Close())
	}
	if s.parts != nil && s.parts.Version != "" {
		if err := s.engine.PolicyLoaded(ctx, s.tenant, s.parts.Version, s.parts.Rules); err != nil {
			s.log.Warn("the log does not say which rules stand", "version", s.parts.Version, "error", err)
		}
	}
	go func() { httpEnd <- s.http.Serve(s.listener) }()
	if err = up(); err == nil {
		select {
		case <-ctx.Done():
		case err = <-engineEnd:
			engineEnd <- nil
		case err = <-httpEnd:
		}
	}
	s.log.Info("stopping", "patience", s.patience.String())
	s.api.Close() // what waits is answered as things stand
	s.inbox.Close()
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience)
	defer cancel()
	if stopped := s.http.Shutdown(patient); stopped != nil {
		s.http.Close()
	}
	stopEngine()
	if ended := <-engineEnd; !errors.Is(ended, context.Canceled) {
		err = errors.Join(err, ended)
	}
	err = errors.Join(err, s.parts.Close(), s.store.Close())
	flushed, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if lost := s.flush(flushed); lost != nil {
		s.log.Warn("traces could not be sent", "error", lost)
	}
	return err
}

// recovered says what stands in the way. What waits and what goes on, the engine says itself.
func (s *serving) recovered() {
	if q := s.store.Quarantine(); q != "" {
		s.log.Error("the store is quarantined: nothing runs", "reason", q, "hint", "look at it with holdshort doctor, then holdshort doctor --accept-restore")
	}
}

// bodyTime is how long somebody may take to send a body: a long poll may last, a slow upload not.
const bodyTime = time.Minute

func timely(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			control := http.NewResponseController(w)
			if control.SetReadDeadline(time.Now().Add(bodyTime)) == nil {
				r.Body = &timedBody{r.Body, control}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody lifts the deadline when the body has been read.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// loginLink makes a one-time link for somebody.
func (s *serving) loginLink(ctx context.Context, tenant holdshort.TenantID, who holdshort.Actor) (string, error) {
	path, err := s.people.LoginLink(ctx, tenant, who, cmp.Or(s.home, "/"))
	return strings.TrimRight(s.url(), "/") + path, err
}
