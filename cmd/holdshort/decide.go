package main

import (
	"context"
	"encoding/json"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// deciding is what the commands that decide have in common.
type deciding struct {
	requestArg
	Message     string `short:"m" help:"What to say about it."`
	Fingerprint string `placeholder:"HEX" help:"Decide only if the request still has this fingerprint. Default: the one that it has now."`
	clientFlags
	jsonFlag
}

// decide looks the request up, lets fill say what is decided, and sends it bound to what was looked at.
func (d deciding) decide(ctx context.Context, out *console, fill func(client.Request) (client.Choice, error)) error {
	server, err := d.connect(out)
	if err != nil {
		return err
	}
	req, err := pick(ctx, server, d.Request)
	if err != nil {
		return err
	}
	choice, err := fill(req)
	if err != nil {
		return err
	}
	choice.Message, choice.Fingerprint = d.Message, d.Fingerprint
	if choice.Fingerprint == "" {
		choice.Fingerprint = req.Fingerprint
	}
	decided, err := server.Decide(ctx, req.ID, choice)
	if err != nil {
		return err
	}
	return d.report(out, decided)
}

func (d deciding) report(out *console, decided client.Decided) error {
	if d.JSON {
		return out.encode(decided)
	}
	req := decided.Request
	switch {
	case req.Status == holdshort.RequestOpen:
		out.printf("%s is still open: %d of %d approvals\n", string(req.ID), len(req.Votes), req.Audience.Needed())
	case req.Status == holdshort.RequestCanceled:
		out.printf("%s is canceled\n", string(req.ID))
	default:
		out.printf("%s is %s\n", string(req.ID), string(req.Outcome))
	}
	if decided.Next != nil {
		out.printf("asked instead: %s\n", string(decided.Next.ID))
	}
	if decided.Run != nil {
		out.printf("%s is %s\n", string(decided.Run.ID), string(decided.Run.Status))
	}
	return nil
}

// text is a JSON string.
func text(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return raw
}
