package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/holdshort/holdshort"
)

// byToken finds out who a bearer token speaks of.
func (i *Identity) byToken(ctx context.Context, token string) (Who, error) {
	if len(i.issuer) == 0 || strings.Count(token, ".") != 2 {
		return Who{}, unauthenticated("this is no API key and no token that this server knows", howToAuthenticate, nil)
	}
	name, err := issuerOf(token)
	if err == nil && i.issuer[name] == nil {
		err = errors.New("its issuer is not configured")
	}
	if err != nil {
		return Who{}, i.refuseToken(err)
	}
	from := i.issuer[name]
	said, err := from.verify(ctx, token)
	if err != nil {
		return Who{}, i.refuseToken(err)
	}
	p, err := from.person(said)
	if err != nil {
		return Who{}, i.refuseToken(err)
	}
	p.actor.Assurance = holdshort.AssuranceToken
	p.actor.Roles = merge(p.actor.Roles, i.roles.of(p.actor.ID, p.groups))
	return Who{Tenant: p.tenant, Actor: p.actor, Method: ByJWT}, nil
}

// refuseToken is one answer for everything that can be wrong with a token: whoever makes them up learns nothing.
func (i *Identity) refuseToken(cause error) error {
	i.note("a token was refused", cause)
	return unauthenticated("the token is not valid here: forged, expired, or made for somebody else", "get a new one from its issuer; the server's log says what is wrong with it", nil)
}

// issuerOf reads who a token says that it comes from. Nothing of it is believed before its signature is checked with that issuer's keys.
func issuerOf(token string) (string, error) {
	jws, err := jose.ParseSignedCompact(token, anyAlgorithm)
	if err != nil {
		return "", errors.New("it is not a signed token")
	}
	var said struct {
		Issuer string `json:"iss"`
	}
	if err := json.Unmarshal(jws.UnsafePayloadWithoutVerification(), &said); err != nil {
		return "", errors.New("it says nothing that can be read")
	}
	return said.Issuer, nil
}

var anyAlgorithm = func() (all []jose.SignatureAlgorithm) {
	for _, a := range slices.Concat(publicAlgorithms, sharedAlgorithms) {
		all = append(all, jose.SignatureAlgorithm(a))
	}
	return all
}()

// verify checks a token's signature, issuer, audience and times, and gives what it says.
func (i *issuer) verify(ctx context.Context, token string) (claimed, error) {
	jws, err := jose.ParseSignedCompact(token, i.algorithms)
	if err != nil {
		return nil, errors.New("it is not signed with an algorithm that is taken here")
	}
	head := jws.Signatures[0].Protected
	if err := plain(head); err != nil {
		return nil, err
	}
	candidates, err := i.keys.named(ctx, head.KeyID)
	if err != nil {
		return nil, fmt.Errorf("its key %q is not known, and the issuer does not tell: %w", clip(head.KeyID), err)
	}
	var payload []byte
	for _, k := range candidates {
		if k.Algorithm != "" && k.Algorithm != head.Algorithm { // a key is good for what its issuer says
			continue
		}
		if payload, err = jws.Verify(k.Key); err == nil {
			said, err := readClaims(payload)
			if err != nil {
				return nil, err
			}
			return said, i.applies(said)
		}
	}
	return nil, fmt.Errorf("none of the issuer's keys fits (key %q)", clip(head.KeyID))
}

// plain refuses headers that change what a token is. Keys that a token brings itself are never looked at.
func plain(h jose.Header) error {
	if _, has := h.ExtraHeaders["crit"]; has {
		return errors.New("it asks for something that is not understood here")
	}
	kind, _ := h.ExtraHeaders[jose.HeaderType].(string)
	switch strings.TrimPrefix(strings.ToLower(kind), "application/") {
	case "", "jwt", "at+jwt":
		return nil
	}
	return errors.New("it is a token of another kind")
}

// applies checks that a token is of this issuer, for this server, and for now.
func (i *issuer) applies(said claimed) error {
	if from, _ := said.text("iss"); from != i.name {
		return errors.New("it is of another issuer")
	}
	if !slices.ContainsFunc(said.texts("aud"), func(a string) bool { return slices.Contains(i.audience, a) }) {
		return errors.New("it was made for another audience")
	}
	now := i.clock()
	until, ok := said.time("exp")
	if !ok {
		return errors.New("it says no time at which it ends")
	}
	if now.After(until.Add(leeway)) {
		return errors.New("it is expired")
	}
	for _, claim := range []string{"nbf", "iat"} {
		if from, ok := said.time(claim); ok && now.Before(from.Add(-leeway)) {
			return errors.New("it is not valid yet")
		} else if _, has := said[claim]; has && !ok {
			return errors.New("its " + claim + " is no time")
		}
	}
	return nil
}

// person is somebody a token speaks of.
type person struct {
	tenant holdshort.TenantID
	actor  holdshort.Actor
	groups []string
}

// person reads a token that was checked.
func (i *issuer) person(said claimed) (p person, err error) {
	id, err := i.claims.user(said)
	if err != nil {
		return p, err
	}
	id = i.prefix + id
	if !validName(id) || reserved(id) {
		return p, errors.New("its person has an id that cannot be used here")
	}
	p.tenant = i.tenant
	if i.claims.Tenant != "" {
		name, _ := said.text(i.claims.Tenant)
		if p.tenant, err = holdshort.ParseTenantID(name); err != nil {
			return p, errors.New("it names no tenant")
		}
	}
	p.actor = holdshort.Actor{ID: id, Kind: holdshort.Person}
	if client := said.client(); client != "" { // a program that got a token for itself
		if subject, _ := said.text("sub"); subject == client {
			p.actor.Kind = holdshort.Service
		}
	}
	if name, _ := said.text(i.claims.Name); validName(name) && name != id {
		p.actor.Name = name
	}
	p.groups = said.texts(i.claims.Groups)
	if i.claims.Roles != "" {
		for _, role := range said.texts(i.claims.Roles) {
			if validName(role) && !strings.HasPrefix(role, groupPrefix) && len(p.actor.Roles) < mostRoles {
				p.actor.Roles = append(p.actor.Roles, role)
			}
		}
	}
	return p, nil
}

// asTime reads seconds since 1970, as tokens write times.
func asTime(v any) (time.Time, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return time.Time{}, false
	}
	f, err := n.Float64()
	if err != nil || f < 0 || f > 1<<40 {
		return time.Time{}, false
	}
	return time.Unix(int64(f), 0), true
}
