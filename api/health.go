package api

import (
	"context"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) healthEndpoints() []endpoint {
	return []endpoint{
		route("GET", "/healthz", about{tag: "health", summary: "The process is up.", open: true}, (*call).healthy),
		route("GET", "/readyz", about{tag: "health", summary: "The store answers and the loops run; 503 with the reason otherwise.", open: true}, (*call).ready),
		stream("GET", "/metrics", about{tag: "health", summary: "Figures for Prometheus, for those who may see everything and for this machine.", open: true, media: "text/plain"}, (*call).metrics),
	}
}

// Health is a short answer.
type Health struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
}

func (c *call) healthy(none) (Health, error) {
	return Health{Status: "ok", Version: c.options.Version}, nil
}

const readyWithin = 2 * time.Second

func (c *call) ready(none) (Health, error) {
	notReady := func(message, hint string, cause error) (Health, error) {
		return Health{}, &holdshort.Error{Code: holdshort.NotReady, Message: message, Hint: hint, Err: cause}
	}
	if c.ending.Err() != nil {
		return notReady("the server stops", "ask another one", nil)
	}
	select {
	case <-c.engine.Ready():
	default:
		return notReady("the loops are not up yet", "try again in a moment", nil)
	}
	ctx, cancel := context.WithTimeout(c.ctx, readyWithin)
	defer cancel()
	// Nothing has this position, so it costs nothing: it is asked to see whether the store answers.
	if _, err := c.engine.Events(ctx, "default", engine.EventQuery{After: math.MaxInt64 - 1, Limit: 1}); err != nil {
		c.log.Error("the store does not answer", "error", err)
		return notReady("the store does not answer: "+string(holdshort.CodeOf(err)), "the server's log says more", err)
	}
	return Health{Status: "ready", Version: c.options.Version}, nil
}

func (c *call) metrics(none) error {
	if c.options.Metrics == nil {
		return &holdshort.Error{Code: holdshort.NotFound, Message: "there is nothing at this path", Hint: "/openapi.json lists what there is"}
	}
	known := c.who.Actor.ID != ""
	if known && c.who.Allows(policy.View) && c.must(policy.ViewAudit) == nil || fromHere(c.r) {
		c.options.Metrics.ServeHTTP(c.w, c.r)
		return nil
	}
	if !known {
		return &holdshort.Error{Code: holdshort.Unauthenticated, Message: "figures are not for everybody", Hint: "ask from this machine, or send a key that may see everything"}
	}
	return c.deny(policy.ViewAudit)
}

// fromHere reports whether a call comes from this machine itself, and not through a proxy on it.
func fromHere(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	loopback := func(address string) bool {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
	}
	return loopback(r.RemoteAddr) && loopback(r.Host) // a page whose name was pointed at this machine comes from here too
}
