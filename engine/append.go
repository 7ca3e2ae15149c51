package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// AppendInput is a batch of messages that were said elsewhere.
type AppendInput struct {
	Session  holdshort.SessionID
	Actor    holdshort.Actor
	Messages []NewMessage // at most 200
}

// NewMessage is one of them.
type NewMessage struct {
	ExternalID string // the same id again is the same message; default: made of time, sender and content; without a time it is added each time
	Sender     string // becomes a role by holdshort.RoleOf
	Type       string // text or one of the hitl types; default: text
	Text       string
	Parts      []holdshort.Part // besides the text, or instead of it
	Pinned     bool
	At         time.Time // default: now
}

// AppendMessages stores a batch of messages in a session, in the order of their times, each once by its external id: what is there already
// stays as it is. It gives the stored messages in the order of the batch. People add their own words only; what an assistant or the system
// said is for services and operators to add.
func (e *Engine) AppendMessages(ctx context.Context, tenant holdshort.TenantID, in AppendInput) ([]holdshort.Message, error) {
	batch, err := in.checked(e.config.Limits)
	if err != nil {
		return nil, err
	}
	var list []holdshort.Message
	err = e.inSession(ctx, tenant, in.Session, in.Actor, policy.Post, actAppend, func(c *change, t *chat) error {
		list = make([]holdshort.Message, len(batch))
		if err := mayAppend(in.Actor, batch, t.session); err != nil {
			return err
		}
		if !t.session.EndedAt.IsZero() {
			return &holdshort.Error{Code: holdshort.Closed, Op: "append messages", Message: "the session ended", Hint: "append to the current one"}
		}
		added, err := t.append(batch, in.Actor, list)
		if err != nil || added == 0 {
			return err
		}
		return c.event("message.received", nil, &holdshort.Request{SessionID: in.Session}, in.Actor.ID, "appended", map[string]int{"messages": added})
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i] = e.shown(ctx, tenant, list[i])
	}
	return list, nil
}

// checked gives the batch as messages, with the external id of each.
func (in AppendInput) checked(limits Limits) ([]holdshort.Message, error) {
	bad := func(i int, field, message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "append messages", Field: fmt.Sprintf("messages[%d].%s", i, field), Message: message, Hint: hint}
	}
	if n := len(in.Messages); n == 0 || n > store.MaxPage {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "append messages", Field: "messages", Message: fmt.Sprintf("a batch of %d messages", n), Hint: "send 1 to 200 at a time"}
	}
	batch := make([]holdshort.Message, len(in.Messages))
	for i, given := range in.Messages {
		m := holdshort.Message{SessionID: in.Session, Role: holdshort.RoleOf(given.Sender), Type: cmp.Or(given.Type, holdshort.TypeText), Parts: given.Parts, Pinned: given.Pinned,
			ExternalID: given.ExternalID, CreatedAt: given.At, ModelVisible: true}
		if given.Text != "" {
			m.Parts = append([]holdshort.Part{{Type: "text", Text: given.Text}}, given.Parts...)
		}
		size := 0
		for _, p := range m.Parts {
			size += len(p.Text) + len(p.Data) + len(p.URL) + len(p.Name)
		}
		switch {
		case len(m.Parts) == 0:
			return nil, bad(i, "text", "the message is empty", "send a text or parts")
		case size > limits.Text:
			return nil, &holdshort.Error{Code: holdshort.TooLarge, Op: "append messages", Field: fmt.Sprintf("messages[%d]", i), Message: "the message is too long", Hint: "send it in pieces"}
		case keepable(m.Parts) != nil:
			return nil, bad(i, "parts", "a part is neither text nor JSON", "send UTF-8, and data parts as JSON")
		case len(m.ExternalID) > maxName || strings.HasPrefix(m.ExternalID, "inb_"):
			return nil, bad(i, "id", "an external id has at most 200 bytes and is not one of ours", "send the id that it has where it comes from")
		case !slices.Contains(appendable, m.Type):
			return nil, bad(i, "type", "the type is not one that can be appended", "use "+strings.Join(appendable, ", "))
		}
		if m.ExternalID == "" && !m.CreatedAt.IsZero() {
			m.ExternalID = contentID(m)
		}
		batch[i] = m
	}
	return batch, nil
}

var appendable = []string{holdshort.TypeText, holdshort.TypeQuestion, holdshort.TypeReply, holdshort.TypeFeedback, holdshort.TypeDecision}

// contentID tells two messages without ids apart: by the moment, whatever way its time was written, by who spoke and what was said.
func contentID(m holdshort.Message) string {
	raw, _ := json.Marshal([]any{m.CreatedAt.UnixMicro(), m.Role, m.Parts}) // what is not JSON was refused
	sum := sha256.Sum256(raw)
	return "sum_" + hex.EncodeToString(sum[:16])
}

// mayAppend keeps people from putting words into the mouths of others.
func mayAppend(actor holdshort.Actor, batch []holdshort.Message, s holdshort.Session) error {
	trusted := actor.Kind != holdshort.Person || actor.HasRole(policy.Admin) || actor.HasRole(policy.Operator)
	pins, _ := policy.Can(policy.Pin, actor, policy.Resource{Owner: s.User})
	for i, m := range batch {
		if m.Role != holdshort.RoleUser && !trusted || m.Pinned && !pins {
			return &holdshort.Error{Code: holdshort.Forbidden, Op: "append messages", Field: fmt.Sprintf("messages[%d]", i), Message: clip(actor.ID) + " may not add this",
				Hint: "people add what they said themselves; a service or an operator adds the rest"}
		}
	}
	return nil
}

// append adds what is not there yet, oldest first, and fills list in the batch's own order.
func (t *chat) append(batch []holdshort.Message, actor holdshort.Actor, list []holdshort.Message) (added int, err error) {
	order := make([]int, len(batch))
	seen := map[string]int{}
	for i, m := range batch {
		order[i] = i
		if m.ExternalID == "" {
			continue
		}
		if _, twice := seen[m.ExternalID]; twice {
			continue
		}
		seen[m.ExternalID] = i
		switch stands, err := t.c.MessageNamed(t.session.ID, m.ExternalID); holdshort.CodeOf(err) {
		case "":
			list[i] = stands
		case holdshort.NotFound:
		default:
			return 0, err
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return batch[a].CreatedAt.Compare(batch[b].CreatedAt) })
	slices.SortStableFunc(order, func(a, b int) int { // what has no time comes last: it is of now
		return cmp.Compare(boolInt(batch[a].CreatedAt.IsZero()), boolInt(batch[b].CreatedAt.IsZero()))
	})
	for _, i := range order {
		m := batch[i]
		if first, named := seen[m.ExternalID]; list[i].ID != "" || named && first != i {
			continue
		}
		m.Author = t.author(actor)
		late := m.CreatedAt.IsZero() || m.CreatedAt.After(t.session.TakenAt)
		if t.session.Mode == holdshort.ModeTakeover && m.Role == holdshort.RoleAssistant && late && mayHold(actAppend, actor, t.session) != nil {
			m.Type, m.ModelVisible = holdshort.TypeSuppressed, false // the AI is silent there, whichever way it speaks
		}
		list[i] = t.add(m)
		added++
	}
	for i, m := range batch { // the same one twice in the batch
		if m.ExternalID != "" {
			list[i] = list[seen[m.ExternalID]]
		}
	}
	return added, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
