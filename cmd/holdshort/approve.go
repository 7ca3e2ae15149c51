package main

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

type approveCommand struct{ deciding }

func (approveCommand) Help() string {
	return `Approves the request as it stands now, all of its calls. Look at it first with holdshort show. One decision wins: if somebody was faster, the command ends with 3 and says what stands.

Examples:

    holdshort approve K7
    holdshort approve req_01jc8zv0q8f5tq2m9d4x7k3n1w -m "checked with the carrier"`
}

func (c *approveCommand) Run(ctx context.Context, out *console) error {
	return c.decide(ctx, out, func(client.Request) (client.Choice, error) { return client.Choice{Action: holdshort.Approve}, nil })
}
