package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// Act makes one approved call, with exactly the arguments that it is given: a person may have edited them. An error leaves the outcome open,
// and a person will be asked what became of it, unless it was made by NotDone.
type Act func(ctx context.Context, action ClaimedAction) (Done, error)

// Done is what a call came to.
type Done struct {
	Result      any                 // only its hash is kept by the server
	ExternalIDs map[string][]string // of what was made outside; not personal
}

type notDone struct{ error }

func (n notDone) Unwrap() error { return n.error }

// NotDone marks an error of an Act as proof that nothing happened.
func NotDone(err error) error { return notDone{err} }

// Passed is what a gate came to.
type Passed struct {
	Request    Request
	Operations []holdshort.Operation // reported, in the order of the actions
}

// lease of a claim: it is extended while the act runs, so it only says how soon a claimer that vanished is noticed.
const lease = time.Minute

// Gate raises a request, waits for its decision, claims what was approved, runs act once for each call and reports what became of it.
// Whoever did not say yes is an error: denied, expired or canceled. A program that was killed may call it again with the same Raise.Key: the
// question is not asked twice, and what was claimed before is not handed out again (decision_used).
func (c *Client) Gate(ctx context.Context, in Raise, act Act) (out Passed, err error) {
	if len(in.Actions) == 0 {
		return out, &holdshort.Error{Code: holdshort.Invalid, Field: "actions", Message: "a gate needs something to do", Hint: "name the calls in Actions, or use Raise and AwaitRequest for a plain question"}
	}
	if out.Request, err = c.Raise(ctx, in); err != nil {
		return out, err
	}
	if out.Request, err = c.settled(ctx, out.Request); err != nil {
		return out, err
	}
	claimed, err := c.Claim(ctx, out.Request.ID, lease, "")
	if err != nil {
		return out, err
	}
	for _, action := range claimed.Actions {
		op, err := c.perform(ctx, out.Request.ID, claimed.Token, action, act)
		if err != nil {
			return out, err
		}
		out.Operations = append(out.Operations, op)
	}
	return out, nil
}

// settled waits until a request, or what is asked in its place, is decided with a yes.
func (c *Client) settled(ctx context.Context, req Request) (Request, error) {
	for {
		if req.Status == holdshort.RequestOpen {
			var err error
			if req, err = c.AwaitRequest(ctx, req.ID); err != nil {
				return req, err
			}
		}
		if req.Next == "" {
			return req, verdict(req)
		}
		next, err := c.Request(ctx, req.Next)
		if err != nil {
			return req, err
		}
		req = next
	}
}

func verdict(req Request) error {
	op := "pass " + string(req.ID)
	switch req.Status {
	case holdshort.RequestExpired:
		return &holdshort.Error{Code: holdshort.Expired, Op: op, Message: "nobody decided in time", Hint: "ask again if it is still wanted"}
	case holdshort.RequestCanceled:
		return &holdshort.Error{Code: holdshort.Canceled, Op: op, Message: "the request was called off", Hint: "do not act"}
	}
	if req.Outcome == holdshort.Approved || req.Outcome == holdshort.Edited {
		return nil
	}
	message := "the answer is " + string(req.Outcome)
	if req.Decision != nil && req.Decision.Message != "" {
		message += ": " + req.Decision.Message
	}
	return &holdshort.Error{Code: holdshort.Denied, Op: op, Message: message, Hint: "do not act"}
}

// perform runs act under an extended lease and reports. Once it acted the report is sent whatever becomes of ctx.
func (c *Client) perform(ctx context.Context, req holdshort.RequestID, token string, action ClaimedAction, act Act) (op holdshort.Operation, err error) {
	stop := c.extending(ctx, req, token)
	done, failed := act(ctx, action)
	stop()
	report := Outcome{Token: token, CallID: action.CallID, Status: holdshort.OperationDone, ExternalIDs: done.ExternalIDs}
	if failed != nil {
		proof, ok := errors.AsType[notDone](failed)
		if !ok {
			return op, fmt.Errorf("act on %s: %w", action.CallID, failed)
		}
		failed, report.Status = proof.error, holdshort.OperationFailed
	} else if done.Result != nil {
		if report.Result, err = json.Marshal(done.Result); err != nil {
			report.Result = nil // that it happened matters more than what it gave
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	op, err = c.Outcome(ctx, req, report)
	if failed != nil {
		return op, fmt.Errorf("act on %s: %w", action.CallID, failed)
	}
	return op, err
}

// extending prolongs the claim until it is stopped.
func (c *Client) extending(ctx context.Context, req holdshort.RequestID, token string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for c.pause(ctx, lease/3) == nil {
			if _, err := c.Extend(ctx, req, token, lease); err != nil && holdshort.CodeOf(err) != Unreachable {
				return // the lease is lost; the outcome is still taken
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}
