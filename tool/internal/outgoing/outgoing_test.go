package outgoing

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdshort/holdshort"
)

// Every way to write an address inside.
func TestPublic(t *testing.T) {
	inside := []string{"127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.1",
		"192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.88.99.1",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::7f00:1", "100::1", "2001:0:7f00:1::", "2001:db8::1",
		"2002:7f00:1::", "3fff::1", "5f00::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "2600::1%eth0"}
	for _, text := range inside {
		if Public(netip.MustParseAddr(text)) {
			t.Errorf("%s is let through", text)
		}
	}
	for _, text := range []string{"8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2600::1", "2a00:1450:4001::1", "::ffff:8.8.8.8"} {
		if !Public(netip.MustParseAddr(text)) {
			t.Errorf("%s is not let through", text)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is let through")
	}
}

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
