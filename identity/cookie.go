package identity

import (
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
)

// Names of the cookies. __Host- makes browsers keep them from other hosts of the same domain.
const (
	cookieName       = "holdshort"
	secureCookieName = "__Host-holdshort"
	stateSuffix      = "_state"
	mostCookie       = 4 << 10
)

// sessionToken reads the login's cookie. Two of one name with different values are a trick: one of them was planted.
func (i *Identity) sessionToken(r *http.Request) (token string, ok bool, err error) {
	for _, c := range r.CookiesNamed(i.cookie) {
		switch {
		case c.Value == "" || len(c.Value) > mostCookie:
		case ok && c.Value != token:
			return "", false, unauthenticated("there are two login cookies", "delete this site's cookies and log in again", nil)
		default:
			token, ok = c.Value, true
		}
	}
	return token, ok, nil
}

// bySession finds the login behind a cookie, with the roles that its person has now.
func (i *Identity) bySession(r *http.Request, token string) (Who, error) {
	tenant, login, err := i.engine.LoginBy(r.Context(), token)
	switch holdshort.CodeOf(err) {
	case "":
	case holdshort.NotFound:
		return Who{}, unauthenticated("the login is over", "log in again at /login", nil)
	default:
		return Who{}, err
	}
	return Who{Tenant: tenant, Actor: i.roles.unpack(login.Actor), Method: ByLogin, CSRF: true}, nil
}

func (i *Identity) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: i.secure, SameSite: http.SameSiteLaxMode, MaxAge: int(life / time.Second)}
	if life <= 0 {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// Protect keeps other sites from acting through a visitor's browser: an unsafe call that another site caused is refused unless it carries an
// Authorization header, which no site can add to another's calls.
func (i *Identity) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Authorization"]) == 0 && i.cross.Check(r) != nil {
			http.Error(w, "another site asked for this: act from the page itself, or with a key", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
