package webhook

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"github.com/holdshort/holdshort"
)

// closed are the networks that lead inside: to this machine, to its neighbours, to other machines behind a translation, or nowhere. What
// netip knows by itself (private, loopback, link-local, multicast) is not repeated here.
var closed = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96",           // IPv4 in another coat
	"::ffff:0:0:0/96", // and translated
	"64:ff9b::/96",    // NAT64: any IPv4 address, private ones too
	"64:ff9b:1::/48",
	"100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// guard says where nothing is sent.
type guard struct {
	private bool           // everything goes
	allowed []netip.Prefix // these networks go
	plain   bool           // without TLS too
}

// blocked is the error of an address that leads inside.
func blocked(where string) error {
	return &holdshort.Error{Code: holdshort.Forbidden, Op: "send webhook", Message: "the address " + where + " is not public",
		Hint: "use an address that the internet knows, or allow its network in the configuration"}
}

// permits reports whether ip may be connected to.
func (g guard) permits(ip netip.Addr) bool {
	ip = ip.Unmap()
	for _, p := range g.allowed {
		if p.Contains(ip.WithZone("")) {
			return true
		}
	}
	if g.private {
		return true
	}
	if !ip.IsValid() || ip.Zone() != "" || !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return false
	}
	for _, p := range closed {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// control looks at the address that is really connected to, after every look-up: a name that means something else by now changes nothing.
func (g guard) control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return blocked(fmt.Sprintf("of %s", network))
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return blocked(address)
	}
	if !g.permits(at.Addr()) {
		return blocked(at.Addr().String())
	}
	return nil
}

// check refuses what needs no look-up to be refused.
func (g guard) check(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "send webhook", Field: "url", Message: "that is no address", Hint: "use an absolute https URL"}
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !g.plain) {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "send webhook", Field: "url", Message: "webhooks go over https", Hint: "use https, or allow http in the configuration"}
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !g.permits(ip) {
		return nil, blocked(ip.String())
	}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if !g.private && len(g.allowed) == 0 && (name == "localhost" || strings.HasSuffix(name, ".localhost")) {
		return nil, blocked(name)
	}
	return u, nil
}
