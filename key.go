package holdshort

import (
	"slices"
	"time"
)

// Key is an API key. Its secret is shown once, when it is made; only the secret's SHA-256 is stored.
type Key struct {
	ID         KeyID     `json:"id"`
	Revision   int64     `json:"-"`
	Name       string    `json:"name"`
	Prefix     string    `json:"prefix"` // the first characters of the secret, to tell keys apart in a list
	Hash       string    `json:"-"`      // hexadecimal
	Roles      []string  `json:"roles,omitempty"`
	Scopes     []string  `json:"scopes,omitempty"` // none: whatever its roles may
	User       string    `json:"user,omitempty"`   // whose personal key it is; none: a service's
	CreatedBy  string    `json:"created_by"`
	CreatedAt  time.Time `json:"created_at"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"` // zero: never
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
	RevokedAt  time.Time `json:"revoked_at,omitzero"`
}

// Scopes of a key. They only take away: a key may what its roles may, and of that what its scopes name.
const (
	ScopeView      = "view"
	ScopeRaise     = "raise"
	ScopeClaim     = "claim"
	ScopeDecide    = "decide"
	ScopeStart     = "start"
	ScopePost      = "post"        // messages of sessions
	ScopeManage    = "manage"      // assign, comment, cancel, retry, take over
	ScopeActAsUser = "act_as_user" // speak for a user
	ScopeKeys      = "keys"
	ScopeWebhooks  = "webhooks"
	ScopeAudit     = "audit"
	ScopeAdmin     = "admin" // all of them
)

// KeyScopes are all scopes that a key can have.
var KeyScopes = []string{ScopeView, ScopeRaise, ScopeClaim, ScopeDecide, ScopeStart, ScopePost, ScopeManage, ScopeActAsUser, ScopeKeys, ScopeWebhooks, ScopeAudit, ScopeAdmin}

// InScope reports whether scopes let somebody do what needs scope. No scopes at all take nothing away.
func InScope(scopes []string, scope string) bool {
	return len(scopes) == 0 || slices.Contains(scopes, scope) || slices.Contains(scopes, ScopeAdmin)
}

// Actor is who acts with the key.
func (k Key) Actor() Actor {
	if k.User != "" {
		return Actor{ID: k.User, Kind: Person, Roles: slices.Clone(k.Roles), Assurance: AssuranceToken}
	}
	return Actor{ID: "key:" + string(k.ID), Kind: Service, Name: k.Name, Roles: slices.Clone(k.Roles), Assurance: AssuranceToken}
}

// Live reports whether the key opens anything at now.
func (k Key) Live(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}
