package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// Token is the secret part of a personal link: whoever has it is taken for the person. It prints as a placeholder; string(t) is the text.
type Token string

// String keeps the token out of messages and logs.
func (Token) String() string { return "link(…)" }

// GoString keeps it out of %#v.
func (Token) GoString() string { return "link(…)" }

// LogValue keeps it out of structured logs.
func (Token) LogValue() slog.Value { return slog.StringValue("link(…)") }

const (
	linkPurpose = "link"
	linkLife    = 7 * 24 * time.Hour // of a link to a request that never expires
	linkAfter   = 24 * time.Hour     // how long a link still says that its request has expired
	mostToken   = 8 << 10
)

// linked is what a link says. The request is in the path and under the signature.
type linked struct {
	Tenant      holdshort.TenantID `json:"t"`
	Person      string             `json:"p"`
	Name        string             `json:"n,omitempty"`
	Roles       []string           `json:"r,omitempty"`
	Fingerprint []byte             `json:"f"`
	Until       int64              `json:"x"`
}

// LinkFor makes the token of a link by which person can look at req and decide it, for ttl; 0: until a day after the request's own time, a
// week if it has none. The link carries no right: what the person may do is looked at when it is used. It gives "" for somebody who cannot
// have a link: nobody, or the kernel.
func (i *Identity) LinkFor(tenant holdshort.TenantID, req holdshort.Request, person holdshort.Actor, ttl time.Duration) Token {
	if !validName(person.ID) || person.Kind != holdshort.Person || req.ID == "" || req.Fingerprint == "" {
		return ""
	}
	until := i.config.Clock().Add(ttl)
	switch due := req.Due(); {
	case ttl > 0:
	case due.IsZero():
		until = until.Add(linkLife)
	default:
		until = due.Add(linkAfter)
	}
	payload, err := json.Marshal(linked{Tenant: tenant, Person: person.ID, Name: person.Name, Roles: person.Roles, Fingerprint: shortHash(req.Fingerprint), Until: until.Unix()})
	if err != nil {
		return ""
	}
	body := base64.RawURLEncoding.EncodeToString(payload)
	mac := i.engine.Sign(tenant, linkPurpose, linkText(req.ID, body))
	return Token(body + "." + strings.Replace(mac, ":", ".", 1))
}

// LinkActor says who holds a link to a request, and gives the request. A link that is forged, changed, past its time, of another request or of
// a request that was asked anew gets one and the same Unauthenticated. When the request is closed or past its time, the error is Closed or
// Expired, and the person and the request are there to be shown: nothing can be done with the link any more.
func (i *Identity) LinkActor(ctx context.Context, id holdshort.RequestID, token Token) (Who, holdshort.Request, error) {
	said, err := i.readLink(id, token)
	if err != nil {
		return Who{}, holdshort.Request{}, err
	}
	who := Who{Tenant: said.Tenant, Method: ByLink, Actor: holdshort.Actor{ID: said.Person, Kind: holdshort.Person, Name: said.Name,
		Roles: i.roles.now(said.Person, said.Roles), Assurance: holdshort.AssuranceLink}}
	view, err := i.engine.RequestFor(ctx, said.Tenant, id, who.Actor)
	req := view.Request
	switch holdshort.CodeOf(err) {
	case "":
	case holdshort.NotFound: // it was deleted, or the person has lost the right to look at it
		if _, gone := i.engine.RequestByID(ctx, said.Tenant, id); gone == nil {
			i.Denied(ctx, who, "hitl.request.view", string(id))
		}
		return Who{}, holdshort.Request{}, badLink()
	default:
		return Who{}, holdshort.Request{}, err
	}
	if subtle.ConstantTimeCompare(shortHash(req.Fingerprint), said.Fingerprint) != 1 {
		return Who{}, holdshort.Request{}, badLink()
	}
	switch req.Status {
	case holdshort.RequestOpen:
		return who, req, nil
	case holdshort.RequestExpired:
		return who, req, &holdshort.Error{Code: holdshort.Expired, Op: "open link to " + string(id), Message: "the request is past its time", Hint: "ask whoever sent the link to ask again"}
	}
	return who, req, &holdshort.Error{Code: holdshort.Closed, Op: "open link to " + string(id), Message: "the request is " + string(req.Status) + " already", Hint: "a link is good for one decision"}
}

// readLink checks a token without looking anything up: a flood of made-up ones costs no database.
func (i *Identity) readLink(id holdshort.RequestID, token Token) (said linked, err error) {
	if len(token) > mostToken {
		return said, badLink()
	}
	body, mac, _ := strings.Cut(string(token), ".")
	payload, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil {
		return said, badLink()
	}
	if json.Unmarshal(payload, &said) != nil {
		return linked{}, badLink()
	}
	if _, err := holdshort.ParseTenantID(string(said.Tenant)); err != nil {
		return linked{}, badLink()
	}
	ok, err := i.engine.Signed(said.Tenant, linkPurpose, strings.Replace(mac, ".", ":", 1), linkText(id, body))
	if err != nil || !ok || !i.config.Clock().Before(time.Unix(said.Until, 0)) {
		return linked{}, badLink()
	}
	return said, nil
}

// linkText is what is signed: the request's id has a fixed alphabet without the separator, so no two links have one text.
func linkText(id holdshort.RequestID, body string) []byte {
	return []byte("holdshort-link-1\n" + string(id) + "\n" + body)
}

// shortHash keeps the fingerprint itself out of the link.
func shortHash(fingerprint string) []byte {
	h := sha256.Sum256([]byte(fingerprint))
	return h[:16]
}

func badLink() error {
	return unauthenticated("this link is not valid, or not any more", "ask for a new one, or log in", nil)
}
