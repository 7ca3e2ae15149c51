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
}

// serve answers on a loopback address, which it tells its parent, until ctx ends; then before is called and the calls under way finish.
func serve(ctx context.Context, handler http.Handler, out io.Writer, before func()) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	if err := json.NewEncoder(out).Encode(greeting{listener.Addr().String()}); err != nil {
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
	if err := server.Shutdown(last); err != nil {
		return server.Close()
	}
	return nil
}
