package sqldb

import (
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

type messageBody struct {
	Role         holdshort.Role      `json:"role"`
	Type         string              `json:"type,omitempty"`
	Parts        []holdshort.Part    `json:"parts,omitempty"`
	Run          holdshort.RunID     `json:"run,omitempty"`
	Request      holdshort.RequestID `json:"request,omitempty"`
	ModelVisible bool                `json:"model_visible,omitempty"`
}

var insertMessage, updateMessage = puts("messages", []string{"pinned", "body"}, []string{"session_id", "seq", "external_id", "created_at"})

const messageColumns = `id, revision, session_id, seq, external_id, pinned, created_at, body`

var selectMessage = point(`SELECT ` + messageColumns + ` FROM messages WHERE tenant = ? AND id = ?`)

func (tx *Tx) Message(id holdshort.MessageID) (holdshort.Message, error) {
	return one(tx, selectMessage, "message", string(id), tx.scanMessage)
}

func (tx *Tx) scanMessage(scan func(...any) error) (m holdshort.Message, id string, err error) {
	var pinned, created int64
	var body []byte
	if err = scan(&id, &m.Revision, &m.SessionID, &m.Seq, &m.ExternalID, &pinned, &created, &body); err != nil {
		return m, id, err
	}
	m.ID, m.Pinned, m.CreatedAt = holdshort.MessageID(id), pinned == 1, fromMicros(created)
	var b messageBody
	if err := tx.decode("message", id, body, &b); err != nil {
		return m, id, err
	}
	m.Role, m.Type, m.Parts, m.RunID, m.RequestID, m.ModelVisible = b.Role, b.Type, b.Parts, b.Run, b.Request, b.ModelVisible
	return m, id, nil
}

func (tx *Tx) PutMessage(m holdshort.Message) error {
	id := string(m.ID)
	if err := tx.required("message", id, string(m.SessionID)); err != nil {
		return err
	}
	if err := tx.texts("message", m.ExternalID); err != nil {
		return err
	}
	body, err := tx.encode("message", id, messageBody{Role: m.Role, Type: m.Type, Parts: m.Parts, Run: m.RunID, Request: m.RequestID, ModelVisible: m.ModelVisible})
	if err != nil {
		return err
	}
	return tx.put("message", id, m.Revision, insertMessage, updateMessage, []any{flag(m.Pinned), body},
		[]any{string(m.SessionID), m.Seq, m.ExternalID, micros(m.CreatedAt)})
}

func (tx *Tx) Messages(q store.MessageQuery) (store.Page[holdshort.Message], error) {
	l := list("messages", messageColumns).where("tenant = ?", string(tx.tenant)).where("session_id = ?", string(q.Session))
	if !q.Since.IsZero() {
		l.where("(pinned = 1 OR created_at >= ?)", micros(q.Since))
	}
	position := func(m holdshort.Message) []any { return []any{m.Seq} }
	if !q.Newest {
		l.keyset(q.Cursor, false, "seq")
		return page(tx, l, q.Limit, tx.scanMessage, position)
	}
	l.keyset(q.Cursor, true, "seq")
	out, err := page(tx, l, q.Limit, tx.scanMessage, position)
	slices.Reverse(out.Items)
	return out, err
}
