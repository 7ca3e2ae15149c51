package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// deed is a line on its way to the server, under a key of its own: however often it has to be sent, it counts once.
type deed struct {
	line
	key   string
	tries int
	run   holdshort.RunID // that /why and /cancel are about
}

// result is what came of a deed.
type result struct {
	notes []string        // to tell whoever typed it
	run   *client.Run     // that goes on because of it
	shown *client.Request // with everything in it
	err   error
}

// do sends it once. Nothing of the conversation is touched: deeds are done while it is looked at.
func (d *deed) do(ctx context.Context, server counterpart, session holdshort.SessionID) result {
	d.tries++
	switch d.wish {
	case wishSay:
		return d.say(ctx, server, session)
	case wishReply:
		decided, err := server.Reply(ctx, d.req.ID, d.text)
		return d.decided(decided, err)
	case wishCancel:
		return d.cancel(ctx, server)
	case wishShow:
		shown, err := server.Reveal(ctx, d.req.ID)
		return result{shown: &shown, err: err}
	case wishWhy:
		return d.why(ctx, server)
	}
	if d.wish == wishEdit && redacts(*d.req) { // what stays as it is must be sent as it is
		whole, err := server.Reveal(ctx, d.req.ID)
		if err != nil {
			return result{err: err}
		}
		d.req = &whole
	}
	choice, err := d.choice()
	if err != nil {
		return result{err: err}
	}
	choice.Key = d.key
	decided, err := server.Decide(ctx, d.req.ID, choice)
	return d.decided(decided, err)
}

func (d *deed) say(ctx context.Context, server counterpart, session holdshort.SessionID) result {
	send := client.Send{ID: d.key, Text: d.text}
	if d.req != nil { // what stands on the screen is what it answers
		send.ReplyTo = string(d.req.ID)
	}
	taken, err := server.Send(ctx, session, send)
	if err != nil {
		return result{err: err}
	}
	out := result{run: taken.Run}
	switch taken.Outcome {
	case "posted":
		out.notes = []string{"kept: the run that is under way reads it when it gets there"}
	case "person":
		out.notes = []string{"a person has taken this conversation over and reads it"}
	case "refused":
		out.err = &holdshort.Error{Code: holdshort.Forbidden, Message: "this is not yours to answer", Hint: "/show says who may"}
	case "stored", "pending":
		out.notes = []string{"kept; nothing here answers it"}
	}
	return out
}

// decided tells what a decision came to. One that was sent before and is there already is ours.
func (d *deed) decided(got client.Decided, err error) result {
	if refused, ok := errors.AsType[*client.Refusal](err); ok && d.tries > 1 && refused.Err.Code == holdshort.Closed {
		return result{}
	}
	if err != nil {
		return result{err: err}
	}
	out := result{run: got.Run}
	if req := got.Request; req.Status == holdshort.RequestOpen && req.Audience.Needed() > 1 {
		out.run = nil // it goes on waiting
	}
	return out
}

func (d *deed) cancel(ctx context.Context, server counterpart) result {
	if d.req != nil {
		got, err := server.CancelRequest(ctx, d.req.ID, d.text)
		return d.decided(got, err)
	}
	if d.run == "" {
		return result{err: &usageError{Message: "nothing is under way", Hint: "write to the agent"}}
	}
	run, err := server.CancelRun(ctx, d.run, d.text)
	if holdshort.CodeOf(err) == holdshort.WrongState && d.tries > 1 {
		return result{}
	}
	return result{run: &run, err: err}
}

func (d *deed) why(ctx context.Context, server counterpart) result {
	if d.run == "" {
		return result{notes: []string{"nothing is under way: write to the agent"}}
	}
	reasons, err := server.Why(ctx, d.run)
	if err != nil {
		return result{err: err}
	}
	var notes []string
	for _, r := range reasons {
		note := r.Text
		if r.Hint != "" {
			note += " (" + r.Hint + ")"
		}
		notes = append(notes, note)
	}
	if len(notes) == 0 {
		notes = []string{"the run is over: write to the agent"}
	}
	return result{notes: notes}
}

// absent reports whether a server could not be asked: the same again may go better.
func absent(err error) bool {
	if refused, ok := errors.AsType[*client.Refusal](err); ok {
		return slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusTooManyRequests}, refused.Status) && refused.Err.Code != holdshort.Quarantined
	}
	return holdshort.CodeOf(err) == client.Unreachable
}

// patiently tries until the server is there again, ctx ends, or so much time has passed; 0: no limit.
func patiently(ctx context.Context, patience time.Duration, away func(error), try func() error) error {
	var since time.Time
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := try()
		if err == nil || !absent(err) || ctx.Err() != nil {
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if patience > 0 && time.Since(since) > patience {
			return err
		}
		away(err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// sayError is an error as a line in a conversation.
func sayError(err error) string {
	if usage, ok := errors.AsType[*usageError](err); ok {
		return oneLine(usage.Message) + " (" + oneLine(usage.Hint) + ")"
	}
	if refused, ok := errors.AsType[*client.Refusal](err); ok && refused.Err.Code == holdshort.InvalidReply {
		return strings.TrimSpace(visible(refused.Err.Message))
	}
	return oneLine(heard(err))
}
