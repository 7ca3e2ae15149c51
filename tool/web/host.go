package web

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort/tool"
	"github.com/holdshort/holdshort/tool/internal/fill"
	"github.com/holdshort/holdshort/tool/internal/outgoing"
)

// parseAuthority reads the host and the port of a template: written out, or with places for labels, or one place alone.
func (a *address) parseAuthority(text string) error {
	if _, _, found := cut(text, "@"); found != 0 {
		return errors.New("credentials do not belong into an address: use a header")
	}
	t, err := fill.Parse(text)
	if err != nil {
		return err
	}
	if literal, ok := t.Literal(); ok {
		u, err := url.Parse(a.scheme + "://" + literal)
		if err != nil || u.Host != literal || u.Hostname() == "" {
			return fmt.Errorf("%q is no host", literal)
		}
		if _, err := netip.ParseAddr(u.Hostname()); err != nil && !outgoing.Name(strings.TrimSuffix(strings.ReplaceAll(u.Hostname(), "_", "x"), ".")) {
			return fmt.Errorf("%q is no host", literal)
		}
		a.host = literal
		return nil
	}
	host, port, hasPort := cut(text, ":")
	if hasPort != 0 {
		if port == "" || strings.Trim(port, "0123456789") != "" || len(port) > 5 {
			return errors.New("the port must be a number that is written out")
		}
		a.port = ":" + port
	}
	labels := split(host, ".")
	for i, label := range labels {
		t, err := fill.Parse(label)
		if err != nil {
			return err
		}
		if literal, ok := t.Literal(); ok && !outgoing.Label(literal) || !outgoing.Label("x"+t.Static()+"x") {
			return fmt.Errorf("%q is no part of a host", literal)
		}
		for _, p := range t.Places() {
			if p.Optional {
				return fmt.Errorf("{%s?} cannot be left out of the host", p)
			}
		}
		if _, ok := t.Literal(); !ok && len(labels) > 1 && i >= len(labels)-2 {
			return fmt.Errorf("the end of the host must be written out, as in {region}.example.com, or the whole host be {%s}", t.Places()[0])
		}
		a.labels = append(a.labels, t)
	}
	return nil
}

// open reports whether the caller names the whole host.
func (a address) open() bool {
	if a.whole != nil {
		return true
	}
	if len(a.labels) != 1 {
		return false
	}
	_, whole := a.labels[0].Whole()
	return whole
}

func (a address) fillHost(v fill.Values, g outgoing.Guard) (string, error) {
	if a.host != "" {
		return a.host, nil
	}
	if len(a.labels) == 1 { // with another text around it, it would be a host without a domain
		if p, ok := a.labels[0].Whole(); ok {
			value, _, err := v.Text(p)
			if err != nil {
				return "", err
			}
			return hostOf(p, value, a.port, g)
		}
	}
	var names []string
	for _, t := range a.labels {
		label, _, err := t.Fill(v, func(p fill.Place, value string) (string, error) {
			if !outgoing.Label("x" + value + "x") {
				return "", fill.Wrong(p, value, "it must be letters, digits and hyphens: it is part of a host name")
			}
			return strings.ToLower(value), nil
		})
		if err != nil {
			return "", err
		}
		if !outgoing.Label(label) {
			return "", fill.Wrong(t.Places()[0], label, "it makes no host name")
		}
		names = append(names, label)
	}
	host := strings.Join(names, ".")
	if err := g.Host(host); err != nil {
		return "", tool.NotSent(err)
	}
	return host + a.port, nil
}

// hostOf takes a host that is nothing but a value.
func hostOf(p fill.Place, value, port string, g outgoing.Guard) (string, error) {
	host := strings.ToLower(value)
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && ip.Is6() && ip.Zone() == "":
		host = "[" + ip.String() + "]"
	case err == nil && ip.Is4():
	case !outgoing.Name(strings.TrimSuffix(host, ".")):
		return "", fill.Wrong(p, value, "it must be a host name of letters, digits, hyphens and dots")
	}
	if err := g.Host(strings.Trim(host, "[]")); err != nil {
		return "", tool.NotSent(err)
	}
	return host + port, nil
}

// fillWhole takes an address that the caller names altogether.
func (a address) fillWhole(v fill.Values, g outgoing.Guard, more []parameter) (*url.URL, error) {
	p := *a.whole
	text, _, err := v.Text(p)
	if err != nil {
		return nil, err
	}
	if len(text) > mostURL || strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == '\\' || r == utf8.RuneError || unicode.IsControl(r)
	}) {
		return nil, fill.Wrong(p, nil, "it is no address")
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Opaque != "" || u.Hostname() == "" {
		return nil, fill.Wrong(p, text, "it must be an address that begins with https:// or http://")
	}
	if u.User != nil {
		return nil, fill.Wrong(p, nil, "it must not hold credentials")
	}
	if port := u.Port(); port != "" && strings.Trim(port, "0123456789") != "" || strings.HasSuffix(u.Host, ":") {
		return nil, fill.Wrong(p, text, "its port is no number")
	}
	port := ""
	if u.Port() != "" {
		port = ":" + u.Port()
	}
	if u.Host, err = hostOf(p, u.Hostname(), port, g); err != nil {
		return nil, err
	}
	query, err := encode(more, v)
	if err != nil {
		return nil, err
	}
	u.Fragment, u.RawFragment = "", ""
	if query != "" {
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+query, "&")
	}
	return u, nil
}
