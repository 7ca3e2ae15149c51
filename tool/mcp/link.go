package mcp

import (
	"context"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// link is one connection.
type link struct {
	session   *mcp.ClientSession
	process   *process
	transport *http.Transport
	gone      chan struct{} // closed when the connection has ended
	blamed    bool          // for its end, once: held by Server.mu
}

func (l *link) end() {
	if l.process != nil {
		l.process.end()
	}
	_ = l.session.Close()
	if l.transport != nil {
		l.transport.CloseIdleConnections()
	}
}

func (l *link) alive() bool {
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

// abandoned is the error of a call that nobody waits for any more: it may be written yet.
type abandoned struct{ error }

func (a abandoned) Unwrap() error { return a.error }

// within waits for a call no longer than its context: one that cannot even be written would wait for ever.
func within[T any](ctx context.Context, l *link, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(200 * time.Millisecond) // the SDK comes back by itself when it can
	defer grace.Stop()
	select {
	case o := <-done:
		return o.value, o.err
	case <-grace.C:
		if l.process != nil {
			l.process.kill()
		}
		var none T
		return none, abandoned{ctx.Err()}
	}
}
