package identity

import (
	"net/http"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// localID is the caller of a server that is open to this machine.
const localID = "local"

// ResolveActor says who sends r: by the hook, else by the Authorization header, else by the login's cookie. A header that is no good is never
// made up for by a cookie.
func (i *Identity) ResolveActor(r *http.Request) (Who, error) {
	who, err := i.resolve(r)
	if err != nil {
		return Who{}, err
	}
	if who.CSRF {
		if err := i.cross.Check(r); err != nil {
			i.Denied(r.Context(), who, "cross_site", r.URL.Path)
			return Who{}, &holdshort.Error{Code: holdshort.Forbidden, Op: "authenticate", Message: "another site asked for this", Hint: "act from the page itself, or with a key", Err: err}
		}
	}
	user, err := actAs(who, r.Header)
	if holdshort.CodeOf(err) == holdshort.Forbidden {
		i.Denied(r.Context(), who, holdshort.ScopeActAsUser, r.URL.Path)
	}
	return user, err
}

func (i *Identity) resolve(r *http.Request) (Who, error) {
	if i.config.Hook != nil {
		if who, ok, err := i.config.Hook(r); err != nil || ok {
			return checkHooked(who, err)
		}
	}
	token, has, err := bearer(r.Header)
	if err != nil {
		return Who{}, err
	}
	session, logged, err := i.sessionToken(r)
	if err != nil {
		return Who{}, err
	}
	switch {
	case has && logged:
		return i.both(r, token, session)
	case has:
		return i.byBearer(r, token)
	case logged:
		return i.bySession(r, session)
	case i.config.Open && local(r):
		return Who{Tenant: i.config.Tenant, Method: ByOpen, CSRF: true, Actor: holdshort.Actor{ID: localID, Kind: holdshort.Person, Name: "local administrator",
			Roles: []string{policy.Admin, policy.Operator, policy.Reviewer}, Assurance: holdshort.AssuranceNone}}, nil
	case i.config.Open:
		return Who{}, unauthenticated("this server knows only callers on its own machine", "call it as localhost and without a proxy, or set HOLDSHORT_ADMIN_KEY", nil)
	}
	return Who{}, unauthenticated("nobody vouches for this call", howToAuthenticate, nil)
}

// both takes a call with a header and a cookie if they are of the same somebody. A cookie that opens nothing is no second opinion.
func (i *Identity) both(r *http.Request, token, session string) (Who, error) {
	who, err := i.byBearer(r, token)
	if err != nil {
		return Who{}, err
	}
	other, err := i.bySession(r, session)
	switch {
	case err == nil && (other.Tenant != who.Tenant || other.Actor.ID != who.Actor.ID):
		return Who{}, unauthenticated("the header and the cookie are of two different callers", "send one of them", nil)
	case err != nil && holdshort.CodeOf(err) != holdshort.Unauthenticated:
		return Who{}, err
	}
	return who, nil
}

func (i *Identity) byBearer(r *http.Request, token string) (Who, error) {
	switch {
	case i.isAdminKey(token):
		return i.byAdminKey(), nil
	case strings.HasPrefix(token, keyPrefix):
		return i.byKey(r.Context(), token)
	}
	return i.byToken(r.Context(), token)
}

// checkHooked keeps an embedder's hook from letting in nobody, or the kernel itself.
func checkHooked(who Who, err error) (Who, error) {
	if err != nil {
		return Who{}, err
	}
	_, bad := holdshort.ParseTenantID(string(who.Tenant))
	kinds := map[holdshort.ActorKind]bool{holdshort.Person: true, holdshort.Agent: true, holdshort.Service: true}
	if bad != nil || !validName(who.Actor.ID) || !kinds[who.Actor.Kind] {
		return Who{}, &holdshort.Error{Code: holdshort.Internal, Op: "authenticate", Message: "the hook let in somebody without tenant, id or kind", Hint: "fill Tenant, Actor.ID and Actor.Kind, or give false"}
	}
	if who.Actor.Assurance == "" || who.Actor.Assurance == holdshort.AssuranceSystem {
		who.Actor.Assurance = holdshort.AssuranceToken
	}
	if who.Method == "" {
		who.Method = "hook"
	}
	return who, nil
}
