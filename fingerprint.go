package holdshort

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// NewSalt gives what keeps a fingerprint from being guessed by trying likely arguments: 128 random bits in hexadecimal.
func NewSalt() string { return randomHex(16) }

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails: the runtime ends the program when the system has no randomness
	return hex.EncodeToString(b)
}

// fingerprintForm is what a fingerprint covers: everything that makes up what a person is asked, and nothing that changes while it is
// asked. Redaction changes what is shown, never this.
type fingerprintForm struct {
	Format        string              `json:"format"`
	Tenant        TenantID            `json:"tenant"`
	Request       RequestID           `json:"request"`
	Kind          Kind                `json:"kind"`
	Question      string              `json:"question"`
	ExpectedInput ExpectedInput       `json:"expected_input"`
	Schema        json.RawMessage     `json:"schema"`
	Options       []Option            `json:"options"`
	Allowed       []Verb              `json:"allowed"`
	Audience      Audience            `json:"audience"`
	Run           RunID               `json:"run"`
	Step          string              `json:"step"`
	Actions       []fingerprintAction `json:"actions"`
	PolicyVersion string              `json:"policy_version"`
	ValidFor      int64               `json:"valid_for"` // nanoseconds
	Requester     Requester           `json:"requester"`
	Salt          string              `json:"salt"`
}

type fingerprintAction struct {
	CallID        string          `json:"call_id"`
	Tool          string          `json:"tool"`
	Args          json.RawMessage `json:"args"`
	SchemaHash    string          `json:"schema_hash"`
	NeedsApproval bool            `json:"needs_approval"`
	Editable      []string        `json:"editable"`
}

// ComputeFingerprint names exactly what a person is asked: SHA-256, in hexadecimal, over the canonical JSON of tenant, request id, kind,
// question, expected input, schema, options, allowed verbs, audience, run, step, every action's call id, tool, arguments, tool-schema
// hash, need of approval and editable fields, policy version, how long an approval is good, requester and salt. It refuses with NotCanonical what cannot be hashed without losing something, and
// with Invalid a request without id or salt.
func (r Request) ComputeFingerprint(tenant TenantID) (string, error) {
	if tenant == "" || r.ID == "" || r.Salt == "" {
		return "", &Error{Code: Invalid, Field: "fingerprint", Message: "tenant, request id and salt come before the fingerprint",
			Hint: "set them first; NewSalt makes a salt"}
	}
	form := fingerprintForm{
		Format: "holdshort-fingerprint-1", Tenant: tenant, Request: r.ID, Kind: r.Kind, Question: r.Question, ExpectedInput: r.ExpectedInput,
		Options: present(r.Options), Allowed: present(r.Allowed), Audience: r.Audience, Run: r.RunID, Step: r.OriginStepID,
		Actions: make([]fingerprintAction, len(r.Actions)), PolicyVersion: r.PolicyVersion,
		ValidFor: int64(r.ValidFor), Requester: r.Requester, Salt: r.Salt,
	}
	// A list that is empty and one that is missing are the same after a trip through a store.
	form.Audience.Users, form.Audience.Roles = present(r.Audience.Users), present(r.Audience.Roles)
	form.Audience.Quorum = r.Audience.Needed()
	var err error
	if form.Schema, err = canonicalAt("/schema", r.Schema); err != nil {
		return "", err
	}
	for i, a := range r.Actions {
		args, err := canonicalAt("/actions/"+strconv.Itoa(i)+"/args", a.Args)
		if err != nil {
			return "", err
		}
		form.Actions[i] = fingerprintAction{CallID: a.CallID, Tool: a.Tool, Args: args, SchemaHash: a.SchemaHash, NeedsApproval: a.NeedsApproval,
			Editable: present(a.Editable)}
	}
	if err := form.checkText(); err != nil {
		return "", err
	}
	canonical, err := CanonicalValue(form)
	if err != nil {
		return "", err
	}
	return ArgsHash(canonical), nil
}

// checkText refuses what encoding/json would replace: two different questions would get one fingerprint.
func (f fingerprintForm) checkText() error {
	texts := []string{string(f.Tenant), string(f.Request), string(f.Kind), f.Question, string(f.ExpectedInput), string(f.Run), f.Step, f.PolicyVersion, f.Salt, f.Requester.User, f.Requester.RaisedBy, f.Requester.StartedBy}
	texts = append(append(texts, f.Audience.Users...), f.Audience.Roles...)
	for _, o := range f.Options {
		texts = append(texts, o.ID, o.Label)
	}
	for _, v := range f.Allowed {
		texts = append(texts, string(v))
	}
	for _, a := range f.Actions {
		texts = append(append(texts, a.CallID, a.Tool, a.SchemaHash), a.Editable...)
	}
	return checkUTF8(NotCanonical, texts)
}

func checkUTF8(code Code, texts []string) error {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return &Error{Code: code, Message: "a text is not valid UTF-8", Hint: "send UTF-8 text; binary data goes as base64"}
		}
	}
	return nil
}

// canonicalAt runs before encoding/json sees raw, which would report broken text without its place. No text at all is null.
func canonicalAt(place string, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	canonical, err := Canonical(raw)
	var e *Error
	if errors.As(err, &e) {
		e.Field = place + e.Field
	}
	return canonical, err
}

func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
