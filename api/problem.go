package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/status"
	"github.com/holdshort/holdshort/policy"
)

// Problem is the body of every refusal (RFC 9457).
type Problem struct {
	Type     string         `json:"type"`
	Title    string         `json:"title"`
	Status   int            `json:"status"`
	Code     holdshort.Code `json:"code"`
	Detail   string         `json:"detail,omitempty"`
	Hint     string         `json:"hint,omitempty"`
	Field    string         `json:"field,omitempty"`
	Request  *Request       `json:"request,omitempty"`  // on a conflict: the request as it stands
	Decision *Decision      `json:"decision,omitempty"` // on a conflict: the decision that stands
	IDs      []string       `json:"ids,omitempty"`      // on a conflict of several: which
}

// standing is an error with what stands instead: it is shown to those who may see it.
type standing struct {
	error
	request  *Request
	decision *Decision
	ids      []string
}

func (s standing) Unwrap() error { return s.error }

// problem says what became of a call that was refused.
func (s *Server) problem(err error) Problem {
	code := holdshort.CodeOf(err)
	p := Problem{Type: "about:blank", Code: code, Status: status.Of(code), Hint: holdshort.HintOf(err)}
	var e *holdshort.Error
	if errors.As(err, &e) {
		p.Detail, p.Field = e.Message, e.Field
	}
	if p.Status == 0 {
		p = Problem{Type: "about:blank", Code: holdshort.Internal, Status: http.StatusInternalServerError, Detail: "something went wrong on our side", Hint: "try again; the server's log says more"}
	}
	p.Title = http.StatusText(p.Status)
	var st standing
	if errors.As(err, &st) {
		p.Request, p.Decision, p.IDs = st.request, st.decision, st.ids
	}
	return p
}

// refuse writes a problem.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := s.problem(err)
	needsOperator := p.Status >= 500 || p.Code == holdshort.Corrupt
	if needsOperator && r.Context().Err() == nil {
		s.log.Error("a call could not be answered", "method", r.Method, "path", r.URL.Path, "code", holdshort.CodeOf(err), "error", err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="holdshort"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if h.Get("Retry-After") == "" {
			h.Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
		}
	}
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		json.NewEncoder(w).Encode(p) // whoever does not listen any more cannot be told
	}
}

const retryAfter = time.Second

// deny refuses a caller, and leaves that in the log.
func (c *call) deny(action policy.Action) error {
	c.engine.Denied(c.ctx, c.who.Tenant, c.who.Actor, string(action))
	return &holdshort.Error{Code: holdshort.Forbidden, Op: string(action), Message: "these credentials may not " + string(action), Hint: "use a key or a person with that right; GET /v1/me shows what these may"}
}
