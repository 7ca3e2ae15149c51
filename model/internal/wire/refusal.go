package wire

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort/model"
)

// refusal reads an answer that is none. Of what the provider says only its names for the fault are kept: its sentences may quote the prompt or the key.
func refusal(a *Answer) error {
	a.limit = 1 << 20
	raw, err := io.ReadAll(a)
	if err != nil && !errors.Is(err, errTooLarge) {
		raw = nil // the status is enough
	}
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	named := Fault{}
	if json.Unmarshal(raw, &body) == nil {
		named = FaultOf(body.Error)
	}
	status := a.res.StatusCode
	e := &model.Error{Status: status, After: after(a.res.Header, time.Now())}
	switch {
	case status == http.StatusTooManyRequests && named.spent():
		e.Kind, e.Message = model.Rejected, "the account has nothing left to spend"
	case status == http.StatusTooManyRequests:
		e.Kind, e.Message = model.RateLimited, "too much at once"
	case status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout:
		e.Kind, e.Message = model.Timeout, "the provider gave up waiting"
	case status >= 500:
		e.Kind, e.Message = model.Overloaded, "the provider has trouble"
	default:
		e.Kind, e.Message = model.Rejected, reason(status)
	}
	e.Message += named.suffix()
	return e
}

func reason(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "the provider does not accept the key: check api_key"
	case http.StatusForbidden:
		return "the key may not use this: check the account and the model"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "there is no such model or address: check model and base_url"
	case http.StatusRequestEntityTooLarge:
		return "the request is larger than the provider takes"
	case http.StatusPaymentRequired:
		return "the account has nothing left to spend"
	}
	if status >= 300 && status < 400 {
		return "the provider points to another address: set base_url to it"
	}
	return "the provider does not take the request"
}

// Fault is how a provider names what is wrong.
type Fault struct {
	Type, Code, Param string
	status            int // some give a status as the code
}

// FaultOf reads the error object of either protocol; of anything else it is empty.
func FaultOf(raw json.RawMessage) Fault {
	var object struct {
		Type    any `json:"type"`
		Code    any `json:"code"`
		Param   any `json:"param"`
		Details struct {
			Code any `json:"error_code"`
		} `json:"details"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return Fault{}
	}
	f := Fault{Type: name(object.Type), Code: name(object.Code), Param: name(object.Param)}
	if code := name(object.Details.Code); code != "" {
		f.Code = code
	}
	if number, ok := object.Code.(float64); ok && number >= 400 && number < 600 {
		f.status = int(number)
	}
	return f
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_.:/\[\]-]{1,80}$`)

func name(value any) string {
	text, _ := value.(string)
	if !plainName.MatchString(text) {
		return ""
	}
	return text
}

func (f Fault) suffix() string {
	var parts []string
	for _, part := range []string{f.Type, f.Code, f.Param} {
		if part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// spent reports whether waiting helps nobody: the money is gone.
func (f Fault) spent() bool {
	return slices.ContainsFunc([]string{f.Type, f.Code}, func(name string) bool {
		switch name {
		case "insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached", "billing_error",
			"organization_spend_limit_exceeded", "project_spend_limit_exceeded", "organization_usage_limit_exceeded", "enforced_spend_limit_reached":
			return true
		}
		return false
	})
}

// Error is what a fault means that comes in the middle of a stream, after the request was accepted. One that nobody knows is the provider's trouble.
func (f Fault) Error() *model.Error {
	e := &model.Error{Kind: model.Overloaded, Message: "the provider broke off" + f.suffix()}
	for _, name := range []string{f.Code, f.Type} {
		switch name {
		case "rate_limit_error", "rate_limit_exceeded", "slow_down", "too_many_requests":
			e.Kind = model.RateLimited
		case "timeout_error", "timeout":
			e.Kind = model.Timeout
		case "invalid_request_error", "authentication_error", "permission_error", "not_found_error", "request_too_large",
			"context_length_exceeded", "content_policy_violation", "invalid_prompt":
			e.Kind = model.Rejected
		}
	}
	switch {
	case f.spent() || f.status >= 400 && f.status < 500 && f.status != http.StatusTooManyRequests && f.status != http.StatusRequestTimeout:
		e.Kind = model.Rejected
	case f.status == http.StatusTooManyRequests:
		e.Kind = model.RateLimited
	}
	return e
}

// after reads how long the provider asks to wait.
func after(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds > 0 && seconds < 1e6 {
			return time.Duration(seconds * float64(time.Second))
		}
		return 0
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(header.Get("Date")); err == nil {
		now = sent // by the provider's own clock
	}
	return max(0, at.Sub(now))
}
