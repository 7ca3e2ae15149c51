package torture

import (
	"context"
	crand "crypto/rand"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// guest is those who call a server that is not ours: they get keys of their own, and give them back.
type guest struct {
	door
	token   string
	name    string          // in front of everybody's
	raisers map[string]bool // who raise, as the server knows them

	mu    sync.Mutex
	keys  keychain
	known bool // by the server: there may be keys to revoke
}

const (
	deciders   = 100
	toolPrefix = "holdshort-torture." // no policy knows these
	keyLife    = 24 * time.Hour       // should nobody come to revoke them

	leavePatience = 9 * time.Second // whoever interrupts it does not wait for ever
)

// arrive makes the keys: of those who raise, and then of those whom the server's own policy asks.
func (g *guest) arrive(ctx context.Context) error {
	if err := g.mayManage(ctx); err != nil {
		return err
	}
	for n := range raisers {
		id, err := g.makeKey(ctx, raiserName(n), api.NewKey{Scopes: []string{holdshort.ScopeRaise, holdshort.ScopeClaim}})
		if err != nil {
			return err
		}
		g.raisers["key:"+string(id)] = true
	}
	asked, err := g.audience(ctx)
	if err != nil {
		return err
	}
	return together(deciders+1, func(n int) error {
		in := api.NewKey{User: g.name + "-" + reviewer(n).ID, Roles: asked.Roles, Scopes: []string{holdshort.ScopeDecide}}
		if n == deciders {
			in.User, in.Roles = g.name+"-"+stranger.ID, stranger.Roles
		}
		_, err := g.makeKey(ctx, in.User, in)
		return err
	})
}

// together does something n times, some of it at once, and gives the first error.
func together(n int, do func(int) error) error {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	turns := make(chan struct{}, 16)
	for i := range n {
		turns <- struct{}{}
		wg.Go(func() {
			errs <- do(i)
			<-turns
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *guest) mayManage(ctx context.Context) error {
	r, err := g.first(ctx)
	if err != nil {
		return err
	}
	if !r.ok() {
		return &holdshort.Error{Code: r.code(), Op: "torture " + g.address(), Message: r.problem.Detail, Hint: "set HOLDSHORT_TOKEN to an administrator's key of that server"}
	}
	me, err := read[api.Me](r)
	g.known = err == nil
	if err == nil && !slices.Contains(me.Everywhere, policy.ManageKeys) {
		err = &holdshort.Error{Code: holdshort.Forbidden, Op: "torture " + g.address(), Message: me.Actor.ID + " may not make keys", Hint: "set HOLDSHORT_TOKEN to an administrator's key"}
	}
	return err
}

// first asks who we are. A server that does not answer now will not be waited for: the address may be wrong.
func (g *guest) first(ctx context.Context) (r reply, err error) {
	v := visit{method: http.MethodGet, path: "/v1/me", secret: g.token}
	for range 20 {
		if r, err = g.once(ctx, v); err == nil && !v.again(r) {
			return r, nil
		}
		if linger(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return r, ctx.Err()
		}
	}
	return r, &holdshort.Error{Code: holdshort.StoreUnavailable, Op: "torture " + g.address(), Message: "nobody answers there", Hint: "check that the server runs and its address", Err: err}
}

// makeKey makes a key under a name. Its secret is told once: when the answer is lost, the key is of no use and another is made.
func (g *guest) makeKey(ctx context.Context, name string, in api.NewKey) (holdshort.KeyID, error) {
	in.Name, in.ExpiresIn = g.name+" "+name, api.Duration(keyLife)
	for {
		r, _, err := g.until(ctx, visit{method: http.MethodPost, path: "/v1/keys", secret: g.token, key: crand.Text(), body: in})
		if err != nil {
			return "", err
		}
		if !r.ok() {
			return "", &holdshort.Error{Code: r.code(), Op: "make a key", Message: r.problem.Detail, Hint: r.problem.Hint}
		}
		made, err := read[api.MadeKey](r)
		if err != nil {
			return "", err
		}
		if made.Secret != "" {
			g.mu.Lock()
			g.keys[name] = made.Secret
			g.mu.Unlock()
			return made.ID, nil
		}
	}
}

// audience asks the server's policy who decides what this torture raises.
func (g *guest) audience(ctx context.Context) (holdshort.Audience, error) {
	secret := g.keys[raiserName(0)]
	body := api.Raise{Kind: holdshort.Approval, Actions: []engine.AskAction{{Tool: toolPrefix + payTool, Args: []byte(`{"amount":1,"key":"call1","world":"fine"}`)}}}
	r, _, err := g.until(ctx, visit{method: http.MethodPost, path: "/v1/requests", secret: secret, key: crand.Text(), body: body})
	if err != nil {
		return holdshort.Audience{}, err
	}
	refused := func(message string) error {
		return &holdshort.Error{Code: holdshort.Denied, Op: "torture " + g.address(), Message: message, Hint: "let the policy ask a role for tools that begin with " + toolPrefix}
	}
	if !r.ok() {
		return holdshort.Audience{}, refused("its requests are refused: " + r.problem.Detail)
	}
	req, err := read[api.Request](r)
	switch {
	case err != nil:
		return holdshort.Audience{}, err
	case req.Status != holdshort.RequestOpen:
		return holdshort.Audience{}, refused("the server's policy decides without a person")
	}
	_, _, err = g.until(ctx, visit{method: http.MethodPost, path: "/v1/requests/" + string(req.ID) + "/cancel", secret: secret, key: crand.Text(), body: map[string]string{"reason": "torture"}})
	if err == nil && len(req.Audience.Roles) == 0 {
		err = refused("the server's policy asks people by name")
	}
	return req.Audience, err
}

// narrow lets a raiser ask for what is stricter than the policy: sooner, or more people.
func (g *guest) narrow(r *rand.Rand, body *api.Raise) {
	if r.IntN(5) == 0 {
		body.ExpiresIn = api.Duration(time.Duration(1000+r.IntN(1000)) * time.Millisecond)
	}
	if r.IntN(6) == 0 {
		body.Audience = &holdshort.Audience{Quorum: 2 + r.IntN(2)}
	}
}

// callOff takes back what is still open, for a torture that was interrupted.
func (g *guest) callOff(ctx context.Context) error {
	for cursor, more := "", true; more; more = cursor != "" {
		page, _, err := public{door: g.door, keys: g.keys}.open(ctx, url.Values{"status": {"open"}, "sort": {"newest"}, "limit": {"200"}}, cursor)
		if err != nil {
			return err
		}
		cursor = page.Cursor
		for _, req := range page.Requests {
			if !g.raisers[req.Requester.RaisedBy] || req.Kind == holdshort.Reconcile { // what became of a call is for a person to say
				continue
			}
			if _, _, err := g.until(ctx, visit{method: http.MethodPost, path: "/v1/requests/" + string(req.ID) + "/cancel", secret: g.token, key: crand.Text(), body: map[string]string{"reason": "torture"}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave revokes every key that was made, also one whose answer was lost.
func (g *guest) leave(ctx context.Context) error {
	if !g.known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, leavePatience)
	defer cancel()
	if err := g.callOff(ctx); err != nil {
		return g.left(err)
	}
	r, _, err := g.until(ctx, visit{method: http.MethodGet, path: "/v1/keys", secret: g.token})
	if err != nil {
		return g.left(err)
	}
	list, err := read[api.Page[holdshort.Key]](r)
	if err != nil {
		return g.left(err)
	}
	ours := slices.DeleteFunc(list.Items, func(k holdshort.Key) bool { return !strings.HasPrefix(k.Name, g.name+" ") || !k.RevokedAt.IsZero() })
	err = together(len(ours), func(i int) error {
		_, _, err := g.until(ctx, visit{method: http.MethodDelete, path: "/v1/keys/" + string(ours[i].ID), secret: g.token})
		return err
	})
	if err != nil {
		return g.left(err)
	}
	return nil
}

func (g *guest) left(err error) error {
	return &holdshort.Error{Code: holdshort.StoreUnavailable, Op: "revoke keys", Message: "the keys whose names begin with " + g.name + " are not revoked; they expire in a day", Hint: "revoke them: holdshort keys list", Err: err}
}

// stranger is somebody whom nobody asked.
func (l *load) stranger() holdshort.Actor {
	a := stranger
	if l.guest != nil {
		a.ID = l.guest.name + "-" + a.ID
	}
	return a
}
