package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// Machine runs the desk and can be made to die: really, without a warning.
type Machine interface {
	// Start begins or begins again and gives a client of it.
	Start(ctx context.Context) (*client.Client, error)
	// Kill ends it at once; nothing of it has time to do anything.
	Kill() error
	// Effects are what the shop has done so far.
	Effects() ([]Effect, error)
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

// Tell tells it: an agent asks, the machine dies, somebody decides, the machine dies again in the middle of the payment, and the money was
// paid back once. It gives a client of the machine that is left running.
func (s *Story) Tell(ctx context.Context) (*client.Client, error) {
	c, err := s.Machine.Start(ctx)
	if err != nil {
		return nil, err
	}
	req, run, err := s.ask(ctx, c)
	if err != nil {
		return nil, err
	}
	if c, err = s.die(ctx, "The machine dies: kill -9, while the question is open."); err != nil {
		return nil, err
	}
	same, err := c.Request(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	if same.Status != holdshort.RequestOpen || same.Fingerprint != req.Fingerprint || same.Question != req.Question {
		return nil, fmt.Errorf("the question is not the one that was asked: %s %s", same.Status, same.Fingerprint)
	}
	if err := s.say(ctx, "It comes back. The question is still open: same id, same fingerprint %s….", same.Fingerprint[:12]); err != nil {
		return nil, err
	}
	if _, err := c.Decide(ctx, req.ID, client.Choice{Action: holdshort.Approve, Message: "the tank was cracked indeed", Fingerprint: same.Fingerprint}); err != nil {
		return nil, err
	}
	if err := s.say(ctx, "Ana approves. Her decision is signed and bound to exactly these arguments. The refund begins…"); err != nil {
		return nil, err
	}
	if err := s.underWay(ctx, c, run); err != nil {
		return nil, err
	}
	if c, err = s.die(ctx, "…and the machine dies again, in the middle of the payment."); err != nil {
		return nil, err
	}
	if err := s.say(ctx, "It comes back. Nobody knows whether the money went out, so nobody repeats the call before its deadline has passed…"); err != nil {
		return nil, err
	}
	ended, err := c.AwaitEnd(ctx, run)
	if err != nil {
		return nil, err
	}
	return c, s.count(ctx, c, ended, req)
}

func (s *Story) ask(ctx context.Context, c *client.Client) (client.Request, holdshort.RunID, error) {
	input, err := json.Marshal(Case{Order: "79", Problem: "the frame is cracked"})
	if err != nil {
		return client.Request{}, "", err
	}
	if err := s.say(ctx, "Cora writes: her folding bike arrived broken. An agent takes the case and looks order 79 up: reading is free."); err != nil {
		return client.Request{}, "", err
	}
	run, err := c.Start(ctx, client.Start{Flow: "complaint", Input: input})
	if err == nil {
		run, err = c.AwaitRun(ctx, run.ID)
	}
	if err != nil {
		return client.Request{}, "", err
	}
	if len(run.OpenRequests) != 1 {
		return client.Request{}, "", fmt.Errorf("the agent asks nobody: %s", run.Status)
	}
	req, err := c.Request(ctx, run.OpenRequests[0])
	if err != nil {
		return client.Request{}, "", err
	}
	if err := s.say(ctx, "It wants to pay 890 EUR back. The rule %q asks somebody of finance: %s", req.Rule, req.Question); err != nil {
		return req, run.ID, err
	}
	return req, run.ID, s.say(ctx, "The agent waits. No process holds that wait: it is a row in a database (%s).", req.ID)
}

// die kills the machine and starts it again.
func (s *Story) die(ctx context.Context, line string) (*client.Client, error) {
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
func (s *Story) count(ctx context.Context, c *client.Client, run client.Run, req client.Request) error {
	ops, err := c.Operations(ctx, run.ID)
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
	_, err = c.Decide(ctx, req.ID, client.Choice{Action: holdshort.Reject})
	if holdshort.CodeOf(err) != holdshort.Closed {
		return fmt.Errorf("a second decision was not refused: %w", err)
	}
	return s.say(ctx, "Somebody rejects it a minute too late and hears: %s.", heard(err))
}

// heard is what people hear of an error.
func heard(err error) string {
	if e, ok := errors.AsType[*holdshort.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
