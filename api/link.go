package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
)

// linkEndpoints are the pages on which people decide without an inbox: by a personal link, or logged in. Looking changes nothing, however
// often a mail scanner does it; only the form decides.
func (s *Server) linkEndpoints() []endpoint {
	row := func(method, summary string, serve func(*call) error) endpoint {
		return endpoint{method: method, path: "/r/{request}", in: reflect.TypeFor[linkPath](), serve: serve,
			about: about{tag: "pages", summary: summary, open: true, media: "text/html"}}
	}
	return []endpoint{
		row("GET", "The page on which a person looks at a request. It never decides.", (*call).showLink),
		row("POST", "The form of that page.", (*call).decideLink),
	}
}

type linkPath struct {
	Request holdshort.RequestID `path:"request"`
	Token   string              `query:"t"`
}

// visit is somebody on the page of a request.
type visit struct {
	id    holdshort.RequestID
	token string // of the link; "": by login
	who   identity.Who
}

// visit finds out who is there: whoever holds the link, else whoever is logged in.
func (c *call) visit(token string) (visit, error) {
	v := visit{id: holdshort.RequestID(c.r.PathValue("request")), token: token, who: c.who}
	switch {
	case token != "":
		who, _, err := c.people.LinkActor(c.ctx, v.id, identity.Token(token))
		if code := holdshort.CodeOf(err); err != nil && code != holdshort.Closed && code != holdshort.Expired { // of what is over it still says how it ended
			return v, err
		}
		v.who = who
	case c.who.Actor.ID == "":
		return v, &holdshort.Error{Code: holdshort.Unauthenticated, Message: "nobody is logged in", Hint: "open the link that you were sent, or log in"}
	}
	if wait := c.rates.Take(string(v.who.Tenant) + "\x00" + v.who.Actor.ID); wait > 0 { // of people who are known: whoever is not has cost nothing yet
		c.w.Header().Set("Retry-After", seconds(wait))
		return v, &holdshort.Error{Code: holdshort.RateLimited, Message: "too many calls", Hint: "wait a moment"}
	}
	return v, v.who.Check(policy.View)
}

func (c *call) showLink() error {
	v, err := c.visit(c.r.URL.Query().Get("t"))
	if err != nil {
		return c.refusePage(v, err)
	}
	seen, err := c.engine.RequestFor(c.ctx, v.who.Tenant, v.id, v.who.Actor)
	if err != nil {
		return c.refusePage(v, err)
	}
	return c.drawLink(http.StatusOK, v, seen, linkDraft{})
}

// decideLink takes the form. What came of it is shown at once: a link is good for one decision, and could not be opened again.
func (c *call) decideLink() error {
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, c.options.BodyLimit)
	if err := c.r.ParseForm(); err != nil {
		code := holdshort.Invalid
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			code = holdshort.TooLarge
		}
		return c.refusePage(visit{id: holdshort.RequestID(c.r.PathValue("request"))}, &holdshort.Error{Code: code, Message: "the form could not be read", Hint: "open the page again", Err: err})
	}
	form := c.r.PostForm
	v, err := c.visit(form.Get("t"))
	if err != nil {
		return c.refusePage(v, err)
	}
	if v.token == "" { // a browser sends its cookie for any page that asks; a link's token is only on our own
		if err := c.csrf.Check(c.r); err != nil && v.who.CSRF {
			return c.refusePage(v, &holdshort.Error{Code: holdshort.Forbidden, Message: "another site asked for this", Hint: "decide on this page itself", Err: err})
		}
	}
	seen, err := c.engine.RequestFor(c.ctx, v.who.Tenant, v.id, v.who.Actor)
	if err != nil {
		return c.refusePage(v, err)
	}
	if form.Get("action") == "reveal" {
		return c.revealLink(v, seen)
	}
	draft := linkDraft{form: form}
	input, err := decisionForm(form, seen.Request)
	if err == nil {
		err = v.who.Check(policy.Decide)
	}
	if err == nil {
		input.Request, input.Actor, input.Channel = v.id, v.who.Actor, "page"
		if v.token != "" {
			input.Channel = "link"
		}
		_, err = c.engine.Decide(c.ctx, v.who.Tenant, input)
	}
	return c.decidedLink(v, draft, input.Action, err)
}

// decidedLink shows what stands after the form was sent: the decision of this person, or why it is not one.
func (c *call) decidedLink(v visit, draft linkDraft, verb holdshort.Verb, refusal error) error {
	ctx := context.WithoutCancel(c.ctx)
	seen, err := c.engine.RequestFor(ctx, v.who.Tenant, v.id, v.who.Actor)
	if err != nil {
		return c.refusePage(v, err)
	}
	if refusal == nil {
		draft = linkDraft{said: recorded(verb, seen)}
		return c.drawLink(http.StatusOK, v, seen, draft)
	}
	p := c.problem(refusal)
	draft.refused = p
	if p.Status >= http.StatusInternalServerError {
		c.log.Error("a decision could not be taken", "request_id", v.id, "code", holdshort.CodeOf(refusal), "error", refusal)
	}
	return c.drawLink(p.Status, v, seen, draft)
}

// recorded says in plain words what was done.
func recorded(verb holdshort.Verb, seen engine.RequestView) string {
	if seen.Request.Status == holdshort.RequestOpen {
		return "Your approval counts. Others have to approve too."
	}
	switch verb {
	case holdshort.Approve:
		return "You approved this."
	case holdshort.Reject:
		return "You rejected this. Nothing of it runs."
	case holdshort.Edit:
		return "You changed this, and approved it as changed."
	}
	return "Your answer is recorded."
}

// revealLink notes that somebody looks, then shows what is withheld.
func (c *call) revealLink(v visit, seen engine.RequestView) error {
	if err := v.who.Check(policy.Decide); err != nil {
		return c.refusePage(v, err)
	}
	req, err := c.engine.Reveal(c.ctx, v.who.Tenant, v.id, v.who.Actor)
	if err != nil {
		return c.refusePage(v, err)
	}
	seen.Request = req
	return c.drawLink(http.StatusOK, v, seen, linkDraft{revealed: true})
}

// refusePage says on a page of its own why there is nothing to see.
func (c *call) refusePage(v visit, err error) error {
	p := c.problem(err)
	if p.Status >= http.StatusInternalServerError {
		c.log.Error("a page could not be shown", "request_id", v.id, "code", holdshort.CodeOf(err), "error", err)
	}
	if p.Status == http.StatusBadRequest && !strings.HasPrefix(string(v.id), "req_") { // whatever stands in the address, it is no request
		p.Status, p.Detail, p.Hint = http.StatusNotFound, "no such request", "check the address"
	}
	view := refusedPage{Title: http.StatusText(p.Status), Detail: p.Detail, Hint: p.Hint}
	if p.Status == http.StatusUnauthorized {
		view.Title, view.Login = "This does not open anything", "/login?next=/r/"+string(v.id)
	}
	return c.draw(p.Status, "refused.html", "", &view)
}

type refusedPage struct {
	look
	Title, Detail, Hint, Login string
}
