package api

import (
	"net/http"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) keyEndpoints() []endpoint {
	return []endpoint{
		route("GET", "/v1/keys", about{tag: "keys", summary: "API keys, newest first, without their secrets.", action: policy.ManageKeys}, (*call).listKeys),
		route("POST", "/v1/keys", about{tag: "keys", summary: "Make an API key. Its secret is in this answer and never again.", action: policy.ManageKeys, status: 201, once: true, errors: []int{409, 413, 422}}, (*call).createKey),
		route("DELETE", "/v1/keys/{id}", about{tag: "keys", summary: "End a key for good.", action: policy.ManageKeys, errors: []int{409}}, (*call).revokeKey),
		route("GET", "/v1/me", about{tag: "keys", summary: "Who these credentials are, and what they may."}, (*call).me),
		route("GET", "/v1/stats", about{tag: "keys", summary: "How things stand: what is open, what was decided, what waits.", action: policy.View}, (*call).stats),
	}
}

// must refuses an actor who may not do something in general.
func (c *call) must(a policy.Action) error {
	if ok, _ := policy.Can(a, c.who.Actor, policy.Resource{}); !ok {
		return c.deny(a)
	}
	return nil
}

func (c *call) listKeys(none) (Page[holdshort.Key], error) {
	if err := c.must(policy.ManageKeys); err != nil {
		return Page[holdshort.Key]{}, err
	}
	list, err := c.engine.Keys(c.ctx, c.who.Tenant)
	return page(list, "", func(k holdshort.Key) holdshort.Key { return k }), err
}

// NewKey says what a key is for.
type NewKey struct {
	Name      string   `json:"name"`
	User      string   `json:"user,omitempty"`   // whose personal key it is; none: a service's
	Roles     []string `json:"roles,omitempty"`  // of whoever acts with it
	Scopes    []string `json:"scopes,omitempty"` // none: whatever the roles may
	ExpiresIn Duration `json:"expires_in,omitempty"`
}

// MadeKey is a key with its secret, shown once.
type MadeKey struct {
	holdshort.Key
	Secret string `json:"secret,omitempty"` // not in a replayed answer: nobody keeps it
}

func (c *call) createKey(in struct {
	Body NewKey `body:""`
}) (MadeKey, error) {
	b := in.Body
	if err := c.must(policy.ManageKeys); err != nil {
		return MadeKey{}, err
	}
	for field, texts := range map[string][]string{"name": {b.Name}, "user": {b.User}, "roles": b.Roles, "scopes": b.Scopes} {
		for _, text := range texts {
			if err := plainName(field, text); err != nil {
				return MadeKey{}, err
			}
		}
	}
	id := holdshort.NewKeyID(time.Now())
	ctx, err := c.once(http.StatusCreated, string(id))
	if err != nil {
		return MadeKey{}, err
	}
	key, secret, err := c.engine.CreateKey(ctx, c.who.Tenant, engine.CreateKeyInput{ID: id, Name: b.Name, User: b.User, Roles: b.Roles, Scopes: b.Scopes,
		ExpiresIn: max(time.Duration(b.ExpiresIn), 0), Actor: c.who.Actor, Within: c.who.Scopes})
	if before, again := c.replayed(err); again {
		key, err = c.keyByID(holdshort.KeyID(before))
	}
	return MadeKey{key, secret}, err
}

func (c *call) keyByID(id holdshort.KeyID) (holdshort.Key, error) {
	list, err := c.engine.Keys(c.ctx, c.who.Tenant)
	if err != nil {
		return holdshort.Key{}, err
	}
	if i := slices.IndexFunc(list, func(k holdshort.Key) bool { return k.ID == id }); i >= 0 {
		return list[i], nil
	}
	return holdshort.Key{}, &holdshort.Error{Code: holdshort.NotFound, Op: "load key " + string(id), Message: "no such key", Hint: "check the id and the tenant"}
}

func (c *call) revokeKey(in struct {
	ID holdshort.KeyID `path:"id"`
}) (holdshort.Key, error) {
	if err := c.must(policy.ManageKeys); err != nil {
		return holdshort.Key{}, err
	}
	return c.engine.RevokeKey(c.ctx, c.who.Tenant, in.ID, c.who.Actor)
}

// Me is who calls.
type Me struct {
	Actor          holdshort.Actor    `json:"actor"`
	Tenant         holdshort.TenantID `json:"tenant"`
	Method         string             `json:"method"` // key, jwt, login or open
	Key            holdshort.KeyID    `json:"key_id,omitempty"`
	Roles          []string           `json:"roles"`
	Scopes         []string           `json:"scopes"`                    // none: whatever the roles may
	May            []policy.Action    `json:"may"`                       // with what is theirs, or where they are asked
	Everywhere     []policy.Action    `json:"everywhere"`                // with anything of the tenant
	CallbackSecret string             `json:"callback_secret,omitempty"` // what callbacks of requests that these credentials raise are signed with
}

func (c *call) me(none) (Me, error) {
	w := c.who
	out := Me{Actor: w.Actor, Tenant: w.Tenant, Method: w.Method, Key: w.Key, Roles: append([]string{}, w.Actor.Roles...), Scopes: append([]string{}, w.Scopes...),
		May: []policy.Action{}, Everywhere: []policy.Action{}}
	for _, a := range policy.Actions {
		if !w.Allows(a) {
			continue
		}
		everywhere, _ := policy.Can(a, w.Actor, policy.Resource{})
		theirs, _ := policy.Can(a, w.Actor, policy.Resource{Owner: w.Actor.Who(), Requester: holdshort.Requester{RaisedBy: w.Actor.ID}})
		asked, _ := policy.Can(a, w.Actor, policy.Resource{Audience: holdshort.Audience{Users: []string{w.Actor.ID}}})
		if everywhere {
			out.Everywhere = append(out.Everywhere, a)
		}
		if everywhere || theirs || asked {
			out.May = append(out.May, a)
		}
	}
	if slices.Contains(out.May, policy.Raise) && w.Actor.Kind != holdshort.Person {
		out.CallbackSecret = c.engine.CallbackSecret(w.Tenant, w.Actor.ID)
	}
	return out, nil
}

// stats are for those who work here: they tell how much there is of what nobody else may see.
func (c *call) stats(none) (engine.Stats, error) {
	if !c.who.Actor.HasRole(policy.Reviewer) {
		if err := c.must(policy.ViewAudit); err != nil {
			return engine.Stats{}, err
		}
	}
	return c.engine.Stats(c.ctx, c.who.Tenant)
}
