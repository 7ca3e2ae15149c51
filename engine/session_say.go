package engine

import (
	"github.com/holdshort/holdshort"
)

// say puts what a flow says to the session's user into the outbox, once: under the key of the run's journal.
func (c *change) say(run *holdshort.Run, key string, said holdshort.Message) error {
	if err := c.fitsText("say "+key, said.Parts); err != nil {
		return err
	}
	fact, channel := map[string]string{"step": key}, c.channel
	if run.SessionID != "" {
		t, err := c.chat(run.SessionID)
		if err != nil {
			return err
		}
		if t != nil && !t.gone {
			m := t.tell(utterance{id: said.ID, kind: "text", shape: "message", parts: said.Parts, visible: true, run: run.ID, key: string(run.ID) + "/" + key})
			fact["message"], channel = string(m.ID), t.session.Channel
		}
	}
	return c.eventOver(channel, "response:prepared", run, nil, "system:worker", "", fact)
}

// note leaves what a flow noted in the session's history. Nobody is sent anything.
func (c *change) note(run *holdshort.Run, key string, noted holdshort.Message) error {
	if err := c.fitsText("note "+key, noted.Parts); err != nil || run.SessionID == "" {
		return err
	}
	t, err := c.chat(run.SessionID)
	if err != nil || t == nil || t.gone {
		return err
	}
	t.add(holdshort.Message{ID: noted.ID, Role: noted.Role, Type: noted.Type, Parts: noted.Parts, RunID: run.ID, ModelVisible: noted.ModelVisible})
	return nil
}

func (c *change) fitsText(op string, parts []holdshort.Part) error {
	size := 0
	for _, p := range parts {
		size += len(p.Text) + len(p.Data)
	}
	if size > c.e.config.Limits.Text {
		return &holdshort.Error{Code: holdshort.TooLarge, Op: op, Message: "the message is too long", Hint: "shorten it, or send it in pieces"}
	}
	return nil
}
