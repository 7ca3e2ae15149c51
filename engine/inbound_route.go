package engine

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/reply"
	"github.com/holdshort/holdshort/store"
)

// staleTime is how long after a prompt closed a message that looks like an answer is taken for a late one.
const staleTime = 5 * time.Minute

// route makes a message a decision, a post to a run or a new run, in one transaction under its session's row: together with the mark that it
// was routed, so that it has its effect once.
func (e *Engine) route(ctx context.Context, tenant holdshort.TenantID, row holdshort.Inbound) (got Received, err error) {
	if row.Routed {
		return resultOf(row)
	}
	slot := e.slot()
	defer slot.spare()
	err = e.update(ctx, tenant, func(c *change) error {
		in, err := c.Inbound(row.Channel, row.Address, row.Key)
		if err != nil {
			return err
		}
		if in.Routed {
			got, err = resultOf(in)
			return err
		}
		c.channel = in.Channel
		r := &router{c: c, in: in, slot: slot, got: Received{ID: in.ID, Session: in.SessionID, Outcome: RoutedStored}}
		if err := r.route(); err != nil {
			return err
		}
		got = r.got
		return r.finish()
	}, store.SessionRow(row.SessionID), store.InboundRow(row.Channel, row.Address, row.Key))
	return got, err
}

func resultOf(in holdshort.Inbound) (Received, error) {
	got := Received{ID: in.ID, Session: in.SessionID, Outcome: RoutedStored}
	if len(in.Result) == 0 {
		return got, nil // erased with its session
	}
	err := json.Unmarshal(in.Result, &got)
	return got, err
}

// router is one message on its way.
type router struct {
	c     *change
	t     *chat
	in    holdshort.Inbound
	slot  *slot
	body  letterIn
	actor holdshort.Actor
	text  string
	sent  time.Time
	known []holdshort.Request // what it could be about
	heard int                 // where it is among the session's new messages, from 1
	there *holdshort.Message  // it was appended to the history before it came in
	got   Received
}

func (r *router) finish() error {
	raw, err := json.Marshal(r.got)
	if err != nil {
		return err
	}
	r.in.Routed, r.in.Result, r.in.MessageID, r.in.RunID = true, raw, r.got.Message, r.got.Run
	if r.c.e.config.Redact != nil && r.heard > 0 { // it was needed to read the answer; from here on only the history's version is kept
		text, parts := r.given()
		if r.in.Body, err = json.Marshal(letterIn{Text: text, Parts: parts, ReplyTo: r.body.ReplyTo, SentAt: r.body.SentAt, Actor: r.body.Actor}); err != nil {
			return err
		}
	}
	return r.c.PutInbound(r.in)
}

func (r *router) route() (err error) {
	if len(r.in.Body) == 0 {
		return nil // erased with its session
	}
	if err := json.Unmarshal(r.in.Body, &r.body); err != nil {
		return &holdshort.Error{Code: holdshort.Corrupt, Op: "route " + string(r.in.ID), Message: "the stored message cannot be read", Err: err}
	}
	if r.t, err = r.c.chat(r.in.SessionID); err != nil || r.t == nil {
		return err
	}
	r.prepare()
	if r.there, err = r.appended(); err != nil {
		return err
	}
	if r.t.session.Mode != holdshort.ModeAI { // a person, or the bridge, reads it
		r.hear("text", nil)
		if !r.mayPost() {
			return r.refused(&holdshort.Request{SessionID: r.in.SessionID}, holdshort.Forbidden)
		}
		if r.t.session.Mode == holdshort.ModeTakeover {
			r.got.Outcome = RoutedPerson
		}
		return nil
	}
	if err := r.expirePrompt(); err != nil {
		return err
	}
	if r.known, err = r.c.requestsOf(r.in.SessionID); err != nil {
		return err
	}
	b, err := r.bindSound()
	if err != nil {
		return err
	}
	req := r.request(holdshort.RequestID(b.ID))
	switch b.To {
	case reply.ToRequest:
		return r.answer(req, b.UsedCode)
	case reply.ToClosed:
		return r.late(req)
	case reply.AskAgain:
		return r.askAgain(req)
	case reply.ListCodes:
		return r.listCodes()
	}
	return r.fresh()
}

func (r *router) prepare() {
	s := r.t.session
	r.actor = holdshort.Actor{ID: s.User, Kind: holdshort.Person, Assurance: holdshort.AssuranceChannel}
	if r.body.Actor != nil {
		r.actor = *r.body.Actor
	}
	r.text = r.body.Text
	if r.text == "" {
		r.text = textOf(r.body.Parts)
	}
	r.sent = r.in.At
	if at := r.body.SentAt; !at.IsZero() && at.Before(r.sent) { // nothing is sent after it arrived, whatever a clock says
		r.sent = at
	}
}

// expirePrompt closes the open prompt if its time is over, as the sweeper would a moment later: the message must not find it half open.
func (r *router) expirePrompt() error {
	if r.t.session.Prompt == "" {
		return nil
	}
	req, err := r.c.Request(r.t.session.Prompt)
	switch holdshort.CodeOf(err) {
	case holdshort.NotFound:
		return nil
	case holdshort.Corrupt:
		return r.setAside(req)
	}
	if err != nil || req.Status != holdshort.RequestOpen || req.StatusAt(r.c.now) != holdshort.RequestExpired {
		return err
	}
	run, err := r.c.runOf(req)
	if err != nil {
		return err
	}
	_, err = r.c.expire(req, run, r.room())
	return err
}

// room is the slot, as long as no run has it.
func (r *router) room() *slot {
	if len(r.c.taken) > 0 {
		return nil
	}
	return r.slot
}

// bind finds what the message answers.
func (r *router) bind() (reply.Binding, error) {
	code, _, _ := reply.SplitCode(r.text)
	in := reply.BindInput{Code: code, SentAt: r.sent}
	for _, req := range r.known {
		p := reply.Prompt{ID: string(req.ID), Code: req.Code, ClosedAt: req.ClosedAt}
		switch {
		case req.Status != holdshort.RequestOpen && r.c.now.Sub(req.ClosedAt) > codeLife:
			continue
		case req.Status == holdshort.RequestOpen && req.StatusAt(r.c.now) != holdshort.RequestOpen:
			p.ClosedAt = req.Due()
		}
		if req.Prompt { // others are asked elsewhere
			p.AskedAt = req.AskedAt
		}
		if req.ID == r.t.session.Prompt {
			at, err := r.deliveredAt(req)
			if err != nil {
				return reply.Binding{}, err
			}
			p.DeliveredAt = at
		}
		in.Prompts = append(in.Prompts, p)
	}
	to, other, err := r.repliedTo()
	if err != nil {
		return reply.Binding{}, err
	}
	in.ReplyTo = string(to)
	b := reply.Bind(in)
	if other && b.To == reply.ToRequest && !b.UsedCode { // it replies to something that asks nothing: not to the prompt
		b.To = reply.AskAgain
	}
	return b, nil
}

// deliveredAt is when the channel took the prompt. A session without an address is read by its user: what is stored there is delivered.
func (r *router) deliveredAt(req holdshort.Request) (time.Time, error) {
	if r.t.session.Address == "" {
		return req.AskedAt, nil
	}
	d, err := r.c.Delivery(questionDelivery(req.ID))
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return time.Time{}, nil
	}
	return d.SentAt, err
}

// repliedTo gives the request whose question the channel says was replied to. other: it was something else.
func (r *router) repliedTo() (id holdshort.RequestID, other bool, err error) {
	to := r.body.ReplyTo
	switch {
	case to == "":
		return "", false, nil
	case strings.HasPrefix(to, "req_"):
		return holdshort.RequestID(to), false, nil
	case strings.HasPrefix(to, "msg_"):
		var m holdshort.Message
		if m, err = r.c.Message(holdshort.MessageID(to)); err == nil && m.SessionID == r.in.SessionID {
			id = m.RequestID
		}
	case strings.HasPrefix(to, "dlv_"):
		var d holdshort.Delivery
		if d, err = r.c.Delivery(holdshort.DeliveryID(to)); err == nil && d.SessionID == r.in.SessionID {
			id = d.RequestID
		}
	}
	if holdshort.CodeOf(err) == holdshort.NotFound {
		err = nil
	}
	return id, id == "", err
}

func (r *router) request(id holdshort.RequestID) *holdshort.Request {
	for i := range r.known {
		if r.known[i].ID == id {
			return &r.known[i]
		}
	}
	return nil
}

// named reports whether the sender's id of the message is its external id in the session: elsewhere somebody else may have used it.
func (r *router) named() bool {
	s := r.t.session
	return r.in.Channel == s.Channel && (r.in.Address == s.Address || s.Address == "" && r.in.Address == string(s.ID))
}

// appended gives the message as it stands in the history if somebody appended it there under the same id.
func (r *router) appended() (*holdshort.Message, error) {
	if !r.named() {
		return nil, nil
	}
	m, err := r.c.MessageNamed(r.in.SessionID, r.in.Key)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return nil, nil
	}
	return &m, err
}

// hear stores the message in the session, once: its id is made of the inbound's.
func (r *router) hear(kind string, req *holdshort.Request) {
	parts := r.body.Parts
	if r.body.Text != "" {
		parts = append([]holdshort.Part{{Type: "text", Text: r.body.Text}}, parts...)
	}
	m := holdshort.Message{ID: holdshort.MessageID("msg_" + strings.TrimPrefix(string(r.in.ID), "inb_")), Role: holdshort.RoleUser, Type: kind, Parts: parts, ExternalID: string(r.in.ID),
		ModelVisible: true}
	if r.named() {
		m.ExternalID = r.in.Key
	}
	if r.body.Actor != nil {
		m.Author = r.t.author(*r.body.Actor)
	}
	if r.there != nil {
		m, m.Type = *r.there, kind
	}
	if req != nil {
		m.RequestID, m.RunID = req.ID, req.RunID
		r.got.Request = req.ID
	}
	if r.there != nil {
		r.t.messages, r.t.dirty = append(r.t.messages, m), true
	} else {
		m = r.t.add(m)
	}
	r.got.Message, r.heard = m.ID, len(r.t.messages)
}

// given is the message as its session keeps it.
func (r *router) given() (text string, parts []holdshort.Part) {
	if r.c.e.config.Redact == nil {
		return r.text, r.body.Parts
	}
	parts = r.own().Parts
	if r.body.Text != "" && len(parts) > 0 && parts[0].Type == "text" {
		return parts[0].Text, parts[1:]
	}
	return textOf(parts), parts
}

// kept is what a decision says was written.
func (r *router) kept() string {
	if r.c.e.config.Redact == nil {
		return r.text
	}
	return textOf(r.own().Parts)
}

func textOf(parts []holdshort.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Type == "text" && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// own is the message as the session is going to keep it.
func (r *router) own() *holdshort.Message { return &r.t.messages[r.heard-1] }

// notice answers in the kernel's own name. The model does not see it.
func (r *router) notice(message reply.Message, languages []string, pairs ...string) {
	m := r.t.tell(utterance{kind: "notice", shape: "notice", text: reply.Say(message, languages, pairs...), key: "notice/" + string(r.in.ID)})
	r.got.Replies = append(r.got.Replies, m.ID)
}
