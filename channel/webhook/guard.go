package webhook

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/network"
)

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
	return g.private || network.Public(ip)
}

// control looks at the address that is really connected to, after every look-up: a name that means something else by now changes nothing.
func (g guard) control(kind, address string, _ syscall.RawConn) error {
	if kind != "tcp4" && kind != "tcp6" {
		return blocked(fmt.Sprintf("of %s", kind))
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
