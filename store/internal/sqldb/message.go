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
	Author       string              `json:"author,omitempty"`
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
	m.Author = b.Author
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
	body, err := tx.encode("message", id, messageBody{Role: m.Role, Type: m.Type, Parts: m.Parts, Run: m.RunID, Request: m.RequestID, Author: m.Author, ModelVisible: m.ModelVisible})
	if err != nil {
		return err
	}
	return tx.put("message", id, m.Revision, insertMessage, updateMessage, []any{flag(m.Pinned), body},
		[]any{string(m.SessionID), m.Seq, m.ExternalID, micros(m.CreatedAt)})
}

var selectMessageNamed = point(`SELECT ` + messageColumns + ` FROM messages WHERE tenant = ? AND session_id = ? AND external_id = ? AND external_id <> ''`)

func (tx *Tx) MessageNamed(session holdshort.SessionID, externalID string) (holdshort.Message, error) {
	return first(tx, selectMessageNamed, []any{string(tx.tenant), string(session), externalID}, "message", externalID, tx.scanMessage)
}

// Messages reads a window as two lists, each by an index of its own: what is pinned and older than the window, and the window itself.
func (tx *Tx) Messages(q store.MessageQuery) (store.Page[holdshort.Message], error) {
	parts := []*listing{tx.messageList(q)}
	if q.Pinned {
		parts[0].where("pinned = 1")
	}
	if !q.Since.IsZero() {
		if q.Pinned {
			parts[0].where("created_at >= ?", micros(q.Since))
		} else {
			older := tx.messageList(q).where("pinned = 1").where("created_at < ?", micros(q.Since))
			parts = []*listing{older, parts[0].where("created_at >= ?", micros(q.Since))}
		}
	}
	if q.Newest {
		slices.Reverse(parts)
	}
	out, err := pageOf(tx, parts, q.Limit, tx.scanMessage, messagePosition)
	if q.Newest {
		slices.Reverse(out.Items)
	}
	return out, err
}

func messagePosition(m holdshort.Message) []any { return []any{micros(m.CreatedAt), m.Seq} }

func (tx *Tx) messageList(q store.MessageQuery) *listing {
	l := list("messages", messageColumns).where("tenant = ?", string(tx.tenant)).where("session_id = ?", string(q.Session))
	l.keyset(q.Cursor, q.Newest, "created_at", "seq")
	return l
}

// pageOf fills one page from lists that follow one another in the same order.
func pageOf[T any](tx *Tx, parts []*listing, limit int, scanRow func(func(...any) error) (T, string, error), position func(T) []any) (out store.Page[T], err error) {
	if limit <= 0 || limit > store.MaxPage {
		limit = store.MaxPage
	}
	for _, l := range parts {
		room := limit - len(out.Items) - len(out.Corrupt)
		got, err := page(tx, l, max(room, 1), scanRow, position)
		if err != nil {
			return out, err
		}
		if room == 0 {
			if len(got.Items)+len(got.Corrupt) > 0 && len(out.Items) > 0 { // the page is full, and something follows
				out.Next = encodeCursor(l.name, position(out.Items[len(out.Items)-1]))
			}
			return out, nil
		}
		out.Items, out.Corrupt, out.Next = append(out.Items, got.Items...), append(out.Corrupt, got.Corrupt...), got.Next
		if out.Next != "" {
			return out, nil
		}
	}
	return out, nil
}
