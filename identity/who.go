package identity

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// Methods by which somebody is known.
const (
	ByKey   = "key"   // an API key
	ByJWT   = "jwt"   // a bearer token of an issuer
	ByLogin = "login" // a cookie
	ByLink  = "link"  // a personal link to one request
	ByOpen  = "open"  // nobody vouched: a server on loopback that asks nobody who they are
)

// Who is somebody who calls.
type Who struct {
	Tenant holdshort.TenantID
	Actor  holdshort.Actor
	Scopes []string        // of the key; none: whatever the actor's roles may
	Key    holdshort.KeyID // "" if it was no API key that the store has
	Method string
	CSRF   bool // the browser sends these credentials by itself: other sites must be kept from using them
}

// Resolver says who a call comes from: Unauthenticated when nobody vouches for the caller, Forbidden when the caller is known and may not
// come in this way.
type Resolver interface {
	ResolveActor(r *http.Request) (Who, error)
}

// Links makes and reads personal links to requests.
type Links interface {
	LinkFor(tenant holdshort.TenantID, req holdshort.Request, person holdshort.Actor, ttl time.Duration) Token
	LinkActor(ctx context.Context, request holdshort.RequestID, token Token) (Who, holdshort.Request, error)
}

// scopeOf is what a scoped key must name to do something. An action that is not here needs the scope of all.
var scopeOf = map[policy.Action][]string{
	policy.View: {holdshort.ScopeView, holdshort.ScopeRaise, holdshort.ScopeClaim, holdshort.ScopeDecide, holdshort.ScopeStart, holdshort.ScopePost,
		holdshort.ScopeManage}, // whoever acts on something looks at it; what there is to see is the policy's matter
	policy.Decide:         {holdshort.ScopeDecide},
	policy.Raise:          {holdshort.ScopeRaise},
	policy.Claim:          {holdshort.ScopeClaim},
	policy.Start:          {holdshort.ScopeStart},
	policy.Post:           {holdshort.ScopePost},
	policy.Assign:         {holdshort.ScopeManage},
	policy.Comment:        {holdshort.ScopeManage, holdshort.ScopeDecide},
	policy.CancelRequest:  {holdshort.ScopeManage, holdshort.ScopeRaise},
	policy.CancelRun:      {holdshort.ScopeManage, holdshort.ScopeStart},
	policy.RetryRun:       {holdshort.ScopeManage},
	policy.Redeliver:      {holdshort.ScopeManage, holdshort.ScopeWebhooks},
	policy.Reconcile:      {holdshort.ScopeManage},
	policy.TakeOver:       {holdshort.ScopeManage},
	policy.Say:            {holdshort.ScopeManage},
	policy.Pin:            {holdshort.ScopeManage, holdshort.ScopePost},
	policy.ManageKeys:     {holdshort.ScopeKeys},
	policy.ManageWebhooks: {holdshort.ScopeWebhooks},
	policy.ViewAudit:      {holdshort.ScopeAudit},
}

// Allows reports whether these credentials may do a at all. Whether the actor may do it with a given thing is for policy.Can.
func (w Who) Allows(a policy.Action) bool { return w.Check(a) == nil }

// Check is Allows with the reason: nil, or Forbidden with a hint.
func (w Who) Check(a policy.Action) error {
	named := len(w.Scopes) == 0 || slices.ContainsFunc(w.Scopes, func(s string) bool { return s == holdshort.ScopeAdmin || slices.Contains(scopeOf[a], s) })
	switch {
	case w.Actor.ID == "" || !slices.Contains(policy.Actions, a):
		return forbidden(a, "nobody may", "check the spelling of the action")
	case w.Method == ByLink && !slices.Contains(ofLink, a):
		return forbidden(a, "a link is for looking at one request and deciding it", "log in, or use a key")
	case !named:
		return forbidden(a, "the key's scopes do not name it", "make a key with scope "+scopeName(a))
	case a == policy.Decide && w.raises() && !w.Actor.HasRole(policy.Admin):
		return forbidden(a, "a key that may raise or claim does not decide", "decide with a key of its own whose only scope is decide, or as a person")
	}
	return nil
}

// ofLink is what somebody may do who holds nothing but a link.
var ofLink = []policy.Action{policy.View, policy.Decide, policy.Comment}

// raises reports whether these are the credentials of a program that may ask for decisions: what asks does not answer. People are held
// to their own requests by the kernel.
func (w Who) raises() bool {
	if w.Method != ByKey && w.Actor.Kind != holdshort.Service {
		return false
	}
	if len(w.Scopes) == 0 || slices.Contains(w.Scopes, holdshort.ScopeAdmin) { // whatever its roles may, which is to raise
		return w.Actor.Kind == holdshort.Service
	}
	return slices.Contains(w.Scopes, holdshort.ScopeRaise) || slices.Contains(w.Scopes, holdshort.ScopeClaim)
}

func scopeName(a policy.Action) string {
	if names := scopeOf[a]; len(names) > 0 {
		return names[0]
	}
	return holdshort.ScopeAdmin
}

func forbidden(a policy.Action, message, hint string) error {
	return &holdshort.Error{Code: holdshort.Forbidden, Op: string(a), Message: message, Hint: hint}
}
