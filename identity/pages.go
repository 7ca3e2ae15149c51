package identity

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// LoginHandler serves /login and /login/callback.
//
//	GET  /login            to the provider; without one, a page that says how to get in
//	GET  /login?token=…    a page with a button: mail scanners and previews fetch links, and must not use them up
//	POST /login            redeems the token: a session
//	GET  /login/callback   where the provider sends people back
func (i *Identity) LoginHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", i.serveLogin)
	mux.HandleFunc("POST /login", i.serveRedeem)
	mux.HandleFunc("GET "+callbackPath, i.serveCallback)
	return i.cross.Handler(mux)
}

// LogoutHandler serves POST /logout: the login ends here, and at once.
func (i *Identity) LogoutHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		if token, ok, _ := i.sessionToken(r); ok {
			if err := i.engine.EndLogin(r.Context(), token); err != nil {
				i.log.Error("end a login", "error", err)
				page{Title: "Still logged in", Text: "The server could not end the login just now. Try again in a moment.", Status: http.StatusServiceUnavailable}.show(w)
				return
			}
		}
		i.setCookie(w, i.cookie, "", 0)
		page{Title: "Logged out", Text: "This browser is not logged in any more.", Again: true, Next: "/"}.show(w)
	})
	return i.cross.Handler(mux)
}

// LoginLink makes a one-time link for somebody: a path on this server, good for a quarter of an hour.
func (i *Identity) LoginLink(ctx context.Context, tenant holdshort.TenantID, actor holdshort.Actor, next string) (string, error) {
	actor.Assurance = holdshort.AssuranceLogin
	token, err := i.engine.CreateLogin(ctx, tenant, holdshort.Login{Kind: holdshort.LoginLink, Actor: actor})
	if err != nil {
		return "", err
	}
	query := url.Values{"token": {token}}
	if next = safeNext(next); next != "/" {
		query.Set("next", next)
	}
	return "/login?" + query.Encode(), nil
}

func (i *Identity) serveLogin(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	next := safeNext(query.Get("next"))
	if token := query.Get("token"); token != "" {
		page{Title: "Log in", Text: "This link logs this browser in, once.", Token: token, Next: next}.show(w)
		return
	}
	if token, ok, err := i.sessionToken(r); err == nil && ok {
		if _, err := i.bySession(r, token); err == nil {
			http.Redirect(w, r, next, http.StatusSeeOther)
			return
		}
	}
	if i.login == nil {
		page{Title: "Log in", Text: "This server has no login page of its own. Ask an administrator for a login link, or use an API key on the command line."}.show(w)
		return
	}
	address, state, err := i.begin(r.Context(), next)
	if err != nil {
		i.log.Error("begin a login", "error", err)
		page{Title: "The login is away", Text: "The server cannot reach the place where people log in. Try again in a moment.", Again: true, Next: next, Status: http.StatusBadGateway}.show(w)
		return
	}
	i.setCookie(w, i.cookie+stateSuffix, state, stateLife)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, address, http.StatusSeeOther)
}

func (i *Identity) serveRedeem(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	if err := r.ParseForm(); err != nil {
		page{Title: "Not understood", Text: "The form could not be read.", Status: http.StatusBadRequest}.show(w)
		return
	}
	_, session, token, err := i.engine.RedeemLogin(r.Context(), r.PostForm.Get("token"))
	if err != nil {
		if holdshort.CodeOf(err) == holdshort.NotFound {
			page{Title: "This link does not work", Text: "It was used before, is too old, or is not whole. Ask for a new one.", Status: http.StatusUnauthorized}.show(w)
			return
		}
		i.log.Error("redeem a login link", "error", err)
		page{Title: "Not logged in", Text: "The server could not read the link just now. Try it again in a moment.", Status: http.StatusServiceUnavailable}.show(w)
		return
	}
	i.enter(w, r, token, session.ExpiresAt, safeNext(r.PostForm.Get("next")))
}

func (i *Identity) serveCallback(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, text string, cause error) {
		i.note("a login was refused", cause)
		page{Title: "Not logged in", Text: text, Again: true, Next: "/", Status: status}.show(w)
	}
	cookie, err := r.Cookie(i.cookie + stateSuffix)
	i.setCookie(w, i.cookie+stateSuffix, "", 0)
	if i.login == nil || err != nil || len(cookie.Value) > mostCookie {
		refuse(http.StatusBadRequest, "This browser did not begin the login, or too long ago.", err)
		return
	}
	begun, err := i.readState(cookie.Value)
	if err != nil {
		refuse(http.StatusBadRequest, "This browser did not begin the login, or too long ago.", err)
		return
	}
	query := r.URL.Query()
	if said := query.Get("error"); said != "" {
		refuse(http.StatusForbidden, "The provider did not let you in.", errorText(said))
		return
	}
	tenant, actor, err := i.finish(r.Context(), begun, query.Get("state"), query.Get("code"), query.Get("iss"))
	if err != nil {
		refuse(http.StatusForbidden, "What the provider sent is not a login for this server.", err)
		return
	}
	until := i.config.Clock().Add(i.config.Session)
	token, err := i.engine.CreateLogin(r.Context(), tenant, holdshort.Login{Kind: holdshort.LoginSession, Actor: actor, ExpiresAt: until})
	if err != nil {
		i.log.Error("store a login", "error", err)
		page{Title: "Not logged in", Text: "The server could not keep the login just now. Try again in a moment.", Again: true, Next: begun.Next, Status: http.StatusServiceUnavailable}.show(w)
		return
	}
	i.enter(w, r, token, until, safeNext(begun.Next))
}

type errorText string

func (e errorText) Error() string { return clip(string(e)) }

// enter gives the browser its session and ends the one it had: a login is always a new one.
func (i *Identity) enter(w http.ResponseWriter, r *http.Request, token string, until time.Time, next string) {
	if old, ok, _ := i.sessionToken(r); ok && old != token {
		if err := i.engine.EndLogin(r.Context(), old); err != nil {
			i.log.Warn("end the login before this one", "error", err)
		}
	}
	i.setCookie(w, i.cookie, token, until.Sub(i.config.Clock()))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// safeNext gives where to go after a login: a path on this server, "/" for anything else. Browsers read backslashes as slashes and drop
// control characters, so that /\example.org or a tab between two slashes would lead elsewhere.
func safeNext(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || len(next) > 2000 || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsFunc(next, func(c rune) bool { return c == '\\' || unprintable(c) }) {
		return "/"
	}
	if u.Path == "/login" || strings.HasPrefix(u.Path, "/login/") || u.Path == "/logout" { // no circles
		return "/"
	}
	return next
}
