package answer

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Secrets are texts of the configuration that must not come back to models, journals and people, whatever the other side sends.
type Secrets struct{ list [][]byte } // longest first

const (
	shortestSecret = 6
	hiddenText     = "[secret]"
)

var (
	secretName = regexp.MustCompile(`(?i)auth|key|token|secret|pass|pwd|cookie|cred|sign|session|bearer`)
	randomText = regexp.MustCompile(`^[A-Za-z0-9_.~+=:-]{16,}$`)
)

// Add takes the value of a header, parameter or variable if its name or its look says that it is secret.
func (s *Secrets) Add(name, value string) {
	random := randomText.MatchString(value) && strings.ContainsAny(value, "0123456789") && strings.ContainsAny(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz")
	if !secretName.MatchString(name) && !random {
		return
	}
	s.add(value)
	if scheme, rest, ok := strings.Cut(value, " "); ok {
		s.add(rest)
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
			s.add(string(plain))
			_, password, _ := strings.Cut(string(plain), ":")
			s.add(password)
		}
	}
	slices.SortFunc(s.list, func(a, b []byte) int { return cmp.Or(len(b)-len(a), bytes.Compare(a, b)) })
	s.list = slices.CompactFunc(s.list, bytes.Equal)
}

// add keeps a text in every form in which it may be written.
func (s *Secrets) add(text string) {
	if len(strings.TrimSpace(text)) < shortestSecret {
		return
	}
	forms := [][]byte{[]byte(text), []byte(url.QueryEscape(text)), []byte(url.PathEscape(text))}
	inJSON := Marshal(text)
	forms = append(forms, inJSON[1:len(inJSON)-1])
	if inJSON, err := json.Marshal(text); err == nil { // with < and > escaped
		forms = append(forms, inJSON[1:len(inJSON)-1])
	}
	s.list = append(s.list, forms...)
}

// Hide replaces the secrets in what the other side sent.
func (s Secrets) Hide(b []byte) []byte {
	for _, secret := range s.list {
		if bytes.Contains(b, secret) {
			b = bytes.ReplaceAll(b, secret, []byte(hiddenText))
		}
	}
	return b
}

// HideCut does the same where the end is missing: the beginning of a secret at the end goes too.
func (s Secrets) HideCut(b []byte) []byte {
	b = s.Hide(b)
	for _, secret := range s.list {
		for n := min(len(secret)-1, len(b)); n >= shortestSecret; n-- {
			if bytes.HasSuffix(b, secret[:n]) {
				return append(slices.Clone(b[:len(b)-n]), hiddenText...)
			}
		}
	}
	return b
}

// Text replaces the secrets in a text.
func (s Secrets) Text(text string) string { return string(s.Hide([]byte(text))) }

// Error replaces the secrets in the text of an error. What it is stays what it is.
func (s Secrets) Error(err error) error {
	if err == nil {
		return nil
	}
	if text := s.Text(err.Error()); text != err.Error() {
		return hidden{errors.New(text), err}
	}
	return err
}

type hidden struct {
	error
	cause error
}

func (h hidden) Unwrap() error { return h.cause }
