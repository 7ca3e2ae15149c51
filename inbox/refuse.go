package inbox

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/status"
)

// refused is what a page says instead of what was asked for.
type refused struct {
	Status              int
	Code                holdshort.Code
	Title, Detail, Hint string
	Login               string
}

// statusOf is how HTTP calls an error. What is not known is a fault of ours.
func statusOf(err error) int {
	return cmp.Or(status.Of(holdshort.CodeOf(err)), http.StatusInternalServerError)
}

// refusalOf says an error in the words that people get to read: those that were written for them, never what lies below.
func refusalOf(err error) refused {
	out := refused{Status: statusOf(err), Code: holdshort.CodeOf(err)}
	var coded *holdshort.Error
	if out.Status < http.StatusInternalServerError && errors.As(err, &coded) {
		out.Detail, out.Hint = coded.Message, coded.Hint
	}
	out.Title = cmp.Or(refusalTitles[out.Status], "That did not work")
	if out.Status >= http.StatusInternalServerError {
		out.Detail, out.Hint = "something went wrong on the server", "nothing was lost; try again in a moment"
	}
	out.Detail = cmp.Or(out.Detail, "this cannot be shown")
	return out
}

// refusalTitles are the statuses in plain words.
var refusalTitles = map[int]string{http.StatusBadRequest: "Not understood", http.StatusUnauthorized: "Log in", http.StatusForbidden: "Not allowed", http.StatusNotFound: "Not found",
	http.StatusConflict: "Changed meanwhile", http.StatusGone: "Expired", http.StatusRequestEntityTooLarge: "Too large", http.StatusUnprocessableEntity: "That does not fit",
	http.StatusTooManyRequests: "Too many at once", http.StatusInternalServerError: "Something went wrong", http.StatusServiceUnavailable: "Not available right now",
	http.StatusGatewayTimeout: "It took too long"}

// refuse says why there is nothing to see. Whoever is not known is led to the login.
func (v *visit) refuse(err error) {
	p := refusalOf(err)
	if p.Status >= http.StatusInternalServerError && v.ctx.Err() == nil {
		v.log.Error("a page could not be shown", "path", v.r.URL.Path, "code", p.Code, "error", err)
	}
	if p.Status == http.StatusUnauthorized {
		next := v.r.URL.RequestURI()
		if v.r.Method != http.MethodGet || v.partial() {
			next = "/"
		}
		p.Title, p.Detail, p.Hint, p.Login = "Log in", "Log in to see what waits for you.", "", "/login?next="+url.QueryEscape(next)
		if v.partial() {
			v.w.Header().Set("HX-Redirect", p.Login)
		}
	}
	if p.Status == http.StatusNotFound {
		p.Detail, p.Hint = "there is nothing here, or it is not yours to see", "check the address, or start from the inbox"
	}
	p.Detail, p.Hint = sentence(p.Detail), sentence(p.Hint)
	if v.partial() {
		v.part(p.Status, "refused", p)
		return
	}
	v.page(p.Status, "refused", p.Title, p)
}
