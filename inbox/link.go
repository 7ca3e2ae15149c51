package inbox

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
)

// linkRoutes are the pages on which people decide one request: by a personal link, or logged in. Looking changes nothing, however often a
// mail scanner does it; only the form decides.
func (in *Inbox) linkRoutes() {
	in.mux.HandleFunc("GET /r/{request}", func(w http.ResponseWriter, r *http.Request) { in.serveLink(w, r, (*linkVisit).show) })
	in.mux.HandleFunc("POST /r/{request}", func(w http.ResponseWriter, r *http.Request) { in.serveLink(w, r, (*linkVisit).decide) })
}

// linkVisit is somebody on the page of one request.
type linkVisit struct {
	*visit
	id    holdshort.RequestID
	token string // of the link; "": by login
}

func (in *Inbox) serveLink(w http.ResponseWriter, r *http.Request, fn func(*linkVisit) error) {
	ctx, cancel := context.WithTimeout(r.Context(), in.options.Timeout)
	defer cancel()
	w.Header().Set("Referrer-Policy", "no-referrer") // the address may have a token
	v := &linkVisit{visit: &visit{Inbox: in, w: w, r: r, ctx: ctx, prefs: prefsOf(r), now: time.Now()}, id: holdshort.RequestID(r.PathValue("request"))}
	if err := fn(v); err != nil {
		v.refuse(err)
	}
}

// come finds out who is there: whoever holds the link, else whoever is logged in.
func (v *linkVisit) come(token string) (err error) {
	if v.token = token; token != "" {
		v.who, _, err = v.people.LinkActor(v.ctx, v.id, identity.Token(token))
		if code := holdshort.CodeOf(err); code == holdshort.Closed || code == holdshort.Expired { // of what is over it still says how it ended
			err = nil
		}
	} else {
		v.who, err = v.people.ResolveActor(v.r)
	}
	if err != nil {
		return err
	}
	if wait := v.rates.Take(string(v.who.Tenant) + "\x00" + v.who.Actor.ID); wait > 0 { // of people who are known: whoever is not has cost nothing yet
		v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return &holdshort.Error{Code: holdshort.RateLimited, Message: "too many pages at once", Hint: "wait a moment"}
	}
	return v.who.Check(policy.View)
}

// show is the page as it stands.
func (v *linkVisit) show() error {
	if err := v.come(v.r.URL.Query().Get("t")); err != nil {
		return err
	}
	return v.draw(http.StatusOK, draft{token: v.token})
}

// decide takes the form. What came of it is shown at once: a link is good for one decision.
func (v *linkVisit) decide() error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, v.options.BodyLimit)
	form, err := v.form()
	if err != nil {
		return err
	}
	if err := v.come(form.Get("t")); err != nil {
		return err
	}
	if v.token == "" { // a browser sends its cookie for any page that asks; a link's token is only on our own
		if err := v.csrf.Check(v.r); err != nil && v.who.CSRF {
			return &holdshort.Error{Code: holdshort.Forbidden, Message: "another site asked for this", Hint: "decide on this page itself", Err: err}
		}
	}
	if form.Get("action") == "look" { // the page asks how things stand: with the token in the form it stays out of every address
		return v.draw(http.StatusOK, draft{token: v.token, proof: form.Get("proof")})
	}
	switch form.Get("action") {
	case "reveal":
		if err := v.who.Check(policy.Decide); err != nil {
			return err
		}
	case "fields": // the arguments as fields, for whoever has no script that does it in place
		return v.draw(http.StatusOK, draft{form: form, token: v.token, proof: form.Get("proof"), edit: !form.Has("editing")})
	}
	d, err := v.decideForm(v.id, form, v.token)
	if err == nil {
		return v.draw(http.StatusOK, d)
	}
	p := refusalOf(err)
	switch {
	case p.Status == http.StatusNotFound || p.Status == http.StatusUnauthorized:
		return err
	case p.Status >= http.StatusInternalServerError:
		v.log.Error("a decision could not be taken", "request_id", v.id, "code", p.Code, "error", err)
	}
	d.refused, d.wrong = &p, fieldOf(err)
	return v.draw(p.Status, d)
}

// linkPage is what the page has around the card, or instead of it.
type linkPage struct {
	Title   string
	Prefs   prefs
	Open    bool
	Card    *cardView
	Refused *refused
	Inbox   bool // whoever is there is logged in, and has more to look at
	Who     string
	Undo    int // seconds
}

func (v *linkVisit) draw(status int, d draft) error {
	c, err := v.card(v.id, d)
	if err != nil {
		return err
	}
	c.Post, c.RevealPost = "/r/"+c.ID, "/r/"+c.ID
	if v.token != "" { // the forms for these are the inbox's
		c.MayComment, c.MayAssign, c.MayCancel = false, false, false
	}
	if v.partial() {
		return v.part(status, "card", c)
	}
	p := linkPage{Title: "No longer open", Prefs: v.prefs, Card: &c, Open: c.Status == string(holdshort.RequestOpen), Inbox: v.token == "", Who: nameOf(v.actor()), Undo: max(int(v.options.Undo.Seconds()), 0)}
	if p.Open {
		p.Title = "Waits for a person"
	}
	if v.token == "" { // nothing in the address is secret, and without it browsers do not say which page a form was sent from
		v.w.Header().Set("Referrer-Policy", "same-origin")
	}
	return v.visit.draw(status, v.looks.pages["link"], "slim", p)
}

// refuse says on a page of its own why there is nothing to see. It never repeats the address: that may have a token.
func (v *linkVisit) refuse(err error) {
	p := refusalOf(err)
	if p.Status >= http.StatusInternalServerError && v.ctx.Err() == nil {
		v.log.Error("a page could not be shown", "request_id", v.id, "code", p.Code, "error", err)
	}
	if p.Status == http.StatusBadRequest && !strings.HasPrefix(string(v.id), "req_") { // whatever stands in the address, it is no request
		p.Status, p.Title, p.Detail, p.Hint = http.StatusNotFound, refusalTitles[http.StatusNotFound], "no such request", "check the address"
	}
	if p.Status == http.StatusUnauthorized {
		p.Title, p.Login = "This does not open anything", "/login?next=/r/"+string(v.id)
	}
	p.Detail, p.Hint = capitalized(p.Detail), capitalized(p.Hint)
	if v.partial() {
		v.part(p.Status, "refused", p)
		return
	}
	if err := v.visit.draw(p.Status, v.looks.pages["link"], "slim", linkPage{Title: p.Title, Prefs: v.prefs, Refused: &p}); err != nil {
		v.log.Error("a page could not be drawn", "error", err)
	}
}
