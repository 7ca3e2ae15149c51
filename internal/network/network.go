// Package network knows which addresses the internet knows: whoever lets others name an address asks it before connecting.
// It imports nothing of this module.
package network

import "net/netip"

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

// Public reports whether the internet knows ip.
func Public(ip netip.Addr) bool {
	if ip.Zone() != "" {
		return false
	}
	ip = ip.Unmap()
	if !ip.IsValid() || !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return false
	}
	for _, p := range closed {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}
