package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/policy"
)

// counterpart is the server as a chat needs it.
type counterpart interface {
	lister
	Session(ctx context.Context, session holdshort.SessionID) (client.Session, error)
	Messages(ctx context.Context, session holdshort.SessionID, f client.FindMessages) (client.Page[holdshort.Message], error)
	Runs(ctx context.Context, f client.FindRuns) (client.Page[client.Run], error)
	Request(ctx context.Context, req holdshort.RequestID) (client.Request, error)
	Send(ctx context.Context, session holdshort.SessionID, in client.Send) (client.Taken, error)
	Decide(ctx context.Context, req holdshort.RequestID, in client.Choice) (client.Decided, error)
	Reply(ctx context.Context, req holdshort.RequestID, text string) (client.Decided, error)
	Reveal(ctx context.Context, req holdshort.RequestID) (client.Request, error)
	CancelRequest(ctx context.Context, req holdshort.RequestID, reason string) (client.Decided, error)
	CancelRun(ctx context.Context, run holdshort.RunID, reason string) (client.Run, error)
	Why(ctx context.Context, run holdshort.RunID) ([]client.Reason, error)
	AwaitRun(ctx context.Context, run holdshort.RunID) (client.Run, error)
}

// happening is one thing that somebody who follows a conversation is told: exactly one of its pointers is set.
type happening struct {
	at      time.Time
	message *holdshort.Message
	opened  *client.Request
	voted   *client.Request
	closed  *client.Request
	missed  bool                // nobody saw it open
	unseen  holdshort.RequestID // something is asked that this person may not see
	ended   *client.Run
}

// conversation follows a session. What it told it does not tell again, whatever breaks in between: messages by their id, pauses by the id of
// the request (a run may pause often), ends by the id of the run.
type conversation struct {
	server counterpart
	id     holdshort.SessionID
	me     client.Me

	session client.Session
	run     *client.Run // the newest
	page    string      // cursor of the last page of messages
	said    map[holdshort.MessageID]bool
	open    map[holdshort.RequestID]client.Request // told and not closed, as it was told last
	asked   map[holdshort.RequestID]bool           // told, open or not
	closed  []string                               // what people called those that are closed
	over    map[holdshort.RunID]bool
	held    map[holdshort.RunID]bool
	spoke   map[holdshort.RunID]bool // a run whose answer was told
	mine    map[string]bool          // ids of messages that were written here
	begun   bool
	now     func() time.Time
	shown   map[holdshort.RequestID]time.Time // when somebody here saw it first
	taken   time.Time                         // when something that was open here was last closed by somebody else
}

func newConversation(server counterpart, id holdshort.SessionID, me client.Me) *conversation {
	return &conversation{server: server, id: id, me: me, said: map[holdshort.MessageID]bool{}, open: map[holdshort.RequestID]client.Request{},
		asked: map[holdshort.RequestID]bool{}, over: map[holdshort.RunID]bool{}, held: map[holdshort.RunID]bool{}, spoke: map[holdshort.RunID]bool{}, mine: map[string]bool{},
		now: time.Now, shown: map[holdshort.RequestID]time.Time{}}
}

// take makes what a look saw what is known, and gives what is to be told, in the order in which it happened.
func (c *conversation) take(g glance) []happening {
	c.session, c.page = g.session, g.page
	news := append(g.pauses, c.heard(g.said, g.open)...)
	news = append(news, c.ends(g.runs)...)
	for _, h := range news {
		c.told(h)
	}
	first := !c.begun
	c.begun = true
	slices.SortStableFunc(news, func(a, b happening) int {
		if isOpen := func(h happening) bool { return first && h.opened != nil }; isOpen(a) != isOpen(b) { // whoever comes back finds what is open last
			return map[bool]int{true: 1, false: -1}[isOpen(a)]
		}
		return a.at.Compare(b.at)
	})
	return news
}

// heard gives the messages that were not told yet and are not told in another form: questions and decisions are pauses, and what was written
// here stands on the screen.
func (c *conversation) heard(all []holdshort.Message, open []client.Request) (news []happening) {
	for _, m := range all {
		if m.Role == holdshort.RoleAssistant && m.RunID != "" && m.Type != noteOfCalls {
			c.spoke[m.RunID] = true
		}
		isOpen := func(r client.Request) bool { return r.ID == m.RequestID }
		switch {
		case c.said[m.ID]:
		case m.Type == holdshort.TypeQuestion && (c.begun || slices.ContainsFunc(open, isOpen)), m.Type == holdshort.TypeReply && c.begun:
			c.said[m.ID] = true
		case m.Type == holdshort.TypeDecision, m.Type == holdshort.TypeFeedback:
			c.said[m.ID] = true
		case m.Type == noteOfCalls, m.Role == holdshort.RoleSystem, m.Role == holdshort.RoleTool && m.Type != noteOfResults:
			c.said[m.ID] = true
		case c.mine[m.ExternalID], written(m) == "":
			c.said[m.ID] = true
		default:
			news = append(news, happening{at: m.CreatedAt, message: &m})
		}
	}
	return news
}

// ends gives the runs that are over. Those of before somebody looked for the first time are history.
func (c *conversation) ends(runs []client.Run) (news []happening) {
	if len(runs) > 0 {
		c.run = &runs[0]
	}
	for _, run := range runs {
		switch ended := run.Status.Ended(); {
		case ended && c.over[run.ID], !ended && (run.Held == nil || c.held[run.ID]):
			continue
		case ended && !c.begun:
			c.over[run.ID] = true
			continue
		}
		news = append(news, happening{at: run.UpdatedAt, ended: &run})
	}
	return news
}

func (c *conversation) told(h happening) {
	switch {
	case h.message != nil:
		c.said[h.message.ID] = true
	case h.opened != nil:
		c.open[h.opened.ID], c.asked[h.opened.ID], c.shown[h.opened.ID] = *h.opened, true, c.now()
	case h.voted != nil:
		c.open[h.voted.ID] = *h.voted
	case h.closed != nil:
		delete(c.open, h.closed.ID)
		c.asked[h.closed.ID] = true
		c.closed = append(c.closed, handle(*h.closed), string(h.closed.ID))
		if d := h.closed.Decision; d == nil || !d.Actor.Same(c.me.Actor) {
			c.taken = c.now()
		}
	case h.unseen != "":
		c.asked[h.unseen] = true
	case h.ended != nil && h.ended.Status.Ended():
		c.over[h.ended.ID] = true
	case h.ended != nil:
		c.held[h.ended.ID] = true
	}
}

// waiting are the open pauses that were told, oldest first.
func (c *conversation) waiting() []client.Request {
	list := make([]client.Request, 0, len(c.open))
	for _, req := range c.open {
		list = append(list, req)
	}
	slices.SortFunc(list, func(a, b client.Request) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// may reports whether this person may decide a request, as far as can be told from here. The server has the last word.
func (c *conversation) may(req client.Request) bool { return c.whyNot(req) == "" }

// whyNot says why this person may not decide a request, "" if they may.
func (c *conversation) whyNot(req client.Request) string {
	owner := cmp.Or(c.session.User, req.Requester.User)
	ok, rule := policy.Can(policy.Decide, c.me.Actor, policy.Resource{Audience: req.Audience, Owner: owner, Requester: req.Requester})
	switch {
	case slices.ContainsFunc(req.Votes, func(v client.Decision) bool { return v.Actor.Same(c.me.Actor) }):
		return "you have said yes already"
	case !ok && req.Audience.Includes(c.me.Actor, owner) && rule == "requester":
		return "you asked for it, so your own word does not count"
	case !ok:
		return "you may write on"
	case !holdshort.InScope(c.me.Scopes, holdshort.ScopeDecide):
		return "the key that you use does not decide"
	}
	return ""
}

// busy reports whether a run works on an answer right now.
func (c *conversation) busy() bool {
	return c.run != nil && !c.run.Status.Ended() && c.run.Held == nil && c.run.Status != holdshort.RunWaiting
}

// written is the text of a message.
func written(m holdshort.Message) string {
	text := ""
	for _, p := range m.Parts {
		switch {
		case p.Type == "text" && p.Text != "":
			text += or(text, "\n") + p.Text
		case p.Type == "data" && p.Name != "metadata":
			text += or(text, "\n") + visibleJSON(p.Data)
		case p.Type == "file":
			text += or(text, "\n") + "[file " + cmp.Or(p.Name, p.URL) + "]"
		}
	}
	return text
}

// or is between if there is something before it.
func or(before, between string) string {
	if before == "" {
		return ""
	}
	return between
}

// A line that names no request counts for one that somebody could read before they began to write, and not while another one that they may
// have meant was just closed by somebody else: the kernel has the same rule for replies in chat.
const (
	readingTime = time.Second
	quietTime   = 10 * time.Second
)

// hasty reports whether a line that was begun at a moment may have been meant for something else than a request.
func (c *conversation) hasty(req client.Request, begun time.Time) bool {
	return c.shown[req.ID].Add(readingTime).After(begun) || c.justTaken(req)
}

// justTaken reports whether somebody else closed something here a moment ago.
func (c *conversation) justTaken(client.Request) bool {
	return !c.taken.IsZero() && c.now().Sub(c.taken) < quietTime
}

// reader reads the next line by what is open now.
func (c *conversation) reader() reader {
	var hints []string
	if c.session.Language != "" {
		hints = append(hints, c.session.Language)
	}
	return reader{open: c.waiting(), closed: c.closed, prompt: c.session.Prompt, may: c.may, hints: hints, hasty: c.justTaken}
}

// deed prepares a line for sending.
func (c *conversation) deed(l line) *deed {
	d := &deed{line: l, key: client.NewKey()}
	if l.wish == wishSay {
		c.mine[d.key] = true
	}
	if c.run != nil && !c.run.Status.Ended() {
		d.run = c.run.ID
	}
	return d
}

// reveals reports whether looking at a request once more shows more of it.
func (c *conversation) reveals(req client.Request) bool {
	return c.may(req) && redacts(req)
}

// shownAtFirst is how many messages of before are shown.
const shownAtFirst = 20

// lastOf leaves out what is long ago when somebody comes back.
func lastOf(news []happening, first bool) []happening {
	if !first {
		return news
	}
	messages := 0
	for i := len(news) - 1; i >= 0; i-- {
		if news[i].opened == nil {
			messages++
		}
		if messages <= shownAtFirst {
			continue
		}
		if news[i].opened == nil {
			news = slices.Delete(news, i, i+1)
		}
	}
	return news
}
