// Package outgoing says which addresses a call may connect to, and looks at the one that is really dialed.
// It may import the root package and internal/network.
package outgoing

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/network"
)

// Guard says where a call may go whose host an argument had a part in. The zero value permits public addresses.
type Guard struct {
	hosts    []string       // if any: only these; "*.a" is everything below a
	networks []netip.Prefix // these go, public or not
}

// Parse reads a list of hosts ("api.example.com", "*.example.com") and networks ("10.0.0.0/8"). Hosts narrow what may be called to
// themselves; networks may be connected to although they are private.
func Parse(list []string) (Guard, error) {
	var g Guard
	for _, text := range list {
		if strings.Contains(text, "/") {
			p, err := netip.ParsePrefix(text)
			if err != nil {
				return Guard{}, fmt.Errorf("%q is no network: write 10.0.0.0/8", text)
			}
			g.networks = append(g.networks, p.Masked())
			continue
		}
		if ip, err := netip.ParseAddr(text); err == nil {
			g.hosts = append(g.hosts, ip.String())
			continue
		}
		name, _ := strings.CutPrefix(text, "*.")
		if !Name(name) {
			return Guard{}, fmt.Errorf("%q is no host: write api.example.com, *.example.com or a network", text)
		}
		g.hosts = append(g.hosts, strings.ToLower(text))
	}
	return g, nil
}

// Narrow reports whether it lists hosts.
func (g Guard) Narrow() bool { return len(g.hosts) > 0 }

// Blocked is the error of an address that may not be called.
func Blocked(where string) error {
	return &holdshort.Error{Code: holdshort.Forbidden, Op: "call tool", Message: "the address " + where + " is not one that a call may go to",
		Hint: "use an address that the internet knows, or list its host or network in the tool's configuration"}
}

// Host refuses a host before any look-up.
func (g Guard) Host(host string) error {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		if !g.permits(ip) {
			return Blocked(host)
		}
		host = ip.String()
	}
	if (host == "localhost" || strings.HasSuffix(host, ".localhost")) && len(g.networks) == 0 {
		return Blocked(host)
	}
	if len(g.hosts) == 0 {
		return nil
	}
	for _, known := range g.hosts {
		if below, wild := strings.CutPrefix(known, "*"); wild && strings.HasSuffix(host, below) && len(host) > len(below) || known == host {
			return nil
		}
	}
	return Blocked(host)
}

func (g Guard) permits(ip netip.Addr) bool {
	for _, p := range g.networks {
		if p.Contains(ip.Unmap()) {
			return true
		}
	}
	return network.Public(ip)
}

// Control looks at the address that is really connected to, after every look-up: a name that means something else by now changes nothing.
func (g Guard) Control(kind, address string, _ syscall.RawConn) error {
	if kind != "tcp4" && kind != "tcp6" {
		return Blocked("of " + kind)
	}
	if at, err := netip.ParseAddrPort(address); err != nil || !g.permits(at.Addr()) {
		return Blocked("behind that name") // which one it is, is nobody's business who cannot reach it
	}
	return nil
}

// Label reports whether text is one label of a host name.
func Label(text string) bool {
	if text == "" || len(text) > 63 || text[0] == '-' || text[len(text)-1] == '-' {
		return false
	}
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// Name reports whether text is a host name: labels of letters, digits and hyphens, as the domain name system has them. Names of other
// letters have a form of these as well.
func Name(text string) bool {
	if len(text) > 253 {
		return false
	}
	for _, label := range strings.Split(text, ".") {
		if !Label(label) {
			return false
		}
	}
	return true
}
