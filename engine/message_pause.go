package engine

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
)

// noteDecision leaves what was decided in the session's history, in the transaction of the decision and so once: the answer as a reply, any
// other decision as such, and what was said with it. One that was read from a message of the session stands there already, as that reply.
func (c *change) noteDecision(req holdshort.Request, d holdshort.Decision, replied bool) error {
	t, err := c.listener(req)
	if err != nil || t == nil {
		return err
	}
	t.feedback(req, d)
	if replied {
		return nil
	}
	m := holdshort.Message{Role: holdshort.RoleUser, Type: holdshort.TypeDecision, Author: t.author(d.Actor), RunID: req.RunID, RequestID: req.ID}
	if part, ok := answerPart(req, d); ok {
		m.Type, m.Parts, m.ModelVisible = holdshort.TypeReply, []holdshort.Part{part}, true
		t.add(m)
		return nil
	}
	raw, err := json.Marshal(struct {
		Action  holdshort.Verb      `json:"action"`
		Request holdshort.RequestID `json:"request_id"`
	}{d.Action, req.ID})
	if err != nil {
		return err
	}
	m.Parts, m.ModelVisible = []holdshort.Part{{Type: "text", Text: string(raw)}}, d.Action == holdshort.Approve || d.Action == holdshort.Reject
	t.add(m)
	return nil
}

// answerPart is an answer that was given by id: as it was written, or as it would have been.
func answerPart(req holdshort.Request, d holdshort.Decision) (holdshort.Part, bool) {
	if d.Raw != "" {
		return holdshort.Part{Type: "text", Text: d.Raw}, true
	}
	switch d.Action {
	case holdshort.Answer:
		var text string
		if json.Unmarshal(d.Value, &text) == nil {
			return holdshort.Part{Type: "text", Text: text}, true
		}
		return holdshort.Part{Type: "data", Data: d.Value}, true
	case holdshort.Select:
		var labels []string
		for _, o := range req.Options {
			if slices.Contains(d.OptionIDs, o.ID) {
				labels = append(labels, cmp.Or(o.Label, o.ID))
			}
		}
		return holdshort.Part{Type: "text", Text: strings.Join(labels, ", ")}, true
	}
	return holdshort.Part{}, false
}

// noteVote keeps what was said with an approval that is one of several.
func (c *change) noteVote(req holdshort.Request, d holdshort.Decision) error {
	t, err := c.listener(req)
	if err == nil && t != nil {
		t.feedback(req, d)
	}
	return err
}

// listener is the session of a request, nil if there is none in which anything can be noted.
func (c *change) listener(req holdshort.Request) (*chat, error) {
	if req.SessionID == "" {
		return nil, nil
	}
	t, err := c.chat(req.SessionID)
	if err != nil || t == nil || t.gone {
		return nil, err
	}
	return t, nil
}

// feedback is what somebody said with a decision, about the whole or about one call.
func (t *chat) feedback(req holdshort.Request, d holdshort.Decision) {
	var texts []string
	if strings.TrimSpace(d.Message) != "" {
		texts = append(texts, d.Message)
	}
	for _, call := range d.Calls {
		// A response is the call's result, and the whole's words stand in each call.
		if call.Action != holdshort.Respond && strings.TrimSpace(call.Message) != "" && call.Message != d.Message {
			texts = append(texts, call.Message)
		}
	}
	for _, text := range texts {
		t.add(holdshort.Message{Role: holdshort.RoleUser, Type: holdshort.TypeFeedback, Author: t.author(d.Actor), RunID: req.RunID, RequestID: req.ID,
			Parts: []holdshort.Part{{Type: "text", Text: text}}, ModelVisible: true})
	}
}

// author names an actor who is not the session's user.
func (t *chat) author(actor holdshort.Actor) string {
	if actor.ID == t.session.User || actor.ForUser == t.session.User {
		return ""
	}
	return actor.ID
}
