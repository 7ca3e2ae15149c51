package torture

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// attend reads the line that a parent says first, and ends the context when the parent closes the pipe, which it also does by dying.
func attend(ctx context.Context, in io.Reader) (context.Context, []byte, error) {
	reader := bufio.NewReader(in)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return ctx, nil, fmt.Errorf("read what to do: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, reader)
		cancel(errors.New("the parent is gone"))
	}()
	return ctx, line, nil
}

// greeting is what a child says first.
type greeting struct {
	Address string `json:"address"`
	API     string `json:"api,omitempty"` // where the public API answers
}

// serve answers on loopback addresses, which it tells its parent, until ctx ends; then before is called and the calls under way finish. The
// public API, if there is one, has an address of its own.
func serve(ctx context.Context, handler, public http.Handler, out io.Writer, before func()) error {
	var hello greeting
	done := make(chan error, 2)
	listen := func(h http.Handler, address *string) (*http.Server, error) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*address = listener.Addr().String()
		server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
		go func() { done <- server.Serve(listener) }()
		return server, nil
	}
	servers := make([]*http.Server, 1, 2)
	var err error
	if servers[0], err = listen(handler, &hello.Address); err != nil {
		return err
	}
	if public != nil {
		server, err := listen(public, &hello.API)
		if err != nil {
			return err
		}
		servers = append(servers, server)
	}
	if err := json.NewEncoder(out).Encode(hello); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if before != nil {
		before()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	for _, server := range servers {
		if server.Shutdown(last) != nil {
			err = server.Close()
		}
	}
	return err
}
