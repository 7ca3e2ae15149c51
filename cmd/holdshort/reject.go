package main

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

type rejectCommand struct{ deciding }

func (rejectCommand) Help() string {
	return `Rejects the request: nothing of it runs.

Examples:

    holdshort reject K7 -m "ask for the parcel first"`
}

func (c *rejectCommand) Run(ctx context.Context, out *console) error {
	return c.decide(ctx, out, func(client.Request) (client.Choice, error) { return client.Choice{Action: holdshort.Reject}, nil })
}
