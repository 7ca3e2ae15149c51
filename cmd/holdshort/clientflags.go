package main

import (
	"context"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// clientFlags say which server a command speaks to, and as whom.
type clientFlags struct {
	URL   string `env:"HOLDSHORT_URL" placeholder:"URL" help:"Address of the server. Default: the one that was started on this machine."`
	Token string `env:"HOLDSHORT_TOKEN" placeholder:"TOKEN" help:"API key or bearer token; better in the environment, where nobody else sees it."`
}

// connect makes a client. It says what to do when there is no server to speak to.
func (f clientFlags) connect(out *console) (*client.Client, error) {
	known, err := readProfile()
	if err != nil {
		return nil, err
	}
	address, token := f.URL, f.Token
	if address == "" {
		address = known.URL
	}
	if token == "" && strings.TrimRight(address, "/") == strings.TrimRight(known.URL, "/") {
		token = known.Token // of no other server
	}
	if address == "" {
		return nil, &usageError{Message: "no server is known here", Hint: "start one with holdshort demo or holdshort serve, or name one with --url or HOLDSHORT_URL"}
	}
	if token != "" {
		out.secrets = append(out.secrets, token)
	}
	return client.New(address, token, client.Options{Agent: "holdshort-cli"})
}

// pick finds a request by its id, its short code, or the end of its id among those that are open.
func pick(ctx context.Context, c *client.Client, name string) (client.Request, error) {
	if strings.HasPrefix(name, "req_") {
		return c.Request(ctx, holdshort.RequestID(name))
	}
	var found []client.Request
	for cursor := ""; ; {
		page, err := c.Requests(ctx, client.Find{Status: holdshort.RequestOpen, Limit: 200, Cursor: cursor})
		if err != nil {
			return client.Request{}, err
		}
		for _, req := range page.Items {
			if strings.EqualFold(req.Code, name) && name != "" || len(name) >= 4 && strings.HasSuffix(string(req.ID), strings.ToLower(name)) {
				found = append(found, req)
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	switch len(found) {
	case 0:
		return client.Request{}, &holdshort.Error{Code: holdshort.NotFound, Message: "no open request is called " + name, Hint: "holdshort inbox lists them; a closed one needs its whole id"}
	case 1:
		return c.Request(ctx, found[0].ID)
	}
	return client.Request{}, &usageError{Message: name + " can be one of several", Hint: "write the whole id: " + string(found[0].ID) + " or " + string(found[1].ID)}
}
