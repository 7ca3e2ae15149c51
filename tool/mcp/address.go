package mcp

import (
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote speaks the protocol with an address.
func (c Config) remote() (mcp.Transport, *http.Transport) {
	base := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: c.Timeout}).DialContext,
		TLSHandshakeTimeout:    c.Timeout,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
	}
	fresh := base.Clone()
	fresh.DisableKeepAlives, fresh.ForceAttemptHTTP2 = true, false
	client := &http.Client{
		Transport: carrier{base, fresh, c.Headers, int64(c.maxMessage)},
		// A redirect would take headers with secrets elsewhere, or a call to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &mcp.StreamableClientTransport{Endpoint: c.URL, HTTPClient: client, MaxEventSize: c.maxMessage}, base
}

// carrier adds the headers of the configuration, notes what was sent, and reads no more of an answer than a message may have. A call has a
// connection of its own: without one it was not sent, and no transport repeats it.
type carrier struct {
	base    http.RoundTripper
	fresh   http.RoundTripper
	headers map[string]string
	most    int64
}

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := sentOf(r.Context())
	r = r.Clone(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.begin() }}))
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	transport := c.base
	if sent != nil {
		transport = c.fresh
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "text/event-stream" {
		response.Body = limited{io.LimitReader(response.Body, c.most), response.Body}
	}
	return response, nil
}

type limited struct {
	io.Reader
	io.Closer
}
