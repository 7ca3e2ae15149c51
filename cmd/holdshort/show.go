package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// requestArg names a request.
type requestArg struct {
	Request string `arg:"" help:"The request: its id, its short code, or the last characters of its id if it is open."`
}

type showCommand struct {
	requestArg
	Reveal bool `help:"Show redacted arguments too, if you may decide it; that you looked is noted."`
	clientFlags
	jsonFlag
}

func (showCommand) Help() string {
	return `Shows everything that a decision needs: question, arguments in full, who may decide, until when. Characters that cannot be seen, or that turn text around, are written out.

Examples:

    holdshort show req_01jc8zv0q8f5tq2m9d4x7k3n1w
    holdshort show K7 --json`
}

func (c *showCommand) Run(ctx context.Context, out *console) error {
	server, err := c.connect(out)
	if err != nil {
		return err
	}
	req, err := pick(ctx, server, c.Request)
	if err == nil && c.Reveal {
		req, err = server.Reveal(ctx, req.ID)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return out.encode(req)
	}
	_, err = fmt.Fprintln(out, strings.Join(describe(req, time.Now()), "\n")) // made visible already
	return err
}
