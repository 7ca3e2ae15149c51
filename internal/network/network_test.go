package network

import (
	"net/http/httptest"
	"net/netip"
	"testing"
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

// What another site sends is refused; what comes from the address that people know is not, whatever host a proxy names.
func TestOrigins(t *testing.T) {
	c, err := Origins("https://hold.example.org/inbox")
	if err != nil {
		t.Fatal(err)
	}
	for origin, ok := range map[string]bool{"https://hold.example.org": true, "https://evil.example": false, "http://hold.example.org": false, "http://10.0.0.7:8080": true} {
		r := httptest.NewRequest("POST", "http://10.0.0.7:8080/requests/1/decide", nil)
		r.Header.Set("Origin", origin)
		if err := c.Check(r); (err == nil) != ok {
			t.Errorf("%s: %v", origin, err)
		}
	}
	if _, err := Origins("not an address"); err == nil {
		t.Error("taken")
	}
	if _, err := Origins(""); err != nil {
		t.Error(err)
	}
}
