package main

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/channel/webhook"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/telemetry"
)

const (
	defaultAddr     = "127.0.0.1:8080"
	defaultShutdown = 10 * time.Second
)

type serveCommand struct {
	Config   string   `placeholder:"FILE" env:"HOLDSHORT_CONFIG" help:"Configuration. Default: holdshort.yaml, if it is there."`
	Addr     string   `placeholder:"HOST:PORT" env:"HOLDSHORT_ADDR" help:"Address to listen on. Default: 127.0.0.1:8080. Any other than loopback needs authentication."`
	Open     bool     `help:"Ask nobody on this machine who they are: every caller is the administrator. Only on loopback, without a proxy in front, for trying things out."`
	LeaveOut []string `placeholder:"SECTION" help:"Start without these sections of the configuration, which this build does not run: channels."`
	storeFlags
	dir      string       // of the configuration
	shutdown atomic.Int64 // server.shutdown, as a time.Duration
}

func (*serveCommand) Help() string {
	return `Serves the HTTP API, the decision pages and the event streams over one store, until it is interrupted. Then calls under way finish and what waits keeps waiting, in the database.

HOLDSHORT_ADMIN_KEY in the environment is an administrator's API key from the start. On loopback a one-time login link is printed, and the commands of this machine find the server without flags.

Examples:

    holdshort serve
    holdshort serve --addr 127.0.0.1:9000 --store sqlite:/var/lib/holdshort/holdshort.db
    HOLDSHORT_ADMIN_KEY=… holdshort serve --addr :8080 --store postgres://holdshort@db/holdshort --keyring /etc/holdshort/keys`
}

// Grace is the time for calls under way, the same again for those of runs, and some to close the store.
func (c *serveCommand) Grace() time.Duration {
	return 2*cmp.Or(time.Duration(c.shutdown.Load()), defaultShutdown) + 10*time.Second
}

// read gives the configuration with the flags over it.
func (c *serveCommand) read(ctx context.Context, out *console) (config.Config, error) {
	file := c.Config
	if file == "" {
		if _, err := os.Stat(defaultConfig); err != nil {
			return c.over(config.Config{}), nil
		}
		file = defaultConfig
	}
	read, _, err := readServable(ctx, servable{file: file, leaveOut: c.LeaveOut, ownStore: c.Store != ""})
	if err != nil {
		return read, shownFaults(out, err)
	}
	c.dir = filepath.Dir(file)
	return c.over(read), nil
}

func (c *serveCommand) over(read config.Config) config.Config {
	c.shutdown.Store(int64(read.Server.Shutdown))
	read.Server.Addr = cmp.Or(c.Addr, read.Server.Addr, defaultAddr)
	for _, s := range read.Stores { // there is one at most
		c.Store, c.Keyring = cmp.Or(c.Store, s.URL), cmp.Or(c.Keyring, s.Keyring)
	}
	return read
}

func (c *serveCommand) Run(ctx context.Context, out *console) error {
	read, err := c.read(ctx, out)
	if err != nil {
		return err
	}
	l, err := c.locate(out)
	if err != nil {
		return err
	}
	log := telemetry.Logger(out.stderr, level(read.Server.Log))
	known, err := identityOf(read, os.Getenv("HOLDSHORT_ADMIN_KEY"), c.Open)
	if err != nil {
		return err
	}
	if known.AdminKey != "" {
		out.secrets = append(out.secrets, known.AdminKey)
	}
	if err := c.admit(ctx, l, read.Server.Addr, &known); err != nil { // before anything is made
		return err
	}
	networks, err := read.Server.Outgoing.Prefixes()
	if err != nil {
		return err
	}
	opened, err := c.open(ctx, l, access{Write: true, Migrate: true, Logger: log})
	if err != nil {
		return err
	}
	parts, err := setup.Build(ctx, read, setup.Options{Dir: c.dir, Store: opened, Logger: log})
	if err != nil {
		opened.Close()
		return shownFaults(out, err)
	}
	s, err := newServing(ctx, servingOptions{Addr: read.Server.Addr, Store: opened, Engine: engine.Config{}, Parts: parts, Identity: known, Log: log, Shutdown: time.Duration(read.Server.Shutdown),
		Webhooks: webhook.Options{AllowHTTP: read.Server.Outgoing.HTTP, AllowPrivate: read.Server.Outgoing.Private, AllowNetworks: networks},
		API:      api.Options{PublicURL: read.Server.PublicURL, BodyLimit: int64(read.Server.MaxBody), Rate: read.Server.Rate.PerSecond, Burst: read.Server.Rate.Burst}})
	if err != nil {
		return err
	}
	for _, section := range read.Unbuilt() {
		log.Warn("left out", "section", section)
	}
	for _, w := range parts.Warnings.Sorted() {
		log.Warn("warning about the configuration", "place", w.Place(), "key", w.Path, "warning", w.Message, "hint", w.Hint)
	}
	for _, a := range parts.Listed {
		log.Info("agent", "name", a.Name, "mode", a.Mode, "tools", len(a.Tools))
	}
	s.recovered()
	var local profile
	defer func() { local.forget(false) }()
	return s.run(ctx, func() (err error) {
		if err := registerWebhooks(ctx, s.engine, tenantOf(read), read.Webhooks, log); err != nil {
			return err
		}
		out.printf("holdshort serves %s from %s\n", s.url(), l.String())
		log.Info("serving", "url", s.url(), "store", l.String(), "version", thisBuild().Version)
		if isLoopback(s.listener.Addr()) {
			local, err = s.welcome(ctx, out, tenantOf(read), localPerson())
		}
		return err
	})
}

// admit refuses an address that others can reach when nobody could be told from anybody else. A store that has keys already knows somebody.
func (c *serveCommand) admit(ctx context.Context, l location, addr string, known *identity.Config) error {
	refused := identity.RequireAuth(addr, *known)
	if refused == nil || known.Open {
		return refused
	}
	if schema, err := l.schema(ctx); err != nil || len(schema.Applied) == 0 || len(schema.Pending) > 0 {
		return refused
	}
	s, err := c.open(ctx, l, access{})
	if err != nil {
		return refused
	}
	defer s.Close()
	err = s.View(ctx, known.Tenant, func(tx store.ReadTx) error {
		keys, err := tx.Keys()
		known.Keys = slices.ContainsFunc(keys, func(k holdshort.Key) bool { return k.Live(tx.Now()) })
		return err
	})
	if err != nil {
		return err
	}
	return identity.RequireAuth(addr, *known)
}

// welcome makes the server easy to reach for whoever started it here: a login link, and a profile for the other commands.
func (s *serving) welcome(ctx context.Context, out *console, tenant holdshort.TenantID, who holdshort.Actor) (profile, error) {
	link, err := s.loginLink(ctx, tenant, who)
	if err != nil {
		return profile{}, err
	}
	out.printf("log in, once: %s\n", link)
	token, err := profileToken(ctx, s.engine, tenant, who)
	if err != nil {
		return profile{}, err
	}
	local := profile{URL: s.url(), Token: token}
	if file, err := local.write(); err != nil {
		s.log.Warn("no profile for the commands of this machine", "error", err)
		out.notef("holdshort: no profile could be written: use --url and HOLDSHORT_TOKEN")
	} else {
		out.printf("other commands find it by %s\n", file)
	}
	return local, nil
}

// profileToken gives the key that the last profile had if it still opens this store, else a new one.
func profileToken(ctx context.Context, e *engine.Engine, tenant holdshort.TenantID, who holdshort.Actor) (string, error) {
	if before, err := readProfile(); err == nil && before.Token != "" {
		if of, key, err := e.KeyBySecret(ctx, before.Token); err == nil && of == tenant && key.User == who.ID {
			return before.Token, nil
		}
	}
	return personalKey(ctx, e, tenant, "profile of this machine", who)
}

func personalKey(ctx context.Context, e *engine.Engine, tenant holdshort.TenantID, name string, who holdshort.Actor) (string, error) {
	_, secret, err := e.CreateKey(ctx, tenant, engine.CreateKeyInput{Name: name, User: who.ID, Roles: who.Roles, ExpiresIn: 30 * 24 * time.Hour, Actor: holdshort.SystemActor("profile")})
	return secret, err
}

// localPerson is whoever started the server: the machine says who that is, and nobody else vouches for it.
func localPerson() holdshort.Actor {
	name := "operator"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return holdshort.Actor{ID: name, Kind: holdshort.Person, Name: name, Roles: []string{policy.Admin, policy.Operator, policy.Reviewer}, Assurance: holdshort.AssuranceLogin}
}

func tenantOf(c config.Config) holdshort.TenantID {
	return holdshort.TenantID(cmp.Or(c.Auth.Tenant, "default"))
}

func level(name string) slog.Level {
	return map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[name]
}

// identityOf turns the configuration into who is who.
func identityOf(c config.Config, adminKey string, open bool) (identity.Config, error) {
	out := identity.Config{AdminKey: adminKey, Tenant: tenantOf(c), Roles: c.Auth.Roles, PublicURL: c.Server.PublicURL, Open: open}
	if o := c.Auth.OIDC; o != nil {
		out.OIDC = &identity.OIDC{Claims: identity.Claims{User: o.User, Name: o.Name, Groups: o.Groups, Roles: o.Roles, Tenant: o.Tenant}, Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret,
			RedirectURL: o.RedirectURL, Scopes: o.Scopes, Audience: o.Audience, Prefix: o.Prefix}
	}
	if j := c.Auth.JWT; j != nil {
		out.JWT = &identity.JWT{Claims: identity.Claims{User: j.User, Name: j.Name, Groups: j.Groups, Roles: j.Roles, Tenant: j.Tenant}, Issuer: j.Issuer, Audience: j.Audience, KeysURL: j.KeysURL,
			Secret: j.Secret, Algorithms: j.Algorithms, Prefix: j.Prefix}
		if j.KeysFile != "" {
			keys, err := os.ReadFile(j.KeysFile)
			if err != nil {
				return out, &holdshort.Error{Code: holdshort.Invalid, Op: "read auth.jwt.keys_file", Err: err, Hint: "check the file and its rights"}
			}
			out.JWT.Keys = keys
		}
	}
	if open && out.Configured() {
		return out, &usageError{Message: "--open: authentication is configured", Hint: "leave --open away, or take HOLDSHORT_ADMIN_KEY and auth away"}
	}
	return out, nil
}
