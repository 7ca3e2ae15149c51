package identity

import (
	"net/http"
	"strings"

	"github.com/holdshort/holdshort"
)

const (
	mostBearer = 16 << 10 // a token that lists many groups is a few KiB
	keyPrefix  = "hs_"
	userHeader = "Holdshort-User"
)

const howToAuthenticate = "send Authorization: Bearer and an API key (hs_…) or a token, or log in at /login"

// bearer reads the Authorization header. No header is no error; anything that is not exactly one bearer token is.
func bearer(h http.Header) (token string, ok bool, err error) {
	values := h["Authorization"]
	if len(values) == 0 {
		return "", false, nil
	}
	malformed := func(message, hint string) (string, bool, error) {
		return "", false, unauthenticated(message, hint, nil)
	}
	if len(values) > 1 {
		return malformed("there are two Authorization headers", "send one")
	}
	if len(values[0]) > mostBearer {
		return malformed("the Authorization header is too long", "send a token of less than 16 KiB")
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	token = strings.TrimLeft(token, " ")
	switch {
	case strings.HasPrefix(scheme, keyPrefix):
		return malformed("the word Bearer is missing", "send Authorization: Bearer hs_…")
	case !strings.EqualFold(scheme, "Bearer"):
		return malformed("only Bearer is understood", howToAuthenticate)
	case token == "":
		return malformed("the token is missing", howToAuthenticate)
	case strings.IndexFunc(token, notOfToken) >= 0:
		return malformed("the token has characters that no token has", "copy it again, without quotes and line breaks")
	}
	return token, true, nil
}

// notOfToken is what RFC 6750 keeps out of bearer tokens.
func notOfToken(c rune) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("-._~+/=", c):
		return false
	}
	return true
}

// actAs lets a service speak for a user, if its key may. People speak for themselves.
func actAs(who Who, h http.Header) (Who, error) {
	values := h[userHeader]
	if len(values) == 0 {
		return who, nil
	}
	refuse := func(code holdshort.Code, message, hint string) (Who, error) {
		return Who{}, &holdshort.Error{Code: code, Op: "act for a user", Field: userHeader, Message: message, Hint: hint}
	}
	switch {
	case who.Actor.Kind != holdshort.Service || !speaksForUsers(who.Scopes):
		return refuse(holdshort.Forbidden, "these credentials do not speak for users", "leave "+userHeader+" out, or use a service's key with scope "+holdshort.ScopeActAsUser)
	case len(values) > 1 || !validName(values[0]) || reserved(values[0]):
		return refuse(holdshort.Invalid, userHeader+" is not the id of one person", "send one id, like ana@example.org")
	}
	who.Actor.ForUser = values[0]
	return who, nil
}

// speaksForUsers wants it in so many words: a key without scopes does not.
func speaksForUsers(scopes []string) bool {
	return len(scopes) > 0 && holdshort.InScope(scopes, holdshort.ScopeActAsUser)
}
