package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// adminID is who acts with the key of the configuration.
const adminID = "key:admin"

func checkAdminKey(key string) error {
	if key == "" {
		return nil
	}
	distinct := map[rune]bool{}
	for _, c := range key {
		distinct[c] = true
		if notOfToken(c) {
			return invalid("admin_key", "the administrator's key has characters that no bearer token has", "use letters and digits: openssl rand -hex 32")
		}
	}
	if len(key) < minAdminKey {
		return invalid("admin_key", "the administrator's key has less than 24 characters", "set HOLDSHORT_ADMIN_KEY to what `openssl rand -hex 32` prints")
	}
	if len(distinct) < 6 {
		return invalid("admin_key", "the administrator's key is a placeholder", "set HOLDSHORT_ADMIN_KEY to what `openssl rand -hex 32` prints")
	}
	return nil
}

// isAdminKey compares hashes, so that the time it takes says nothing, not even the length.
func (i *Identity) isAdminKey(secret string) bool {
	if i.admin == nil {
		return false
	}
	hash := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(hash[:], i.admin[:]) == 1
}

func (i *Identity) byAdminKey() Who {
	return Who{Tenant: i.config.Tenant, Method: ByKey, Scopes: []string{holdshort.ScopeAdmin}, Actor: holdshort.Actor{ID: adminID, Kind: holdshort.Service,
		Name: "administrator", Roles: []string{policy.Admin, policy.Operator, policy.Reviewer}, Assurance: holdshort.AssuranceToken}}
}

// byKey finds an API key by its secret.
func (i *Identity) byKey(ctx context.Context, secret string) (Who, error) {
	tenant, key, err := i.engine.KeyBySecret(ctx, secret)
	switch holdshort.CodeOf(err) {
	case "":
	case holdshort.NotFound:
		return Who{}, unauthenticated("this API key opens nothing: unknown, revoked or expired", "make another: holdshort keys create", nil)
	default:
		return Who{}, err // the store's trouble is not the caller's
	}
	who := Who{Tenant: tenant, Actor: key.Actor(), Scopes: key.Scopes, Key: key.ID, Method: ByKey}
	if key.User != "" && len(key.Roles) == 0 { // a personal key that was not narrowed is good for what the person is
		who.Actor.Roles = i.roles.of(key.User, nil)
	}
	return who, nil
}
