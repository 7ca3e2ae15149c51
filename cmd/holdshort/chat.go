package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

type chatCommand struct {
	Session  string        `placeholder:"ID" help:"Go on with this conversation. Default: a new one."`
	Agent    string        `placeholder:"NAME" xor:"who" help:"Whom to talk to. Default: the only one that there is."`
	Flow     string        `placeholder:"NAME" xor:"who" help:"Talk to a flow instead of an agent."`
	Language string        `placeholder:"TAG" help:"Language of the conversation, like en or he."`
	Wait     time.Duration `placeholder:"TIME" help:"When the input ends and something is open: wait so long for others to decide it."`
	clientFlags
	jsonFlag
}

func (chatCommand) Help() string {
	return `Talk to an agent. Its answers appear as they are made. When it holds short, a card shows exactly what will happen, who may decide it and until when; if that is you, write yes or no, or edit a field. If it is somebody else, you may write on. Ctrl-C leaves: what is open stays open, and --session picks it up again.

Piped, or with --json, it reads lines and prints what comes of each; it ends with 1 if the run failed and with 3 if something was refused.

Examples:

    holdshort chat
    holdshort chat --agent desk
    holdshort chat --session ses_01jc8zv0q8f5tq2m9d4x7k3n1w
    echo "where is order 79?" | holdshort chat --agent desk`
}

func (c *chatCommand) Run(ctx context.Context, out *console) error {
	if c.Session != "" && (c.Agent != "" || c.Flow != "") {
		return &usageError{Message: "a conversation that exists has its agent already", Hint: "leave --agent out, or --session"}
	}
	server, err := c.connect(out)
	if err != nil {
		return err
	}
	me, err := server.Me(ctx)
	if err != nil {
		return err
	}
	session, err := c.open(ctx, server)
	if err != nil {
		return err
	}
	talk := newConversation(server, session.ID, me)
	talk.session = session
	tell := newTeller(talk, session, out.colour)
	if !c.JSON && onTerminal(os.Stdin) && onTerminal(os.Stdout) {
		return c.live(ctx, out, server, talk, tell)
	}
	plain := &plainChat{out: out, server: server, c: talk, t: tell, json: c.JSON, patience: time.Minute}
	return plain.run(ctx, os.Stdin, c.Wait)
}

// open gives the conversation: the one that is named, or a new one.
func (c *chatCommand) open(ctx context.Context, server *client.Client) (client.Session, error) {
	if c.Session != "" {
		session, err := server.Session(ctx, holdshort.SessionID(c.Session))
		if holdshort.CodeOf(err) == holdshort.NotFound {
			return session, &holdshort.Error{Code: holdshort.NotFound, Message: "there is no conversation " + c.Session + " that you may see", Hint: "leave --session out to begin a new one"}
		}
		return session, err
	}
	in := client.OpenSession{Agent: c.Agent, Flow: c.Flow, Language: c.Language}
	if in.Agent == "" && in.Flow == "" {
		name, err := onlyAgent(ctx, server)
		if err != nil {
			return client.Session{}, err
		}
		in.Agent = name
	}
	return server.OpenSession(ctx, in)
}

// onlyAgent is the agent that a server has, if there is no doubt which.
func onlyAgent(ctx context.Context, server *client.Client) (string, error) {
	agents, err := server.Agents(ctx)
	if err != nil {
		return "", err
	}
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = a.Name
	}
	switch len(names) {
	case 0:
		return "", &holdshort.Error{Code: holdshort.NotFound, Message: "this server has no agents", Hint: "declare one in its configuration, try holdshort demo, or talk to a flow with --flow"}
	case 1:
		return names[0], nil
	}
	return "", &usageError{Message: "several agents are there: " + strings.Join(names, ", "), Hint: "name one with --agent"}
}
