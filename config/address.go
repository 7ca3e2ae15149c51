package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
)

func (c *checker) server() {
	if c.Server.Addr != "" {
		_, port, err := net.SplitHostPort(c.Server.Addr)
		if err == nil {
			_, err = net.LookupPort("tcp", port) // as net.Listen reads it: a number up to 65535, or a name such as http
		}
		if err != nil {
			c.wrong("server.addr", "write HOST:PORT, such as 127.0.0.1:8080 or :8080", "%q is no address to listen on", c.Server.Addr)
		}
	}
	c.address("server.public_url", c.Server.PublicURL)
	for i, text := range c.Server.Outgoing.Networks {
		if _, err := netip.ParsePrefix(text); err != nil {
			c.wrong(fmt.Sprintf("server.outgoing.networks[%d]", i), "write 10.1.0.0/16", "%q is no network", text)
		}
	}
}

// address must be an http or https URL, if it is there.
func (c *checker) address(path, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		c.wrong(path, "write https://HOST/PATH, without a user in it", "this is no http or https address")
	}
}
