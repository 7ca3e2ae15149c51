package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/holdshort/holdshort"
)

const (
	statePurpose = "login state"
	stateLife    = 10 * time.Minute
	callbackPath = "/login/callback"
)

// login is this server's registration at a provider.
type login struct {
	about  OIDC
	found  *discovery
	issuer *issuer
}

func newLogin(o OIDC, c Config, from *issuer) (*login, error) {
	if o.RedirectURL == "" {
		if c.PublicURL == "" {
			return nil, invalid("public_url", "people who log in at the provider could not be sent back", "set server.public_url to where people reach this server")
		}
		o.RedirectURL = c.PublicURL + callbackPath
	}
	if err := checkURL("oidc.redirect_url", o.RedirectURL); err != nil {
		return nil, err
	}
	if len(o.Scopes) == 0 {
		o.Scopes = []string{oidc.ScopeOpenID, "email", "profile"}
	}
	self := *from
	self.audience = []string{o.ClientID} // an ID token is for the client, whatever bearer tokens are for
	return &login{about: o, found: newDiscovery(o.Issuer, c), issuer: &self}, nil
}

func (l *login) client(ctx context.Context) (*oauth2.Config, error) {
	p, err := l.found.provider(ctx)
	if err != nil {
		return nil, err
	}
	return &oauth2.Config{ClientID: l.about.ClientID, ClientSecret: l.about.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: l.about.RedirectURL, Scopes: l.about.Scopes}, nil
}

// underway is a login that somebody began in one browser. It lives in a signed cookie there and nowhere else.
type underway struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Next     string `json:"x,omitempty"`
	Until    int64  `json:"u"`
}

// begin gives the provider's address to go to, and what this browser must bring back.
func (i *Identity) begin(ctx context.Context, next string) (address, state string, err error) {
	client, err := i.login.client(ctx)
	if err != nil {
		return "", "", err
	}
	u := underway{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next, Until: i.config.Clock().Add(stateLife).Unix()}
	text, err := json.Marshal(u)
	if err != nil {
		return "", "", err
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	state = body + "." + strings.Replace(i.engine.Sign(i.config.Tenant, statePurpose, []byte(body)), ":", ".", 1)
	return client.AuthCodeURL(u.State, oidc.Nonce(u.Nonce), oauth2.S256ChallengeOption(u.Verifier)), state, nil
}

func (i *Identity) readState(cookie string) (u underway, err error) {
	stale := errors.New("the login was begun elsewhere, or too long ago")
	body, mac, _ := strings.Cut(cookie, ".")
	ok, err := i.engine.Signed(i.config.Tenant, statePurpose, strings.Replace(mac, ".", ":", 1), []byte(body))
	if err != nil || !ok {
		return u, stale
	}
	text, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(text, &u) != nil || !i.config.Clock().Before(time.Unix(u.Until, 0)) {
		return underway{}, stale
	}
	return u, nil
}

// finish takes what the provider sent back, and gives who logged in.
func (i *Identity) finish(ctx context.Context, u underway, state, code, from string) (holdshort.TenantID, holdshort.Actor, error) {
	var none holdshort.Actor
	if subtle.ConstantTimeCompare([]byte(state), []byte(u.State)) != 1 {
		return "", none, errors.New("the provider answered to another login")
	}
	if from != "" && from != i.login.about.Issuer {
		return "", none, errors.New("another provider answered")
	}
	client, err := i.login.client(ctx)
	if err != nil {
		return "", none, err
	}
	token, err := client.Exchange(oidc.ClientContext(ctx, i.config.HTTP), code, oauth2.VerifierOption(u.Verifier))
	if err != nil {
		var refused *oauth2.RetrieveError
		if errors.As(err, &refused) { // its text holds the provider's whole answer
			err = errors.New("the provider did not take the code: " + clip(refused.ErrorCode))
		}
		return "", none, err
	}
	raw, _ := token.Extra("id_token").(string)
	said, err := i.login.issuer.verify(ctx, raw)
	if err != nil {
		return "", none, err
	}
	if nonce, _ := said.text("nonce"); subtle.ConstantTimeCompare([]byte(nonce), []byte(u.Nonce)) != 1 {
		return "", none, errors.New("the ID token is of another login")
	}
	if party, _ := said.text("azp"); party != "" && party != i.login.about.ClientID {
		return "", none, errors.New("the ID token is of another client")
	}
	p, err := i.login.issuer.person(said)
	if err != nil {
		return "", none, err
	}
	p.actor.Kind, p.actor.Assurance = holdshort.Person, holdshort.AssuranceLogin
	p.actor.Roles = append(p.actor.Roles, i.roles.pack(p.groups)...)
	return p.tenant, p.actor, nil
}
