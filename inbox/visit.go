package inbox

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
)

// visit is somebody on a page.
type visit struct {
	*Inbox
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context
	who   identity.Who
	prefs prefs
	now   time.Time
	at    int64 // the position of the log, read before anything else: the page follows the events after it
}

// serve is the way of every page: who is it, how often, what do they want.
func (in *Inbox) serve(w http.ResponseWriter, r *http.Request, action policy.Action, fn func(*visit) error) {
	ctx, cancel := context.WithTimeout(r.Context(), in.options.Timeout)
	defer cancel()
	v := &visit{Inbox: in, w: w, r: r, ctx: ctx, prefs: prefsOf(r), now: time.Now()}
	if err := v.enter(action); err != nil {
		v.refuse(err)
		return
	}
	if err := fn(v); err != nil {
		v.refuse(err)
	}
}

func (v *visit) enter(action policy.Action) (err error) {
	if v.who, err = v.people.ResolveActor(v.r); err != nil {
		return err
	}
	if wait := v.rates.Take(string(v.who.Tenant) + "\x00" + v.who.Actor.ID); wait > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return &holdshort.Error{Code: holdshort.RateLimited, Message: "too many pages at once", Hint: "wait a moment"}
	}
	if v.r.Method != http.MethodGet {
		if err := v.csrf.Check(v.r); err != nil { // a browser sends its cookie for any page that asks: only our own may act with it
			return &holdshort.Error{Code: holdshort.Forbidden, Message: "another site asked for this", Hint: "act on the page itself", Err: err}
		}
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, v.options.BodyLimit)
	}
	if v.at, err = v.engine.Position(v.ctx, v.who.Tenant); err != nil {
		return err
	}
	if err := v.who.Check(action); err != nil {
		v.engine.Denied(v.ctx, v.who.Tenant, v.who.Actor, string(action))
		return err
	}
	return nil
}

// form reads what was sent.
func (v *visit) form() (url.Values, error) {
	if err := v.r.ParseForm(); err != nil {
		code := holdshort.Invalid
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			code = holdshort.TooLarge
		}
		return nil, &holdshort.Error{Code: code, Message: "the form could not be read", Hint: "open the page again", Err: err}
	}
	return v.r.PostForm, nil
}

// partial reports whether a script asks for a part of a page, not a browser for a whole one.
func (v *visit) partial() bool { return v.r.Header.Get("HX-Request") == "true" }

// tenant and actor of whoever is there.
func (v *visit) tenant() holdshort.TenantID { return v.who.Tenant }
func (v *visit) actor() holdshort.Actor     { return v.who.Actor }

// mayEverything reports whether they see all of their tenant.
func (v *visit) mayAudit() bool {
	ok, _ := policy.Can(policy.ViewAudit, v.who.Actor, policy.Resource{})
	return ok && v.who.Allows(policy.ViewAudit)
}

// may reports whether they may do something in general; the engine asks again when they do.
func (v *visit) may(a policy.Action) bool {
	ok, _ := policy.Can(a, v.who.Actor, policy.Resource{})
	return ok && v.who.Allows(a)
}

// redirect sends the browser elsewhere after a form was taken.
func (v *visit) redirect(to string) error {
	if v.partial() {
		v.w.Header().Set("HX-Redirect", to)
		v.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// nothing answers what no page is at.
func (in *Inbox) nothing(w http.ResponseWriter, r *http.Request) {
	v := &visit{Inbox: in, w: w, r: r, ctx: r.Context(), prefs: prefsOf(r), now: time.Now()}
	v.who, _ = in.people.ResolveActor(r) // only to draw the frame
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte(`{"type":"about:blank","title":"Not Found","status":404,"code":"not_found","detail":"there is nothing at this path","hint":"/openapi.json lists what there is"}` + "\n"))
		return
	}
	v.refuse(&holdshort.Error{Code: holdshort.NotFound, Message: "there is nothing at this address", Hint: "check the address, or start from the inbox"})
}
