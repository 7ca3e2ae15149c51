package identity

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/time/rate"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// Identity knows callers. Many may use it at once.
type Identity struct {
	engine *engine.Engine
	config Config
	log    *slog.Logger
	roles  roles
	admin  *[sha256.Size]byte // of the administrator's key; nil: none
	issuer map[string]*issuer // by the name that their tokens have
	login  *login             // nil: nobody logs in at a provider
	cookie string             // its name
	secure bool               // it goes over https only
	cross  *http.CrossOriginProtection
	noise  *rate.Limiter // of what goes into the log about callers who are nobody
}

var (
	_ Resolver = (*Identity)(nil)
	_ Links    = (*Identity)(nil)
)

// New makes an identity over an engine. Invalid says what is wrong with the configuration. It reaches no issuer: that waits for the first
// token, so that a server starts while its provider is away.
func New(e *engine.Engine, config Config) (*Identity, error) {
	config = config.withDefaults()
	if err := config.check(); err != nil {
		return nil, err
	}
	i := &Identity{engine: e, config: config, log: config.Logger, roles: newRoles(config.Roles), issuer: map[string]*issuer{}, cookie: cookieName,
		cross: http.NewCrossOriginProtection(), noise: rate.NewLimiter(5, 50)}
	if config.AdminKey != "" {
		hash := sha256.Sum256([]byte(config.AdminKey))
		i.admin = &hash
	}
	if u, err := url.Parse(config.PublicURL); err == nil && u.Host != "" {
		if err := i.cross.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			return nil, invalid("public_url", "it is no origin", "write it like https://hold.example.org")
		}
		if u.Scheme == "https" {
			i.cookie, i.secure = secureCookieName, true
		}
	}
	return i, i.trust()
}

// trust takes up the issuers of the configuration.
func (i *Identity) trust() error {
	prefixes := map[string]string{}
	add := func(field string, t JWT) error {
		made, err := newIssuer(field, t, i.config)
		if err != nil {
			return err
		}
		if _, twice := i.issuer[t.Issuer]; twice {
			return invalid(field+".issuer", "it is configured twice", "an issuer has one row; its login and its bearer tokens are both auth.oidc")
		}
		if other, twice := prefixes[t.Prefix]; twice {
			return invalid(field+".prefix", "a person of "+t.Issuer+" could have the id of a person of "+other, "give one of the two a prefix")
		}
		i.issuer[t.Issuer], prefixes[t.Prefix] = made, t.Issuer
		return nil
	}
	if o := i.config.OIDC; o != nil {
		if o.ClientID == "" {
			return invalid("oidc.client_id", "it is missing", "register this server at the provider and write its client id")
		}
		audience := o.Audience
		if len(audience) == 0 {
			audience = []string{o.ClientID}
		}
		if err := add("oidc", JWT{Claims: o.Claims, Issuer: o.Issuer, Audience: audience, Prefix: o.Prefix}); err != nil {
			return err
		}
		var err error
		if i.login, err = newLogin(*o, i.config, i.issuer[o.Issuer]); err != nil {
			return err
		}
	}
	if i.config.JWT != nil {
		if err := add("jwt", *i.config.JWT); err != nil {
			return err
		}
	}
	for _, t := range i.config.Issuers {
		if err := add("issuers", t); err != nil {
			return err
		}
	}
	return nil
}

// Denied leaves the event of a refusal, not more than one a second of each actor; the log says which resource it was about.
func (i *Identity) Denied(ctx context.Context, who Who, action, resource string) {
	if i.noise.Allow() {
		i.log.Info("a caller was refused", "tenant", who.Tenant, "actor", who.Actor.ID, "method", who.Method, "action", action, "resource", clip(resource))
	}
	if who.Actor.ID != "" && who.Tenant != "" {
		i.engine.Denied(ctx, who.Tenant, who.Actor, action)
	}
}

// note tells the log why somebody was not let in, as long as it is not told all the time.
func (i *Identity) note(message string, cause error) {
	if i.noise.Allow() {
		i.log.Info(message, "cause", cause)
	}
}

// unauthenticated is a refusal of the credentials. What exactly is wrong with them goes into the log, not to whoever sent them.
func unauthenticated(message, hint string, cause error) error {
	return &holdshort.Error{Code: holdshort.Unauthenticated, Op: "authenticate", Message: message, Hint: hint, Err: cause}
}

func clip(s string) string {
	if len(s) > mostName {
		return strings.ToValidUTF8(s[:mostName], "") + "…"
	}
	return s
}
