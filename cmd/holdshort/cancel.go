package main

import "context"

type cancelCommand struct {
	requestArg
	Reason string `short:"m" help:"Why nobody needs it any more."`
	clientFlags
	jsonFlag
}

func (cancelCommand) Help() string {
	return `Calls a request off without deciding it. A run that waits for it is canceled too, unless its flow wants to hear of it.

Examples:

    holdshort cancel K7 -m "the customer withdrew it"`
}

func (c *cancelCommand) Run(ctx context.Context, out *console) error {
	server, err := c.connect(out)
	if err != nil {
		return err
	}
	req, err := pick(ctx, server, c.Request)
	if err != nil {
		return err
	}
	decided, err := server.CancelRequest(ctx, req.ID, c.Reason)
	if err != nil {
		return err
	}
	return deciding{jsonFlag: c.jsonFlag}.report(out, decided)
}
