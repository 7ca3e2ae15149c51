package inbox

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// chatChannel is that of conversations on the playground: their user reads them there, nothing is sent.
const chatChannel = "playground"

func (in *Inbox) chatRoutes() {
	in.show("/playground", policy.View, (*visit).servePlayground)
	in.show("/playground/{session}", policy.View, (*visit).serveChat)
	in.act("/playground", policy.Start, (*visit).openChat)
	in.act("/playground/{session}/say", policy.Post, (*visit).say)
}

// chatView is the playground: a choice of agents, or a conversation with one.
type chatView struct {
	Agents  []Agent
	Agent   *Agent // that the conversation is with
	Fresh   string // id of the conversation that a form on this page begins
	Message string // id of the message that the form sends
	Log     chatLog
	Recent  []sessionRow
	Waiting []row // some of what waits for whoever looks
	Gone    bool  // there was a conversation, and it is no more
	Own     bool  // whoever looks is its user
	Typed   string
}

// servePlayground lets people choose whom to talk to.
func (v *visit) servePlayground() error {
	out := chatView{Agents: v.options.Agents, Fresh: string(holdshort.NewSessionID(v.now)), Message: newOnce()}
	found, err := v.engine.SessionsFor(v.ctx, v.tenant(), engine.SessionQuery{User: v.actor().Who(), Channel: chatChannel, Limit: 8}, v.actor())
	if err != nil {
		return err
	}
	for _, s := range found.Items {
		if s.EndedAt.IsZero() {
			out.Recent = append(out.Recent, rowOfSession(s))
		}
	}
	desk, err := v.engine.Desk(v.ctx, v.tenant(), engine.DeskQuery{Limit: waitingShown}, v.actor())
	if err != nil {
		return err
	}
	for _, req := range desk.Items {
		out.Waiting = append(out.Waiting, rowOf(req, v.now))
	}
	return v.page(200, "playground", "Playground", out)
}

// waitingShown is how many requests stand beside the choice of agents.
const waitingShown = 6

// openChat begins a conversation. Its id was made when the form was drawn: sent twice it begins one.
func (v *visit) openChat() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	name := form.Get("agent")
	if !slices.ContainsFunc(v.options.Agents, func(a Agent) bool { return a.Name == name }) {
		return &holdshort.Error{Code: holdshort.NotFound, Field: "agent", Message: "there is no such agent", Hint: "choose one from the list"}
	}
	user := v.actor().Who()
	if ok, _ := policy.Can(policy.Start, v.actor(), policy.Resource{Owner: user}); !ok {
		return &holdshort.Error{Code: holdshort.Forbidden, Message: "you may not start anything", Hint: "ask an administrator"}
	}
	in := engine.OpenSessionInput{ID: holdshort.SessionID(form.Get("session")), User: user, Channel: chatChannel, Agent: name, Language: v.prefs.Lang}
	if in.ID == "" {
		in.ID = holdshort.NewSessionID(v.now)
	}
	s, err := v.engine.OpenSession(v.ctx, v.tenant(), in)
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(form.Get("text")); text != "" {
		if err := v.receive(s, form.Get("message"), text, ""); err != nil {
			return err
		}
	}
	return v.redirect("/playground/" + url.PathEscape(string(s.ID)))
}

// serveChat shows a conversation. One that is gone says so, and the browser forgets it.
func (v *visit) serveChat() error {
	out, err := v.chatView()
	if err != nil {
		return err
	}
	status := 200
	if out.Gone {
		status = 404
	}
	if v.partial() {
		return v.part(status, "chat_main", out)
	}
	return v.page(status, "playground", "Playground", out)
}

func (v *visit) chatView() (chatView, error) {
	out := chatView{Agents: v.options.Agents, Fresh: string(holdshort.NewSessionID(v.now)), Message: newOnce()}
	s, err := v.engine.SessionFor(v.ctx, v.tenant(), holdshort.SessionID(v.r.PathValue("session")), v.actor())
	if code := holdshort.CodeOf(err); code == holdshort.NotFound || code == holdshort.Invalid {
		out.Gone = true
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Own = s.User == v.actor().Who()
	for i, a := range v.options.Agents {
		if a.Name == s.Agent {
			out.Agent = &v.options.Agents[i]
		}
	}
	if out.Agent == nil {
		out.Agent = &Agent{Name: rowOfSession(s.Session).Agent}
	}
	out.Log, err = v.chatLog(s, false)
	return out, err
}

// say takes a message of the conversation's user. The id of the message makes it one, however often it is sent.
func (v *visit) say() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	s, err := v.engine.SessionFor(v.ctx, v.tenant(), holdshort.SessionID(v.r.PathValue("session")), v.actor())
	if err != nil {
		return err
	}
	text := strings.TrimSpace(form.Get("text"))
	if text == "" {
		return &holdshort.Error{Code: holdshort.Invalid, Field: "text", Message: "there is nothing to send", Hint: "write something first"}
	}
	if err := v.receive(s.Session, form.Get("message"), text, form.Get("reply_to")); err != nil {
		return err
	}
	if !v.partial() {
		return v.redirect("/playground/" + url.PathEscape(string(s.ID)))
	}
	out, err := v.chatView()
	if err != nil {
		return err
	}
	return v.part(200, "chat_main", out)
}

// receive hands a message to the engine as its API does: whoever may not decide cannot do it by a message either.
func (v *visit) receive(s holdshort.Session, id, text, replyTo string) error {
	if id == "" || len(id) > 100 || hasOdd(id) {
		return &holdshort.Error{Code: holdshort.Invalid, Field: "id", Message: "the form is not whole", Hint: "open the page again"}
	}
	if ok, _ := policy.Can(policy.Post, v.actor(), policy.Resource{Owner: s.User}); !ok {
		v.engine.Denied(v.ctx, v.tenant(), v.actor(), string(policy.Post))
		return &holdshort.Error{Code: holdshort.Forbidden, Message: "this conversation is somebody else's", Hint: "begin your own in the playground"}
	}
	in := engine.Inbound{Session: s.ID, ID: "page-" + id, Text: text, ReplyTo: replyTo, SentAt: time.Time{}, Actor: v.actor()}
	if !v.who.Allows(policy.Decide) {
		raises := slices.Contains(v.who.Scopes, holdshort.ScopeRaise) || slices.Contains(v.who.Scopes, holdshort.ScopeClaim)
		if in.NoDecision = raises || v.actor().Who() != s.User; !in.NoDecision {
			in.Actor.Roles = nil
		}
	}
	_, err := v.engine.Receive(v.ctx, v.tenant(), in)
	return err
}
