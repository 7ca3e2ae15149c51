package engine

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/holdshort/holdshort"
)

// chat is a session within one transaction. What is said in it is numbered at once and stored at the end: the session's row first, so that of
// two transactions that talk in one session the second is told to look again. Whoever changes a session that others talk in does it through
// its chat (dirty).
type chat struct {
	session    holdshort.Session
	dirty      bool
	freed      bool            // its prompt closed: the next one is to be asked
	left       holdshort.RunID // its active run ended
	gone       bool            // it is being deleted: nothing is said in it any more
	messages   []holdshort.Message
	deliveries []holdshort.Delivery
	c          *change
}

// chat gives the session that a transaction talks in, nil if there is nobody to talk to.
func (c *change) chat(id holdshort.SessionID) (*chat, error) {
	if t, ok := c.chats[id]; ok {
		return t, nil
	}
	s, err := c.Session(id)
	var t *chat
	switch {
	case err == nil && !erased(s):
		t = &chat{c: c, session: s}
	case err != nil && holdshort.CodeOf(err) != holdshort.NotFound:
		return nil, err
	}
	if c.chats == nil {
		c.chats = map[holdshort.SessionID]*chat{}
	}
	c.chats[id] = t
	return t, nil
}

// erased: its row stands so that its id is not given out again, and says nothing any more.
func erased(s holdshort.Session) bool { return !s.EndedAt.IsZero() && s.User == "" && s.Channel == "" }

// free reports whether a prompt may be asked now. One that closed in this very transaction leaves its place to the oldest that waits.
func (t *chat) free(known []holdshort.Request) bool {
	if t.freed || t.gone || t.session.Mode == holdshort.ModeTakeover { // while a person speaks nothing is asked; what is asked already waits
		return false
	}
	prompt := slices.IndexFunc(known, func(r holdshort.Request) bool { return r.ID == t.session.Prompt })
	return t.session.Prompt == "" || prompt >= 0 && known[prompt].Status != holdshort.RequestOpen
}

// utterance is something that a session's user is told.
type utterance struct {
	id       holdshort.MessageID // default: a new one
	author   string              // the person who says it; default: the kernel, or a run
	kind     string              // of the message
	shape    string              // of the delivery: question, reask, notice or message
	text     string
	parts    []holdshort.Part // instead of a text
	visible  bool             // to the model
	run      holdshort.RunID
	request  *holdshort.Request // that it asks: it is dropped when that closes
	key      string             // of the delivery
	delivery holdshort.DeliveryID
}

// tell stores a message of ours and, if the session has an address, puts it into the outbox.
func (t *chat) tell(u utterance) holdshort.Message {
	c := t.c
	if u.parts == nil {
		u.parts = []holdshort.Part{{Type: "text", Text: u.text}}
	}
	m := holdshort.Message{ID: u.id, Role: holdshort.RoleAssistant, Type: u.kind, Parts: u.parts, RunID: u.run, Author: u.author, ModelVisible: u.visible}
	if u.request != nil {
		m.RequestID = u.request.ID
	} else if u.run != "" && t.session.Mode == holdshort.ModeTakeover { // the outbox keeps it back, and who reads the session must not see it
		m.Type, m.ModelVisible = holdshort.TypeSuppressed, false
	}
	m = t.add(m)
	if t.session.Channel == "" || t.session.Address == "" {
		return m // whoever reads the session's messages has it
	}
	if u.delivery == "" {
		u.delivery = holdshort.NewDeliveryID(c.now)
	}
	sent := m
	sent.Parts = u.parts // the history may keep less than the user is told
	body, err := json.Marshal(outbound(u, sent, t.session))
	if err != nil { // strings, numbers and what was JSON already
		panic(err)
	}
	t.deliveries = append(t.deliveries, holdshort.Delivery{ID: u.delivery, Key: u.key, Status: holdshort.DeliveryQueued, Channel: t.session.Channel, Address: t.session.Address,
		SessionID: t.session.ID, RunID: u.run, RequestID: m.RequestID, Seq: m.Seq, Ordered: true, Body: body, DueAt: c.now, CreatedAt: c.now})
	c.ring(topicOutbox)
	return m
}

// add gives a message its place in the session: now, unless it was said before. What the hook takes out is not stored.
func (t *chat) add(m holdshort.Message) holdshort.Message {
	t.session.Seq++
	t.dirty = true
	if m.ID == "" {
		m.ID = holdshort.NewMessageID(t.c.now)
	}
	m.SessionID, m.Seq = t.session.ID, t.session.Seq
	if m.CreatedAt.IsZero() || m.CreatedAt.After(t.c.now) {
		m.CreatedAt = latest(t.c.now, t.session.UpdatedAt) // transactions of two nodes may see the clock in another order than they commit
	}
	m.Parts = t.c.e.redact(t.c.e.hookContext(), t.c.Tenant(), StageStore, m)
	t.messages = append(t.messages, m)
	return m
}

// closeChats asks the next prompts and stores what was said.
func (c *change) closeChats() error {
	for _, id := range slices.Sorted(maps.Keys(c.chats)) {
		t := c.chats[id]
		if t == nil || t.gone {
			continue
		}
		if t.left != "" {
			if err := c.handOver(t); err != nil {
				return err
			}
		}
		if t.freed && t.session.Prompt == "" && t.session.Mode != holdshort.ModeTakeover {
			if err := c.askNext(t); err != nil {
				return err
			}
		}
		if err := t.store(); err != nil {
			return err
		}
	}
	return nil
}

func (t *chat) store() error {
	if !t.dirty {
		return nil
	}
	t.session.UpdatedAt = t.c.now
	if err := t.c.PutSession(t.session); err != nil {
		return err
	}
	t.session.Revision++
	for _, m := range t.messages {
		if err := t.c.PutMessage(m); err != nil {
			return err
		}
	}
	for _, d := range t.deliveries {
		if err := t.c.PutDelivery(d); err != nil {
			return err
		}
	}
	t.dirty, t.messages, t.deliveries = false, nil, nil
	return nil
}
