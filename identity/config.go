package identity

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// Config says who is who. The zero value knows API keys, logins and links, and nobody else.
type Config struct {
	// AdminKey is an administrator's API key from the start, at least 24 characters. It is compared, never stored. Default: none.
	AdminKey string
	// Tenant of the administrator's key, and of people whose tokens name none. Default: "default".
	Tenant holdshort.TenantID
	// Roles gives each role to those who are listed: ids of people, or group:NAME for everybody whose token says so.
	Roles map[string][]string
	// OIDC is the provider at which people log in. Its tokens are good as bearer tokens too. Default: none.
	OIDC *OIDC
	// JWT is an issuer of bearer tokens. Default: none.
	JWT *JWT
	// Issuers are further ones. Each needs a Prefix of its own, or the person 7 of one would be the person 7 of another.
	Issuers []JWT
	// PublicURL is where people reach the server: https, or http on loopback. Cookies are bound to it. Needed for OIDC.
	PublicURL string
	// Keys says that the store has API keys already, so that a server which knows nobody else can be told from one that is open to all.
	Keys bool
	// Open makes every caller on loopback the local administrator. Only for a server that listens on loopback and knows nobody.
	Open bool
	// Hook is asked first. It gives who calls and true, an error that refuses the call, or false to leave it to the rest.
	Hook func(*http.Request) (Who, bool, error)
	// Session is how long a login at the provider lasts, 30 days at most. Default: 12 hours.
	Session time.Duration
	// HTTP is how issuers are reached. Default: a client of its own with a timeout of 10 seconds.
	HTTP *http.Client
	// Clock. Default: time.Now.
	Clock func() time.Time
	// Logger. Default: slog.Default().
	Logger *slog.Logger
}

// Claims say where a token has what we want to know. A name with dots that the token does not have as it is leads into objects.
type Claims struct {
	// User is the claim that is a person's id. Default: the e-mail address if the issuer verified it, in lower case; else sub.
	User string
	// Name to show. Default: "name".
	Name string
	// Groups that Config.Roles can name as group:NAME. Default: "groups".
	Groups string
	// Roles are taken as they are. Default: none; an issuer's "admin" need not be ours.
	Roles string
	// Tenant that the person belongs to; a token without it is refused. Default: none, everybody is of Config.Tenant.
	Tenant string
}

// OIDC is an OpenID Connect provider, and this server's registration there.
type OIDC struct {
	Claims
	Issuer       string
	ClientID     string
	ClientSecret string   // "" for a public client: the code is protected by PKCE either way
	RedirectURL  string   // default: PublicURL + "/login/callback"
	Scopes       []string // default: openid, email, profile
	Audience     []string // of bearer tokens; default: ClientID
	Prefix       string   // put in front of ids; default: none
}

// JWT is an issuer of bearer tokens. Exactly one of KeysURL, Keys and Secret says how they are checked; none: the issuer's discovery document.
type JWT struct {
	Claims
	Issuer     string
	Audience   []string // a token must have one of them
	KeysURL    string   // address of its public keys (JWKS)
	Keys       []byte   // its public keys: a JWKS, or PEM
	Secret     string   // shared, at least 32 bytes: HS256
	Algorithms []string // default: RS256, PS256, ES256, ES384, EdDSA; of a Secret: HS256
	Prefix     string   // put in front of ids; default: none
}

const (
	minAdminKey   = 24
	minSecret     = 32
	sessionLength = 12 * time.Hour
	mostSession   = 30 * 24 * time.Hour
)

func (c Config) withDefaults() Config {
	if c.Tenant == "" {
		c.Tenant = "default"
	}
	if c.Session <= 0 {
		c.Session = sessionLength
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	return c
}

// Configured reports whether anybody can be told from anybody else.
func (c Config) Configured() bool { return c.Keys || c.named() }

func (c Config) named() bool {
	return c.AdminKey != "" || c.OIDC != nil || c.JWT != nil || len(c.Issuers) > 0 || c.Hook != nil
}

// Check returns the error that New would return. It connects to nothing.
func (c Config) Check() error {
	_, err := New(nil, c)
	return err
}

func (c Config) check() error {
	if _, err := holdshort.ParseTenantID(string(c.Tenant)); err != nil {
		return err
	}
	if err := checkAdminKey(c.AdminKey); err != nil {
		return err
	}
	if c.PublicURL != "" {
		if err := checkURL("public_url", c.PublicURL); err != nil {
			return err
		}
	}
	if c.Session > mostSession {
		return invalid("session", "a login of more than 30 days", "let people log in again: hours are usual")
	}
	if c.Open && c.named() {
		return invalid("open", "there is somebody to tell callers by, and everybody would be let in beside them", "leave Open out, or the rest")
	}
	byAddress := func(claim string) bool { return claim == "" || claim == "email" }
	anybody := c.OIDC != nil && byAddress(c.OIDC.User) || c.JWT != nil && byAddress(c.JWT.User) || slices.ContainsFunc(c.Issuers, func(t JWT) bool { return byAddress(t.User) })
	return checkRoles(c.Roles, anybody)
}

// checkURL wants what nobody on the way can read or change: https, or this very machine.
func checkURL(field, text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "":
		return invalid(field, field+" is not an address like https://hold.example.org", "write scheme and host, nothing after them but a path")
	case u.Scheme == "https", u.Scheme == "http" && loopbackName(u.Hostname()):
		return nil
	}
	return invalid(field, field+" is not https", "use https; http is only for loopback")
}

func invalid(field, message, hint string) error {
	return &holdshort.Error{Code: holdshort.Invalid, Op: "configure identity", Field: field, Message: message, Hint: hint}
}
