package identity

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/holdshort/holdshort"
)

// RequireAuth refuses to serve on an address that others can reach when nobody could be told from anybody else.
func RequireAuth(addr string, c Config) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "listen on " + addr, Field: "addr", Message: "it is not host:port", Hint: "write 127.0.0.1:8080, or :8080 for every interface"}
	}
	loopback := loopbackName(host)
	switch {
	case loopback || c.Configured() && !c.Open:
		return nil
	case c.Open:
		return &holdshort.Error{Code: holdshort.Forbidden, Op: "listen on " + addr, Field: "addr", Message: "everybody who reaches it would be the administrator",
			Hint: "serve on 127.0.0.1, or set HOLDSHORT_ADMIN_KEY"}
	}
	return &holdshort.Error{Code: holdshort.Forbidden, Op: "listen on " + addr, Field: "addr", Message: "others can reach it, and no authentication is configured",
		Hint: "set HOLDSHORT_ADMIN_KEY to at least 24 random characters (then make keys with `holdshort keys create`), or configure auth.oidc or auth.jwt; or serve on 127.0.0.1"}
}

// loopbackName reports whether a host can only be this machine. Names other than localhost are not looked up: what they are can change.
func loopbackName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// local reports whether a call surely comes from this machine and was meant for it: not passed on by a proxy that runs here, and not sent by a
// page whose name was pointed at loopback.
func local(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) { // nobody but a proxy speaks it any more
		return false
	}
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if len(r.Header[h]) > 0 {
			return false
		}
	}
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		from = r.RemoteAddr
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	unix := from == "" || from == "@" // a socket of this machine
	return (unix || loopbackName(from)) && loopbackName(host)
}
