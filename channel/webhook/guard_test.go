package webhook

import (
	"net/netip"
	"testing"
)

func TestGuard(t *testing.T) {
	inside := []string{
		"127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "224.0.0.1",
		"239.255.255.255", "240.0.0.1", "255.255.255.255", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.7", "192.88.99.1",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
		"64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "5f00::1",
	}
	outside := []string{"1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.1.1", "2606:4700:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8"}
	strict := guard{}
	for _, text := range inside {
		if ip := netip.MustParseAddr(text); strict.permits(ip) {
			t.Errorf("%s would be connected to", text)
		}
		if ip := netip.MustParseAddr(text); !(guard{private: true}).permits(ip) {
			t.Errorf("%s is refused although all are allowed", text)
		}
	}
	for _, text := range outside {
		if !strict.permits(netip.MustParseAddr(text)) {
			t.Errorf("%s is refused", text)
		}
	}
	if strict.permits(netip.Addr{}) {
		t.Error("no address at all would be connected to")
	}
	some := guard{allowed: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("::1/128")}}
	for text, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "::1": true, "127.0.0.1": false, "8.8.8.8": true} {
		if got := some.permits(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	for address, want := range map[string]bool{"8.8.8.8:443": true, "[2606:4700::1]:443": true, "127.0.0.1:80": false, "[::1]:80": false, "[fe80::1%lo]:80": false, "unix.sock": false, "": false} {
		if err := strict.control("tcp4", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	if strict.control("unix", "8.8.8.8:443", nil) == nil || strict.control("udp4", "8.8.8.8:443", nil) == nil {
		t.Error("something else than TCP would be connected to")
	}
}

func TestCheckAddress(t *testing.T) {
	strict, plain, open := New(Options{}), New(Options{AllowHTTP: true}), New(Options{AllowHTTP: true, AllowPrivate: true})
	for _, c := range []struct {
		address             string
		strict, plain, open bool
	}{
		{"https://hooks.example.org/in?x=1", true, true, true},
		{"https://hooks.example.org:8443/in", true, true, true},
		{"http://hooks.example.org/in", false, true, true},
		{"https://8.8.8.8/", true, true, true},
		{"https://127.0.0.1/", false, false, true},
		{"http://[::1]:8080/", false, false, true},
		{"https://[::ffff:169.254.169.254]/latest", false, false, true},
		{"https://localhost/", false, false, true},
		{"https://LOCALHOST./", false, false, true},
		{"https://a.localhost/", false, false, true},
		{"ftp://hooks.example.org/", false, false, false},
		{"file:///etc/passwd", false, false, false},
		{"hooks.example.org", false, false, false},
		{"", false, false, false},
		{"https://", false, false, false},
	} {
		for name, got := range map[string]struct {
			err  error
			want bool
		}{"strict": {strict.CheckAddress(c.address), c.strict}, "plain": {plain.CheckAddress(c.address), c.plain}, "open": {open.CheckAddress(c.address), c.open}} {
			if (got.err == nil) != got.want {
				t.Errorf("%s, %s: %v", c.address, name, got.err)
			}
		}
	}
}
