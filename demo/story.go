package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// Machine runs the desk and can be made to die: really, without a warning.
type Machine interface {
	// Start begins or begins again and gives clients of it: one for each of the story's people.
	Start(ctx context.Context) (*Cast, error)
	// Kill ends it at once; nothing of it has time to do anything.
	Kill() error
	// Effects are what the shop has done so far.
	Effects() ([]Effect, error)
}

// Cast are those who act in the story.
type Cast struct {
	Customer *client.Client // the shop's web site, speaking for Cora
	Ana, Ben *client.Client // of finance
}

// Story is told line by line.
type Story struct {
	Machine Machine
	Pace    time.Duration                 // between the lines
	Say     func(format string, a ...any) // prints a line
}

func (s *Story) say(ctx context.Context, format string, a ...any) error {
	s.Say(format, a...)
	if s.Pace <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.Pace):
		return nil
	}
}

// Tell tells it: an agent asks, one of two approves, the machine dies, the other approves, the machine dies again in the middle of the
// payment, and the money was paid back once.
func (s *Story) Tell(ctx context.Context) error {
	cast, err := s.Machine.Start(ctx)
	if err != nil {
		return err
	}
	req, run, err := s.ask(ctx, cast)
	if err != nil {
		return err
	}
	if _, err := cast.Ana.Decide(ctx, req.ID, client.Choice{Action: holdshort.Approve, Message: "the frame was cracked indeed", Fingerprint: req.Fingerprint}); err != nil {
		return err
	}
	if err := s.say(ctx, "Ana approves. That is one of two."); err != nil {
		return err
	}
	if cast, err = s.die(ctx, "The machine dies: kill -9, while the question is open."); err != nil {
		return err
	}
	same, err := cast.Ben.Request(ctx, req.ID)
	if err != nil {
		return err
	}
	if same.Status != holdshort.RequestOpen || same.Fingerprint != req.Fingerprint || same.Question != req.Question || len(same.Votes) != 1 {
		return fmt.Errorf("the question is not the one that was asked: %s %s, %d votes", same.Status, same.Fingerprint, len(same.Votes))
	}
	if err := s.say(ctx, "It comes back. The question is still open: same id, same fingerprint %s…, and Ana's vote stands.", same.Fingerprint[:12]); err != nil {
		return err
	}
	if _, err := cast.Ben.Decide(ctx, req.ID, client.Choice{Action: holdshort.Approve, Fingerprint: same.Fingerprint}); err != nil {
		return err
	}
	if err := s.say(ctx, "Ben approves too. Both decisions are signed and bound to exactly these arguments. The refund begins…"); err != nil {
		return err
	}
	if err := s.underWay(ctx, cast.Ana, run); err != nil {
		return err
	}
	if cast, err = s.die(ctx, "…and the machine dies again, in the middle of the payment."); err != nil {
		return err
	}
	if err := s.say(ctx, "It comes back. Nobody knows whether the money went out, so nobody repeats the call before its deadline has passed…"); err != nil {
		return err
	}
	ended, err := cast.Ana.AwaitEnd(ctx, run)
	if err != nil {
		return err
	}
	return s.count(ctx, cast, ended, req)
}

func (s *Story) ask(ctx context.Context, cast *Cast) (req client.Request, run holdshort.RunID, err error) {
	if err := s.say(ctx, "Cora writes to the shop: “The frame of my bike is cracked. Please refund order 79.” An agent takes the case and looks the order up: reading is free."); err != nil {
		return req, "", err
	}
	session, err := cast.Customer.OpenSession(ctx, client.OpenSession{Agent: Agent, User: Customer})
	if err != nil {
		return req, "", err
	}
	taken, err := cast.Customer.Send(ctx, session.ID, client.Send{Text: "The frame of my bike is cracked. Please refund order 79.", Wait: time.Minute})
	if err != nil {
		return req, "", err
	}
	if taken.Run == nil || len(taken.Run.OpenRequests) != 1 {
		return req, "", fmt.Errorf("the agent asks nobody: %s", taken.Outcome)
	}
	run = taken.Run.ID
	if req, err = cast.Ana.Request(ctx, taken.Run.OpenRequests[0]); err != nil {
		return req, run, err
	}
	if err := s.say(ctx, "It wants to pay 890 EUR back. The rule %q asks %d of finance: %s", req.Rule, req.Audience.Needed(), req.Question); err != nil {
		return req, run, err
	}
	return req, run, s.say(ctx, "The agent holds short. No process holds that wait: it is a row in a database (%s).", req.ID)
}

// die kills the machine and starts it again.
func (s *Story) die(ctx context.Context, line string) (*Cast, error) {
	if err := s.Machine.Kill(); err != nil {
		return nil, err
	}
	if err := s.say(ctx, "%s", line); err != nil {
		return nil, err
	}
	return s.Machine.Start(ctx)
}

// underWay waits until the payment has begun.
func (s *Story) underWay(ctx context.Context, c *client.Client, run holdshort.RunID) error {
	for {
		ops, err := c.Operations(ctx, run)
		if err != nil {
			return err
		}
		for _, op := range ops {
			if op.Capability == refund {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// count compares what is known with what happened.
func (s *Story) count(ctx context.Context, cast *Cast, run client.Run, req client.Request) error {
	ops, err := cast.Ana.Operations(ctx, run.ID)
	if err != nil {
		return err
	}
	effects, err := s.Machine.Effects()
	if err != nil {
		return err
	}
	paid := 0
	for _, e := range effects {
		var args refundArgs
		if e.Tool == refund && json.Unmarshal(e.Args, &args) == nil && args.Order == "79" {
			paid++
		}
	}
	for _, op := range ops {
		if op.Capability == refund {
			if err := s.say(ctx, "…then it is made again, under the same operation id. The ledger says: %s %s, at attempt %d.", op.Capability, op.Status, op.Attempt); err != nil {
				return err
			}
		}
	}
	if run.Status != holdshort.RunCompleted || paid != 1 {
		return fmt.Errorf("the story ends badly: the run is %s and the money was paid back %d times", run.Status, paid)
	}
	if err := s.say(ctx, "The shop's own books: order 79 was refunded once."); err != nil {
		return err
	}
	said, err := cast.Customer.Messages(ctx, run.SessionID, client.FindMessages{})
	if err != nil {
		return err
	}
	if err := s.say(ctx, "Cora reads: “%s”", lastAnswer(said.Items)); err != nil {
		return err
	}
	_, err = cast.Ben.Decide(ctx, req.ID, client.Choice{Action: holdshort.Reject})
	if holdshort.CodeOf(err) != holdshort.Closed {
		return fmt.Errorf("a second decision was not refused: %w", err)
	}
	return s.say(ctx, "Somebody rejects it a minute too late and hears: %s.", heard(err))
}

// lastAnswer is what the agent said last.
func lastAnswer(list []holdshort.Message) string {
	for _, m := range slices.Backward(list) {
		if m.Role == holdshort.RoleAssistant && m.Type == holdshort.TypeText && len(m.Parts) > 0 {
			return m.Parts[0].Text
		}
	}
	return ""
}

// heard is what people hear of an error.
func heard(err error) string {
	if e, ok := errors.AsType[*holdshort.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
