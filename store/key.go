package store

import (
	"time"

	"github.com/holdshort/holdshort"
)

// KeyReader reads API keys; System.KeyByHash finds one by its secret.
type KeyReader interface {
	Key(holdshort.KeyID) (holdshort.Key, error)
	// Keys gives all of the tenant's, newest first.
	Keys() ([]holdshort.Key, error)
}

// KeyWriter stores them. A key's hash is unique among all tenants. What it may is written once: a later Put can only revoke it.
type KeyWriter interface {
	PutKey(holdshort.Key) error
	// TouchKey notes that it was used; a moment before the one that stands changes nothing.
	TouchKey(id holdshort.KeyID, at time.Time) error
}

// LoginReader reads logins; System.LoginByHash finds one by its token.
type LoginReader interface {
	Login(hash string) (holdshort.Login, error)
}

// LoginWriter stores them. A login's hash is unique among all tenants.
type LoginWriter interface {
	AddLogin(holdshort.Login) error
	// UseLogin takes the one use of a link, or ends a session: Conflict if that was done before.
	UseLogin(hash string) error
}
