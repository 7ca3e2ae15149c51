package engine

import (
	"github.com/holdshort/holdshort"
)

// ask gives a new request its place in the chat: asked at once, or queued behind the open prompt of its session.
func (c *change) ask(run *holdshort.Run, req *holdshort.Request) error {
	next, err := req.Ask(c.now)
	if err != nil {
		return err
	}
	*req = next
	return c.due(*req)
}

// unask frees the place of a request that closed and asks the next one of its session.
func (c *change) unask(req holdshort.Request) error { return nil }

// say puts a message to the session's user into the outbox.
func (c *change) say(run *holdshort.Run, key string, parts []holdshort.Part) error { return nil }

// chat is a session within one transaction.
type chat struct{}

// closeChats stores the sessions that the transaction touched and asks the next prompts.
func (c *change) closeChats() error { return nil }
