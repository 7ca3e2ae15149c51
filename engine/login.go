package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	tokenPrefix  = "hsl_"
	sessionLogin = 12 * time.Hour
	linkLogin    = 15 * time.Minute
	mostLogin    = 90 * 24 * time.Hour
)

// CreateLogin stores a login of somebody whom the caller vouches for, a link or a session, and gives its token. It is good for 12 hours, a
// link for 15 minutes, unless ExpiresAt says otherwise.
func (e *Engine) CreateLogin(ctx context.Context, tenant holdshort.TenantID, login holdshort.Login) (token string, err error) {
	wrong := func(field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "create login", Field: field, Message: message, Hint: hint}
	}
	switch {
	case login.Kind != holdshort.LoginLink && login.Kind != holdshort.LoginSession:
		return "", wrong("kind", "unknown kind of login", "use link or session")
	case !isName(login.Actor.ID, 1) || login.Actor.Kind != holdshort.Person:
		return "", wrong("actor", "only a person logs in", "name the person; services use keys")
	}
	token, hash := newSecret(tokenPrefix)
	err = e.update(ctx, tenant, func(c *change) error {
		l := login
		l.Hash, l.CreatedAt, l.UsedAt = hash, c.now, time.Time{}
		if l.ExpiresAt.IsZero() {
			l.ExpiresAt = c.now.Add(lifeOf(l.Kind))
		}
		if !c.now.Before(l.ExpiresAt) || l.ExpiresAt.Sub(c.now) > mostLogin {
			return wrong("expires_at", "a login ends within 90 days, and not in the past", "leave it out for 12 hours, or 15 minutes for a link")
		}
		if err := c.AddLogin(l); err != nil {
			return err
		}
		return c.event("login.created", nil, nil, clip(l.Actor.ID), holdshort.Code(l.Kind), nil)
	}, store.LoginRow(hash))
	if err != nil {
		return "", err
	}
	return token, nil
}

func lifeOf(kind holdshort.LoginKind) time.Duration {
	if kind == holdshort.LoginLink {
		return linkLogin
	}
	return sessionLogin
}

// RedeemLogin turns a link into a session, once.
func (e *Engine) RedeemLogin(ctx context.Context, token string) (tenant holdshort.TenantID, session holdshort.Login, sessionToken string, err error) {
	hash := hashSecret(token)
	if tenant, _, err = e.store.System().LoginByHash(ctx, hash); err != nil {
		return "", holdshort.Login{}, "", noSuchLogin(err)
	}
	sessionToken, sessionHash := newSecret(tokenPrefix)
	err = e.update(ctx, tenant, func(c *change) error {
		link, err := c.Login(hash)
		if err != nil {
			return err
		}
		if link.Kind != holdshort.LoginLink || !link.Live(c.now) {
			return holdshort.NotFound
		}
		session = holdshort.Login{Hash: sessionHash, Kind: holdshort.LoginSession, Actor: link.Actor, CreatedAt: c.now, ExpiresAt: c.now.Add(sessionLogin)}
		if err := c.UseLogin(hash); err != nil {
			return err
		}
		if err := c.AddLogin(session); err != nil {
			return err
		}
		return c.event("login.redeemed", nil, nil, clip(link.Actor.ID), "", nil)
	}, store.LoginRow(hash))
	if err != nil {
		return "", holdshort.Login{}, "", noSuchLogin(err)
	}
	session.Hash = ""
	return tenant, session, sessionToken, nil
}

// noSuchLogin says the same of a token that never was, one that was used and one that expired.
func noSuchLogin(err error) error {
	if holdshort.CodeOf(err) != holdshort.NotFound {
		return err
	}
	return &holdshort.Error{Code: holdshort.NotFound, Op: "look up login", Message: "no such login, or it was used, or it expired", Hint: "log in again"}
}

// LoginBy gives the session that a token opens: NotFound if it is unknown, ended, expired or a link.
func (e *Engine) LoginBy(ctx context.Context, token string) (holdshort.TenantID, holdshort.Login, error) {
	tenant, login, err := e.store.System().LoginByHash(ctx, hashSecret(token))
	if err != nil {
		return "", holdshort.Login{}, noSuchLogin(err)
	}
	now, err := e.store.System().Now(ctx)
	if err != nil {
		return "", holdshort.Login{}, err
	}
	if login.Kind != holdshort.LoginSession || !login.Live(now) {
		return "", holdshort.Login{}, noSuchLogin(holdshort.NotFound)
	}
	login.Hash = ""
	return tenant, login, nil
}

// EndLogin ends a session, or a link that nobody used yet. One that is not there is no error.
func (e *Engine) EndLogin(ctx context.Context, token string) error {
	hash := hashSecret(token)
	tenant, _, err := e.store.System().LoginByHash(ctx, hash)
	if err == nil {
		err = e.update(ctx, tenant, func(c *change) error {
			login, err := c.Login(hash)
			if err != nil || !login.Live(c.now) {
				return err
			}
			if err := c.UseLogin(hash); err != nil {
				return err
			}
			return c.event("login.ended", nil, nil, clip(login.Actor.ID), holdshort.Code(login.Kind), nil)
		}, store.LoginRow(hash))
	}
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return nil
	}
	return err
}
