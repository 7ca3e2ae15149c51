package engine

import (
	"encoding/json"

	"github.com/holdshort/holdshort"
)

// AddEvent is how every event of the engine is written: it wakes the watchers after the commit. The observer hears of committed events from
// the store, which also writes some of its own.
func (c *change) AddEvent(e holdshort.Event) error {
	c.ring(topicEvents)
	return c.Tx.AddEvent(e)
}

// EraseSession also wakes the watchers: the store writes the event of it.
func (c *change) EraseSession(id holdshort.SessionID, actor string) error {
	c.ring(topicEvents)
	return c.Tx.EraseSession(id, actor)
}

// event adds an audit fact about a run, a request, or both, over the channel of this change if there is one.
func (c *change) event(
	name string, run *holdshort.Run, req *holdshort.Request, actor string, code holdshort.Code, data any,
) error {
	return c.eventOver(c.channel, name, run, req, actor, code, data)
}

// eventOver adds an audit fact that happened on a channel.
func (c *change) eventOver(
	channel, name string, run *holdshort.Run, req *holdshort.Request, actor string, code holdshort.Code, data any,
) error {
	e := holdshort.Event{Type: name, Actor: actor, Channel: clip(channel), Code: string(code)}
	if channel == WebhookChannel { // reserved for what is sent to webhooks: those events are not fed to them
		e.Channel = ""
	}
	if req != nil {
		e.Request, e.Session, e.Run, e.Trace = req.ID, req.SessionID, req.RunID, req.TraceID
	}
	if run != nil {
		e.Run, e.Session, e.Trace, e.Flow = run.ID, run.SessionID, run.TraceID, run.Flow
	}
	if data != nil {
		raw, err := json.Marshal(data)
		if err != nil {
			return err
		}
		e.Data = raw
	}
	return c.AddEvent(e)
}

// originOf returns the run that an event refers to by id, nil if there is none. An event is not refused because that run cannot be read. It is
// read once per change; ask for it before the first write, because a read sends the writes before it.
func (c *change) originOf(id holdshort.RunID) *holdshort.Run {
	if id == "" {
		return nil
	}
	if run, ok := c.origins[id]; ok {
		return run
	}
	if c.origins == nil {
		c.origins = map[holdshort.RunID]*holdshort.Run{}
	}
	if run, err := c.Run(id); err == nil {
		c.origins[id] = &run
	} else {
		c.origins[id] = nil
	}
	return c.origins[id]
}

// operationEvent adds an audit fact about an operation of a run.
func (c *change) operationEvent(
	name string, run *holdshort.Run, op holdshort.Operation, actor string, code holdshort.Code,
) error {
	return c.event(name, run, &holdshort.Request{ID: op.RequestID}, actor, code, factOf(op))
}

// operationFact identifies an operation in its events.
type operationFact struct {
	Operation  string `json:"operation"`
	Capability string `json:"capability"`
	Attempt    int    `json:"attempt"`
	Request    string `json:"request,omitempty"`
}

func factOf(op holdshort.Operation) operationFact {
	return operationFact{op.ID, op.Capability, op.Attempt, string(op.RequestID)}
}
