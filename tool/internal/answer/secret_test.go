package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSecrets(t *testing.T) {
	var s Secrets
	s.Add("Authorization", "Bearer sk-0123/4\"56789")
	s.Add("X-Basic-Auth", "Basic YW5hOnBhc3N3b3JkMQ==") // ana:password1
	s.Add("X-Shop", "a1b2c3d4e5f6a7b8c9")
	s.Add("X-Version", "2026-01-02")
	s.Add("X-Tenant", "acme-shop")
	s.Add("X-Token", "short")
	s.Add("Dir", "/usr/local/share/0123456789")
	for in, want := range map[string]string{
		`no Bearer sk-0123/4"56789 here`:                         "no [secret] here",
		`{"a":"sk-0123/4\"56789"}`:                               `{"a":"[secret]"}`,
		`x=sk-0123%2F4%2256789&y`:                                "x=[secret]&y",
		"ana:password1 password1":                                "[secret] [secret]",
		"a1b2c3d4e5f6a7b8c9a1b2c3d4e5f6a7b8c9":                   "[secret][secret]",
		"2026-01-02 acme-shop short /usr/local/share/0123456789": "2026-01-02 acme-shop short /usr/local/share/0123456789",
		"": "",
	} {
		if got := s.Text(in); got != want {
			t.Errorf("%s becomes %s", in, got)
		}
	}
	if got := string(s.HideCut([]byte("…a1b2c3d4e5f6"))); got != "…[secret]" {
		t.Errorf("what is cut in two becomes %s", got)
	}
	if got := string(s.HideCut([]byte("…a1b2"))); got != "…a1b2" {
		t.Errorf("what is too short to tell becomes %s", got)
	}
	err := fmt.Errorf("with a1b2c3d4e5f6a7b8c9: %w", io.EOF)
	if got := s.Error(err); got.Error() != "with [secret]: EOF" || !errors.Is(got, io.EOF) {
		t.Errorf("the error becomes %v", got)
	}
	if s.Error(nil) != nil || s.Error(io.EOF) != io.EOF {
		t.Error("an error without secrets is changed")
	}
}

// Whatever the secret is, it is not in what is left, and JSON stays JSON.
func TestSecretsAreGone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		secret := rapid.StringMatching(`[a-zA-Z0-9"\\/<& é]{6,40}`).Draw(r, "secret")
		if len(strings.TrimSpace(secret)) < shortestSecret || strings.Contains(hiddenText, strings.TrimSpace(secret)) {
			return
		}
		var s Secrets
		s.Add("token", secret)
		value := Marshal(map[string]string{"a": "x" + secret + "y" + secret})
		got := s.Hide(value)
		var back map[string]string
		if err := json.Unmarshal(got, &back); err != nil || strings.Contains(back["a"], secret) {
			r.Fatalf("%q leaves %s: %v", secret, got, err)
		}
	})
}
