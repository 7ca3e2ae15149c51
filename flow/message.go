package flow

import (
	"context"
	"encoding/json"

	"github.com/holdshort/holdshort"
)

// Say sends a text to the session's user.
func Say(c *Context, name, text string) {
	Send(c, name, holdshort.Message{Parts: []holdshort.Part{{Type: "text", Text: text}}})
}

// Send sends a message to the session's user. Its parts and, if it has one, its id count: that of a text which was streamed is the stream's.
func Send(c *Context, name string, m holdshort.Message) {
	c.perform(KindSay, name, "", func(key string) (holdshort.JournalEntry, error) {
		now := c.x.recorder.Now()
		entry := holdshort.JournalEntry{Key: key, Kind: KindSay, Started: now, Ended: now}
		return entry, c.x.recorder.Say(c.x.ctx, entry, m)
	})
}

// Note leaves a message in the session's history that is sent to nobody: what a model asked for, what a tool gave.
func Note(c *Context, name string, m holdshort.Message) {
	c.perform(KindNote, name, "", func(key string) (holdshort.JournalEntry, error) {
		now := c.x.recorder.Now()
		entry := holdshort.JournalEntry{Key: key, Kind: KindNote, Started: now, Ended: now}
		return entry, c.x.recorder.Note(c.x.ctx, entry, m)
	})
}

// History is what was said in the run's session and a model may know, oldest first, as it is the first time that this is reached. Without a
// session it is empty.
func History(c *Context, name string) ([]holdshort.Message, error) {
	return looked(c, name, func(ctx context.Context) ([]holdshort.Message, error) { return c.x.recorder.History(ctx) })
}

// looked records what the store said. That it is away is no outcome: the run stops here and comes again.
func looked[T any](c *Context, name string, look func(context.Context) (T, error)) (T, error) {
	entry := c.perform(KindStep, name, "", func(key string) (holdshort.JournalEntry, error) {
		value, err := look(c.x.ctx)
		if code := holdshort.CodeOf(err); code == holdshort.NotFound || code == holdshort.Corrupt { // that it will say again
			return c.record(KindStep, key, "", nil, &holdshort.Failure{Code: code, Message: clipTo(err.Error(), 2000), Step: key})
		}
		if err != nil {
			return holdshort.JournalEntry{}, err
		}
		raw, err := encode("outcome of "+key, value)
		if err != nil {
			return holdshort.JournalEntry{}, Fail(holdshort.Failure{Code: holdshort.Invalid, Message: err.Error(), Step: key})
		}
		return c.record(KindStep, key, "", raw, nil)
	})
	return outcome[T](c, entry)
}

// Heard is one message of the session as a model may know it, as it is the first time that this is reached; false if a model may know nothing
// of it.
func Heard(c *Context, name string, id holdshort.MessageID) (m holdshort.Message, ok bool, err error) {
	m, err = looked(c, name, func(ctx context.Context) (holdshort.Message, error) {
		if r, ok := c.x.recorder.(interface {
			Heard(context.Context, holdshort.MessageID) (holdshort.Message, error)
		}); ok {
			return r.Heard(ctx, id)
		}
		history, err := c.x.recorder.History(ctx)
		for _, m := range history {
			if m.ID == id {
				return m, err
			}
		}
		return holdshort.Message{}, err
	})
	return m, err == nil && m.ID == id, err
}

// Poll takes a post as Wait does if one is there, and goes on without it if not. It is recorded only when it took one; before names an effect
// that follows: once that is recorded, this place is past and a post that arrived since is left to the next Poll.
func Poll[T any](c *Context, name, post, before string) (value T, ok bool, err error) {
	key := c.enter(KindWait, name)
	defer c.leave()
	entry, recorded := c.x.recorder.Recorded(key)
	if recorded {
		c.match(entry, KindWait, "")
	} else {
		if _, past := c.x.recorder.Recorded(c.path + before); past {
			return value, false, nil
		}
		taken, err := c.x.recorder.Take(c.x.ctx, key, post)
		if err != nil {
			c.obey(err)
		}
		if taken == nil {
			return value, false, nil
		}
		entry = *taken
	}
	value, err = given[T](entry, "the sender of the post")
	return value, true, err
}

// Stream is where a text goes while a Model makes it. Nothing of it is stored, and nobody may listen.
type Stream interface {
	// Text is the next piece.
	Text(piece string)
	// Restart says that what came so far counts for nothing: the text begins again.
	Restart()
	// Message is the id under which the whole text should be sent.
	Message() holdshort.MessageID
}

type streamKey struct{}

// StreamOf gives the stream of the Model effect whose function got ctx. Without listeners it leads nowhere.
func StreamOf(ctx context.Context) Stream {
	if s, ok := ctx.Value(streamKey{}).(Stream); ok {
		return s
	}
	return deaf{}
}

type deaf struct{}

func (deaf) Text(string)                  {}
func (deaf) Restart()                     {}
func (deaf) Message() holdshort.MessageID { return "" }

// streamed gives the function of a Model its stream, if the recorder has listeners.
func (c *Context) streamed(kind, key string) context.Context {
	s, ok := c.x.recorder.(interface{ Stream(key string) Stream })
	if !ok || kind != KindModel {
		return c.x.ctx
	}
	stream := s.Stream(key)
	if stream == nil {
		return c.x.ctx
	}
	return context.WithValue(c.x.ctx, streamKey{}, stream)
}

// Emit leaves an event of the author's own: flow.emitted, with name as its code. The body is kept apart from the log and can be erased.
func Emit(c *Context, name string, body any) error {
	raw, err := encode("event "+name, body)
	if err != nil {
		return err
	}
	c.perform(KindEmit, name, "", func(key string) (holdshort.JournalEntry, error) {
		now := c.x.recorder.Now()
		entry := holdshort.JournalEntry{Key: key, Kind: KindEmit, Started: now, Ended: now}
		return entry, c.x.recorder.Emit(c.x.ctx, entry, name, json.RawMessage(raw))
	})
	return nil
}

// Lacks holds the run because this node cannot do what the run is about to: it goes on when a node that has the tool takes it up. It does not
// return.
func Lacks(c *Context, tool string) {
	c.begin("Lacks")
	c.obey(Hold(holdshort.ToolUnknown, &holdshort.Error{Code: holdshort.ToolUnknown, Op: "call " + clipTo(tool, 80), Message: "what asked for it no longer has this tool",
		Hint: "give the tool back to it and retry the run, or cancel the run"}))
}

// Recorded reports whether the effect of that name has happened already: what only costs time on replay can be left out then.
func Recorded(c *Context, name string) bool {
	_, ok := c.x.recorder.Recorded(c.path + name)
	return ok
}
