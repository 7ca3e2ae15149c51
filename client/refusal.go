package client

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/holdshort/holdshort"
)

// Refusal is a call that the server answered with a problem. It unwraps to its *holdshort.Error.
type Refusal struct {
	Status   int
	Err      *holdshort.Error
	Request  *Request  // on a conflict: the request as it stands
	Decision *Decision // on a conflict: the decision that stands
	IDs      []string  // on a conflict of several: which
}

func (r *Refusal) Error() string { return r.Err.Error() }

func (r *Refusal) Unwrap() error { return r.Err }

// problem is RFC 9457 with our fields.
type problem struct {
	Title    string         `json:"title"`
	Code     holdshort.Code `json:"code"`
	Detail   string         `json:"detail"`
	Hint     string         `json:"hint"`
	Field    string         `json:"field"`
	Request  *Request       `json:"request"`
	Decision *Decision      `json:"decision"`
	IDs      []string       `json:"ids"`
}

// codes of answers that are none of ours: a proxy's, say.
var codes = map[int]holdshort.Code{
	http.StatusBadRequest: holdshort.Invalid, http.StatusUnauthorized: holdshort.Unauthenticated, http.StatusForbidden: holdshort.Forbidden,
	http.StatusNotFound: holdshort.NotFound, http.StatusConflict: holdshort.Conflict, http.StatusGone: holdshort.Expired,
	http.StatusRequestEntityTooLarge: holdshort.TooLarge, http.StatusUnprocessableEntity: holdshort.DoesNotFit,
	http.StatusTooManyRequests: holdshort.RateLimited, http.StatusBadGateway: Unreachable, http.StatusServiceUnavailable: holdshort.StoreUnavailable, http.StatusGatewayTimeout: holdshort.TimedOut,
}

func refusal(in call, answer *http.Response, raw []byte) *Refusal {
	path, _, _ := strings.Cut(in.path, "?")
	e := &holdshort.Error{Op: in.method + " " + path}
	r := &Refusal{Status: answer.StatusCode, Err: e}
	var p problem
	if json.Unmarshal(raw, &p) == nil && p.Code != "" {
		e.Code, e.Message, e.Hint, e.Field, e.Op = p.Code, p.Detail, p.Hint, p.Field, ""
		if e.Message == "" {
			e.Message = strings.ToLower(p.Title)
		}
		r.Request, r.Decision, r.IDs = p.Request, p.Decision, p.IDs
		return r
	}
	if e.Code = codes[answer.StatusCode]; e.Code == "" {
		e.Code = holdshort.Internal
	}
	e.Message = "answered " + answer.Status
	e.Hint = "check that the address is that of a holdshort server"
	return r
}
