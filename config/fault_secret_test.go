package config

import (
	"strings"
	"testing"
)

// The line of a fault never shows what headers and environments hold, however their keys are called.
func TestExcerptsHideSecrets(t *testing.T) {
	for _, text := range []string{
		"tools:\n  a:\n    http:\n      headers:\n        Bad Header: sk-12345",
		"tools:\n  a:\n    http:\n      headers:\n        \"X-Auth\": \"sk-12345\"",
		"tools:\n  a: {http: {url: x, headers: {X-Auth: sk-12345}}}",
		"tools:\n  a:\n    command:\n      env:\n\n        COOKIE: sk-12345",
		"models:\n  m:\n    api_key: sk-12345",
	} {
		lines := strings.Split(text, "\n")
		if got := excerpt(lines, len(lines), 10); strings.Contains(got, "12345") || !strings.Contains(got, "…") {
			t.Errorf("%q shows %q", text, got)
		}
	}
	for text, keeps := range map[string]string{"server:\n  addr: 127.0.0.1:80a": "127.0.0.1:80a", "a:\n  env:\n    X: y\n  dir: here": "here", "x:\n  headers:\n    A: ${NAME}": "${NAME}"} {
		lines := strings.Split(text, "\n")
		if got := excerpt(lines, len(lines), 3); !strings.Contains(got, keeps) {
			t.Errorf("%q shows %q", text, got)
		}
	}
}
