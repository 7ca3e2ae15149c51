package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// ClaimInput asks for approved actions.
type ClaimInput struct {
	Request holdshort.RequestID
	Actor   holdshort.Actor // the key that raised the request: no other claims it
	// Key lets the claim be repeated: under the same one it gives the same answer until the lease ends. Default: it cannot be repeated.
	Key string
	// Lease is how long the claimer has to report what became of each call. Default: 5 minutes; 1 hour at most.
	Lease time.Duration
}

// Claimed is what a claimer gets, once.
type Claimed struct {
	Actions      []ClaimedAction `json:"actions"`
	Fingerprint  string          `json:"fingerprint"`
	OperationIDs []string        `json:"operation_ids"` // in the actions' order
	Token        string          `json:"claim_token"`   // for Outcome and Extend
	LeaseUntil   time.Time       `json:"lease_until"`
	Replayed     bool            `json:"-"` // an earlier claim under the same key got it
}

// ClaimedAction is one call to make now, with exactly these arguments.
type ClaimedAction struct {
	CallID      string          `json:"call_id"`
	Tool        string          `json:"tool"`
	Args        json.RawMessage `json:"args"`
	ArgsHash    string          `json:"args_hash"`
	OperationID string          `json:"operation_id"` // hand it to the other side as its idempotency key
}

const (
	usualLease = 5 * time.Minute
	mostLease  = time.Hour
)

// handed is one approved call on its way to a claimer.
type handed struct {
	index   int
	action  holdshort.Action
	args    json.RawMessage         // what runs
	decided *holdshort.CallDecision // nil: it needed nobody
}

// gateOperation names what a claimed call does to the world. Nobody outside chooses it.
func gateOperation(id holdshort.RequestID, index int) string {
	return string(id) + "/" + strconv.Itoa(index+1)
}

func wrongClaim(req holdshort.Request, code holdshort.Code, message, hint string) error {
	return &holdshort.Error{Code: code, Op: "claim " + string(req.ID), Message: message, Hint: hint}
}

func checkLease(op string, lease time.Duration) (time.Duration, error) {
	if lease == 0 {
		return usualLease, nil
	}
	if lease < time.Second || lease > mostLease {
		return lease, &holdshort.Error{Code: holdshort.Invalid, Op: op, Field: "lease", Message: "a lease is 1s to " + mostLease.String(), Hint: "leave it out for " + usualLease.String() + ", and extend it when it takes longer"}
	}
	return lease, nil
}

// Claim hands the approved actions of a request out, once, to the key that raised it: with the signed decision verified, used up for every
// call, and a `started` operation for each. DecisionUsed tells everybody who comes later.
func (e *Engine) Claim(ctx context.Context, tenant holdshort.TenantID, in ClaimInput) (out Claimed, err error) {
	op := "claim " + string(in.Request)
	if in.Lease, err = checkLease(op, in.Lease); err != nil {
		return out, err
	}
	if !isName(in.Key, 0) {
		return out, &holdshort.Error{Code: holdshort.Invalid, Op: op, Field: "key", Message: "a key is text of at most " + strconv.Itoa(mostName) + " bytes", Hint: "shorten it"}
	}
	rows, err := e.claimRows(ctx, tenant, in.Request)
	if err != nil {
		return out, err
	}
	var req holdshort.Request
	err = e.update(ctx, tenant, func(c *change) error {
		out = Claimed{}
		if req, err = c.Request(in.Request); err != nil {
			return err
		}
		return c.claimGate(in, req, &out)
	}, rows...)
	if err != nil {
		out = Claimed{}
		e.claimRefused(ctx, tenant, in.Actor, req, err)
	}
	return out, err
}

// claimRows names what a claim writes: the request's operations, and what the policy counts.
func (e *Engine) claimRows(ctx context.Context, tenant holdshort.TenantID, id holdshort.RequestID) (rows []store.Row, err error) {
	err = e.store.View(ctx, tenant, func(tx store.ReadTx) error {
		req, err := tx.Request(id)
		if err != nil {
			return err
		}
		rows = place{run: req.RunID, session: req.SessionID}.rows(id)
		for i, a := range req.Actions {
			rows = append(rows, store.OperationRow(gateOperation(id, i)))
			for _, l := range e.judgeGate(tenant, req, a.Tool, a.Args, tx.Now()).Limits {
				name, _ := e.gateLimit(l, tenant, req, a.Tool, a.Args, tx.Now())
				rows = append(rows, store.CounterRow(name))
			}
		}
		return nil
	})
	slices.Sort(rows)
	return slices.Compact(rows), err
}

// claimRefused leaves the event of a refusal that somebody should see.
func (e *Engine) claimRefused(ctx context.Context, tenant holdshort.TenantID, actor holdshort.Actor, req holdshort.Request, refusal error) {
	switch code := holdshort.CodeOf(refusal); code {
	case holdshort.Forbidden:
		e.denied(ctx, tenant, actor, "hitl.request.claim", req)
	case holdshort.MACInvalid, holdshort.KeyUnknown, holdshort.ArgsChanged, holdshort.NotCanonical, holdshort.Denied, holdshort.LimitReached:
		err := e.update(context.WithoutCancel(ctx), tenant, func(c *change) error {
			return c.event("operation.refused", nil, &req, clip(actor.ID), code, nil)
		}, store.RequestRow(req.ID))
		if err != nil {
			e.log.Error("record a refusal", "request_id", req.ID, "actor", actor.ID, "error", err)
		}
	}
}

func (c *change) claimGate(in ClaimInput, req holdshort.Request, out *Claimed) error {
	if err := mayDo(policy.Claim, in.Actor, req, nil); err != nil {
		return err
	}
	d, calls, err := c.claimable(req)
	if err != nil {
		return err
	}
	out.Fingerprint = req.Fingerprint
	for _, h := range calls {
		id := gateOperation(req.ID, h.index)
		out.OperationIDs = append(out.OperationIDs, id)
		out.Actions = append(out.Actions, ClaimedAction{CallID: h.action.CallID, Tool: h.action.Tool, Args: h.args, ArgsHash: holdshort.ArgsHash(h.args), OperationID: id})
	}
	first, err := c.Operation(out.OperationIDs[0])
	switch {
	case err == nil:
		return c.claimAgain(in, req, first, calls, out)
	case holdshort.CodeOf(err) != holdshort.NotFound:
		return err
	}
	verdicts, err := c.stillApproved(req, d, calls)
	if err != nil {
		return err
	}
	nonce := holdshort.NewSalt()
	if in.Key != "" {
		nonce = c.e.keyring.TenantHash(c.Tenant(), "claim key", claimKey(in))
	}
	out.Token, out.LeaseUntil = c.claimToken(req.ID, nonce), c.now.Add(in.Lease)
	for i, h := range calls {
		if err := c.reserveGate(verdicts[i], req, h); err != nil {
			return err
		}
		if err := c.handOut(in.Actor.ID, req, d, h, nonce, out.LeaseUntil); err != nil {
			return err
		}
	}
	c.ring(topicTimers, requestTopic(req.ID))
	return c.event("hitl.request.claimed", nil, &req, in.Actor.ID, "", map[string]string{"decision": string(d.ID)})
}

// handOut is the moment of execution of one call: its approval is used up and it counts as started.
func (c *change) handOut(actor string, req holdshort.Request, d holdshort.Decision, h handed, nonce string, until time.Time) error {
	id := gateOperation(req.ID, h.index)
	if err := c.UseDecision(d.ID, h.action.CallID, id); err != nil {
		return err
	}
	op := holdshort.Operation{ID: id, RequestID: req.ID, StepID: id, Capability: h.action.Tool, ArgsHash: c.e.keyring.TenantHash(c.Tenant(), "args", h.args),
		Status: holdshort.OperationStarted, Attempt: 1, Nonce: nonce, StartedAt: c.now, Deadline: until}
	if err := c.PutOperation(op); err != nil {
		return err
	}
	if err := c.SetTimer(holdshort.Timer{Kind: holdshort.TimerOperation, Subject: id, DueAt: until}); err != nil {
		return err
	}
	return c.gateEvent("operation.started", req, op, actor, "")
}

func (c *change) gateEvent(name string, req holdshort.Request, op holdshort.Operation, actor string, code holdshort.Code) error {
	return c.event(name, nil, &req, actor, code, factOf(op))
}

// claimKey is what the nonce of a claim that can be repeated is made of.
func claimKey(in ClaimInput) []byte {
	return []byte(string(in.Request) + "\x00" + in.Actor.ID + "\x00" + in.Key)
}

// claimToken is made from the claim's nonce and the keyring, so that it need not be stored: who reads the database cannot report outcomes.
func (c *change) claimToken(id holdshort.RequestID, nonce string) string {
	return c.e.keyring.TenantHash(c.Tenant(), "claim token", []byte(string(id)+"\x00"+nonce))
}

// claimAgain gives the answer of a claim that was made under the same key, while its lease lasts.
func (c *change) claimAgain(in ClaimInput, req holdshort.Request, first holdshort.Operation, calls []handed, out *Claimed) error {
	used := wrongClaim(req, holdshort.DecisionUsed, "its actions were handed out already", "an approval is good for one call, once: raise a new request")
	if in.Key == "" || !strings.Contains(first.Nonce, ":") {
		return used
	}
	same, err := c.e.keyring.SameTenantHash(c.Tenant(), "claim key", first.Nonce, claimKey(in))
	if err != nil {
		return err
	}
	if !same {
		return used
	}
	for _, h := range calls {
		op, err := c.Operation(gateOperation(req.ID, h.index))
		if err != nil {
			return err
		}
		same, err := c.e.keyring.SameTenantHash(c.Tenant(), "args", op.ArgsHash, h.args)
		if err != nil {
			return err
		}
		if !same {
			return wrongClaim(req, holdshort.ArgsChanged, "what was handed out had other arguments", "nothing is handed out; look into the database's access log")
		}
		out.LeaseUntil = latest(out.LeaseUntil, op.Deadline)
	}
	if !c.now.Before(out.LeaseUntil) {
		return wrongClaim(req, holdshort.DecisionUsed, "its actions were handed out and the lease has ended", "report the outcome with the claim token, or answer the reconcile request")
	}
	out.Token, out.Replayed = c.claimToken(req.ID, first.Nonce), true
	return nil
}
