package holdshorttest

import (
	"context"
	"fmt"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// Chat gives a user a session in which an agent answers; see Person.Say.
func (k *Kit) Chat(user, agent string) holdshort.SessionID {
	k.t.Helper()
	k.clock.nudge()
	s, err := k.engine.OpenSession(context.Background(), k.Tenant(), engine.OpenSessionInput{User: user, Agent: agent, Channel: k.options.Channels[0], Address: user + "/" + agent})
	k.must("open a session of "+user+" with "+agent, err)
	k.sessions = append(k.sessions, s.ID)
	return s.ID
}

// Say has the person write into a session, and returns when what it set going waits or has ended: the run that took it, if one did.
func (p *Person) Say(session holdshort.SessionID, text string) holdshort.RunID {
	k := p.k
	k.t.Helper()
	k.posts++
	k.Settle() // people answer what they have read
	k.clock.nudge()
	got, err := k.engine.Receive(context.Background(), k.Tenant(), engine.Inbound{Session: session, ID: fmt.Sprintf("said-%06d", k.posts), Text: text, Actor: p.actor})
	k.must(fmt.Sprintf("say %q", text), err)
	k.settle()
	return got.Run
}

// Messages are what stands in a session, oldest first.
func (k *Kit) Messages(session holdshort.SessionID) (all []holdshort.Message) {
	k.t.Helper()
	err := k.engine.EachMessage(context.Background(), k.Tenant(), engine.HistoryQuery{Session: session, Window: engine.Whole}, func(m holdshort.Message) error {
		all = append(all, m)
		return nil
	})
	k.must("read the messages of "+string(session), err)
	return all
}
