package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

const (
	secretPrefix = "hs_"
	shownPrefix  = len(secretPrefix) + 6
	mostRoles    = 32
	mostKeyLife  = 10 * 366 * 24 * time.Hour
)

// CreateKeyInput says what an API key is for.
type CreateKeyInput struct {
	ID        holdshort.KeyID // default: a new one
	Name      string
	User      string        // whose personal key it is; none: a service's
	Roles     []string      // of whoever acts with it
	Scopes    []string      // none: whatever the roles may
	ExpiresIn time.Duration // 0: never
	Actor     holdshort.Actor
	Within    []string // the scopes that the actor came with: nobody gives more than they have. None: no bounds
}

// newSecret gives 256 random bits as text, and how they are stored.
func newSecret(prefix string) (secret, hash string) {
	raw := make([]byte, 32)
	rand.Read(raw) // never fails: the runtime ends the program when the system has no randomness
	secret = prefix + base64.RawURLEncoding.EncodeToString(raw)
	return secret, hashSecret(secret)
}

func hashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// CreateKey makes an API key. The secret is shown here and never again.
func (e *Engine) CreateKey(ctx context.Context, tenant holdshort.TenantID, in CreateKeyInput) (key holdshort.Key, secret string, err error) {
	if err = in.check(); err == nil {
		err = mayManage(policy.ManageKeys, in.Actor, "create key")
	}
	if err == nil {
		err = in.mayGive()
	}
	if err == nil {
		secret, err = e.createKey(ctx, tenant, in, &key)
	}
	if err != nil {
		e.deniedFor(ctx, tenant, in.Actor, "hitl.key.create", err)
		return holdshort.Key{}, "", err
	}
	key.Revision, key.Hash = 1, ""
	return key, secret, nil
}

func (e *Engine) createKey(ctx context.Context, tenant holdshort.TenantID, in CreateKeyInput, key *holdshort.Key) (string, error) {
	secret, hash := newSecret(secretPrefix)
	id := in.ID
	if id == "" {
		id = holdshort.NewKeyID(e.clock.now())
	}
	err := e.update(ctx, tenant, func(c *change) error {
		*key = holdshort.Key{ID: id, Name: in.Name, Prefix: secret[:shownPrefix], Hash: hash, Roles: slices.Clone(in.Roles), Scopes: slices.Clone(in.Scopes), User: in.User,
			CreatedBy: clip(in.Actor.ID), CreatedAt: c.now}
		if in.ExpiresIn > 0 {
			key.ExpiresAt = c.now.Add(in.ExpiresIn)
		}
		if err := c.PutKey(*key); err != nil {
			return err
		}
		return c.keyEvent("key.created", *key, in.Actor)
	}, store.KeyRow(id))
	return secret, err
}

func (in CreateKeyInput) check() error {
	wrong := func(field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "create key", Field: field, Message: message, Hint: hint}
	}
	switch {
	case !isName(in.Name, 1):
		return wrong("name", "a key needs a name", "name it after what uses it, such as till or nightly-export")
	case !isName(in.User, 0) || reservedName(in.User):
		return wrong("user", "that is not the id of a person", "send the person's id, or leave it out for a service's key")
	case len(in.Roles) > mostRoles:
		return wrong("roles", fmt.Sprintf("a key has at most %d roles", mostRoles), "make a role for what it does")
	case in.ExpiresIn < 0 || in.ExpiresIn > mostKeyLife:
		return wrong("expires_in", "a key expires within ten years, or never", "leave it out for never")
	}
	for _, role := range in.Roles {
		if !isName(role, 1) {
			return wrong("roles", "a role has no name", "leave it out")
		}
	}
	for _, scope := range in.Scopes {
		if !slices.Contains(holdshort.KeyScopes, scope) {
			return wrong("scopes", fmt.Sprintf("there is no scope %q", clip(scope)), "use "+strings.Join(holdshort.KeyScopes, ", "))
		}
	}
	if in.ID != "" {
		if _, err := holdshort.ParseKeyID(string(in.ID)); err != nil {
			return err
		}
	}
	return nil
}

// reservedName are ids that only the kernel and its keys have.
func reservedName(id string) bool {
	return slices.ContainsFunc([]string{"key:", "system:", "policy:", "cli:", "group:"}, func(prefix string) bool { return strings.HasPrefix(id, prefix) })
}

// mayGive keeps a key from making one that may more than itself.
func (in CreateKeyInput) mayGive() error {
	refused := func(field, message string) error {
		return &holdshort.Error{Code: holdshort.Forbidden, Op: "create key", Field: field, Message: message, Hint: "give no more than you have, or ask an administrator"}
	}
	if in.Actor.Kind != holdshort.System && !in.Actor.HasRole(policy.Admin) {
		for _, role := range in.Roles {
			if !in.Actor.HasRole(role) {
				return refused("roles", clip(in.Actor.ID)+" does not have the role "+clip(role))
			}
		}
	}
	if len(in.Within) == 0 || slices.Contains(in.Within, holdshort.ScopeAdmin) {
		return nil
	}
	if len(in.Scopes) == 0 {
		return refused("scopes", "a key with scopes makes none without")
	}
	if in.User != "" && in.User != in.Actor.ID && !slices.Contains(in.Within, holdshort.ScopeActAsUser) { // whoever has it would be that person
		return refused("user", clip(in.Actor.ID)+" does not have the scope "+holdshort.ScopeActAsUser)
	}
	for _, scope := range in.Scopes {
		if !slices.Contains(in.Within, scope) {
			return refused("scopes", clip(in.Actor.ID)+" does not have the scope "+scope)
		}
	}
	return nil
}

// mayManage refuses before anything is looked up, so that nothing is learned by asking.
func mayManage(a policy.Action, actor holdshort.Actor, op string) error {
	if ok, _ := policy.Can(a, actor, policy.Resource{}); ok {
		return nil
	}
	return &holdshort.Error{Code: holdshort.Forbidden, Op: op, Message: clip(actor.ID) + " may not do that", Hint: "ask an administrator"}
}

// deniedFor leaves the event of a refusal, if it is one.
func (e *Engine) deniedFor(ctx context.Context, tenant holdshort.TenantID, actor holdshort.Actor, action string, err error) {
	if holdshort.CodeOf(err) == holdshort.Forbidden {
		e.denied(ctx, tenant, actor, action, holdshort.Request{})
	}
}

func (c *change) keyEvent(name string, key holdshort.Key, actor holdshort.Actor) error {
	return c.event(name, nil, nil, clip(actor.ID), "", struct {
		Key   holdshort.KeyID `json:"key"`
		User  string          `json:"user,omitempty"`
		Roles []string        `json:"roles,omitempty"`
		Scope []string        `json:"scopes,omitempty"`
	}{key.ID, clip(key.User), firstNames(key.Roles), key.Scopes})
}

// firstNames keeps an event small.
func firstNames(names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, clipTo(name, 40))
	}
	return out
}

// Keys lists the API keys of a tenant, newest first, revoked and expired ones among them. Nothing of their secrets is in it.
func (e *Engine) Keys(ctx context.Context, tenant holdshort.TenantID) (list []holdshort.Key, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		list, err = tx.Keys()
		return err
	})
	for i := range list {
		list[i].Hash = ""
	}
	return list, err
}

// RevokeKey ends a key for good: at once on this node, within a few seconds on the others. Revoking it again changes nothing.
func (e *Engine) RevokeKey(ctx context.Context, tenant holdshort.TenantID, id holdshort.KeyID, actor holdshort.Actor) (key holdshort.Key, err error) {
	if err = mayManage(policy.ManageKeys, actor, "revoke key"); err == nil {
		err = e.update(ctx, tenant, func(c *change) error {
			if key, err = c.Key(id); err != nil || !key.RevokedAt.IsZero() {
				return err
			}
			key.RevokedAt = c.now
			if err := c.PutKey(key); err != nil {
				return err
			}
			return c.keyEvent("key.revoked", key, actor)
		}, store.KeyRow(id))
	}
	if err != nil {
		e.deniedFor(ctx, tenant, actor, "hitl.key.revoke", err)
		return holdshort.Key{}, err
	}
	e.opened.forget(key.Hash)
	key.Hash = ""
	return key, nil
}
