package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// mostPage is how many messages are read at once, mostRuns how many runs may end between two looks.
const (
	mostPage = 100
	mostRuns = 20
)

// glance is what one look at the server gave.
type glance struct {
	session client.Session
	runs    []client.Run
	open    []client.Request
	pauses  []happening
	said    []holdshort.Message
	page    string
}

// look reads where things stand. It changes nothing: what it saw counts once take has it. Runs are read first and messages last, so that what
// a run has said is there when it is over.
func (c *conversation) look(ctx context.Context) (g glance, err error) {
	if g.session, err = c.server.Session(ctx, c.id); err != nil {
		return g, err
	}
	runs, err := c.server.Runs(ctx, client.FindRuns{Session: c.id, Limit: mostRuns})
	if err != nil {
		return g, err
	}
	g.runs = runs.Items
	if g.open, err = gather(ctx, c.server, client.Find{Status: holdshort.RequestOpen, Session: c.id}, 200); err != nil {
		return g, err
	}
	if g.pauses, err = c.pauses(ctx, g.session, g.open); err != nil {
		return g, err
	}
	if g.said, g.page, err = c.messages(ctx); err != nil {
		return g, err
	}
	missed, err := c.missed(ctx, g.said, g.open)
	g.pauses = append(g.pauses, missed...)
	return g, err
}

// pauses gives what opened, was voted on and closed.
func (c *conversation) pauses(ctx context.Context, session client.Session, open []client.Request) (news []happening, err error) {
	slices.SortFunc(open, func(a, b client.Request) int { return cmp.Compare(a.ID, b.ID) }) // ids are in the order of time
	now := map[holdshort.RequestID]bool{}
	for _, req := range open {
		now[req.ID] = true
		before, known := c.open[req.ID]
		if known && req.Audience.Needed() < 2 {
			continue
		}
		if req, err = c.server.Request(ctx, req.ID); err != nil { // the list has no votes
			return nil, err
		}
		switch {
		case req.Status != holdshort.RequestOpen: // between the two looks; the next one tells
			now[req.ID] = known
		case !known:
			news = append(news, happening{at: askedAt(req), opened: &req})
		case len(req.Votes) > len(before.Votes):
			news = append(news, happening{at: req.Votes[len(req.Votes)-1].At, voted: &req})
		}
	}
	for id := range c.open {
		if now[id] {
			continue
		}
		req, err := c.server.Request(ctx, id)
		if err != nil {
			return nil, err
		}
		if req.Status != holdshort.RequestOpen {
			news = append(news, happening{at: closedAt(req), closed: &req})
		}
	}
	for _, id := range session.OpenRequests {
		if now[id] || c.asked[id] {
			continue
		}
		req, err := c.server.Request(ctx, id)
		switch {
		case holdshort.CodeOf(err) == holdshort.NotFound:
			news = append(news, happening{at: session.UpdatedAt, unseen: id})
		case err != nil:
			return nil, err
		case req.Status == holdshort.RequestOpen:
			news = append(news, happening{at: askedAt(req), opened: &req})
		}
	}
	return news, nil
}

func askedAt(req client.Request) time.Time {
	if !req.AskedAt.IsZero() {
		return req.AskedAt
	}
	return req.CreatedAt
}

func closedAt(req client.Request) time.Time {
	if req.Decision != nil {
		return req.Decision.At
	}
	return req.ClosedAt
}

// messages reads from the page on that was the last one.
func (c *conversation) messages(ctx context.Context) (all []holdshort.Message, cursor string, err error) {
	cursor = c.page
	for {
		page, err := c.server.Messages(ctx, c.id, client.FindMessages{Window: "all", Limit: mostPage, Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all, cursor, nil
		}
		cursor = page.Next
	}
}

// Types of the notes that agents leave: what they wanted done, and what came of it.
const (
	noteOfCalls   = "tool_calls"
	noteOfResults = "tool_results"
)

// recent is how much of what was decided before somebody looked for the first time is told.
const recent = 10

// missed gives pauses that opened and closed between two looks, by what they left in the history.
func (c *conversation) missed(ctx context.Context, all []holdshort.Message, open []client.Request) (news []happening, err error) {
	if !c.begun {
		all = all[max(len(all)-recent, 0):]
	}
	seen := map[holdshort.RequestID]bool{}
	for _, m := range all {
		if m.Type != holdshort.TypeDecision || c.said[m.ID] || c.asked[m.RequestID] || seen[m.RequestID] || slices.ContainsFunc(open, func(r client.Request) bool { return r.ID == m.RequestID }) {
			continue
		}
		seen[m.RequestID] = true
		req, err := c.server.Request(ctx, m.RequestID)
		switch {
		case holdshort.CodeOf(err) == holdshort.NotFound: // not for this person's eyes
		case err != nil:
			return nil, err
		case req.Status != holdshort.RequestOpen:
			news = append(news, happening{at: closedAt(req), closed: &req, missed: true})
		}
	}
	return news, nil
}
