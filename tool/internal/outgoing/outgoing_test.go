package outgoing

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdshort/holdshort"
)

func TestParse(t *testing.T) {
	for _, text := range []string{"", "a b", "10.0.0.0/99", "*.", "**.a", "a/b", "https://a", "münchen.de", "a:80", "*a.example", "-a"} {
		if _, err := Parse([]string{text}); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestHost(t *testing.T) {
	tests := []struct {
		list  []string
		host  string
		block bool
	}{
		{nil, "example.com", false},
		{nil, "8.8.8.8", false},
		{nil, "127.0.0.1", true},
		{nil, "::1", true},
		{nil, "localhost", true},
		{nil, "LOCALHOST.", true},
		{nil, "a.localhost", true},
		{[]string{"example.com"}, "example.com", false},
		{[]string{"Example.com"}, "EXAMPLE.com.", false},
		{[]string{"example.com"}, "a.example.com", true},
		{[]string{"example.com"}, "notexample.com", true},
		{[]string{"*.example.com"}, "a.example.com", false},
		{[]string{"*.example.com"}, "a.b.example.com", false},
		{[]string{"*.example.com"}, "example.com", true},
		{[]string{"*.example.com"}, "notexample.com", true},
		{[]string{"*.example.com", "example.org"}, "example.org", false},
		{[]string{"10.0.0.0/8"}, "10.1.2.3", false},
		{[]string{"10.0.0.0/8"}, "127.0.0.1", true},
		{[]string{"10.0.0.0/8"}, "any.example", false},
		{[]string{"127.0.0.0/8"}, "localhost", false},
		{[]string{"127.0.0.0/8", "example.com"}, "localhost", true},
		{[]string{"8.8.8.8"}, "8.8.8.8", false},
		{[]string{"8.8.8.8"}, "8.8.4.4", true},
		{[]string{"127.0.0.1"}, "127.0.0.1", true}, // hosts narrow; only networks open
	}
	for _, tt := range tests {
		g, err := Parse(tt.list)
		if err != nil {
			t.Errorf("%v: %v", tt.list, err)
			continue
		}
		if err := g.Host(tt.host); (err != nil) != tt.block || err != nil && (!errors.Is(err, holdshort.Forbidden) || holdshort.HintOf(err) == "") {
			t.Errorf("%v and %s: %v", tt.list, tt.host, err)
		}
	}
}

func TestControl(t *testing.T) {
	g, err := Parse([]string{"10.0.0.0/8", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	for address, block := range map[string]bool{"8.8.8.8:443": false, "10.1.1.1:80": false, "[::ffff:10.1.1.1]:80": false, "[fd00::1]:80": false, "127.0.0.1:80": true, "[::1]:80": true, "169.254.169.254:80": true,
		"[fe80::1%eth0]:80": true, "[fd00::1%eth0]:80": true, "nonsense": true, "": true, "host:80": true} {
		if err := g.Control("tcp4", address, nil); (err != nil) != block {
			t.Errorf("%s: %v", address, err)
		} else if err != nil && strings.Contains(err.Error(), "169.254") {
			t.Errorf("tells who cannot reach it: %v", err)
		}
	}
	for _, network := range []string{"udp4", "unix", "tcp", "ip4", ""} {
		if g.Control(network, "8.8.8.8:80", nil) == nil {
			t.Errorf("%s is let through", network)
		}
	}
}

// A name is ASCII letters, digits, hyphens and dots, whatever one tries.
func TestName(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z0-9.:@/%\[\]-]{0,80}`)).Draw(r, "text")
		if !Name(text) {
			return
		}
		if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != "" || strings.Contains(text, "..") || len(text) > 253 {
			r.Fatalf("%q is a name", text)
		}
	})
	for text, is := range map[string]bool{"a": true, "a.b": true, "xn--mnchen-3ya.de": true, "": false, ".": false, "a.": false, ".a": false, "-a": false, "a-": false, "a_b": false, "a b": false,
		"a@b": false, "a:1": false, "ä": false, "ｅxample.com": false, "a/b": false, strings.Repeat("a", 64): false} {
		if Name(text) != is {
			t.Errorf("%q: %v", text, !is)
		}
	}
}
