package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// approved raises one refund, and ana approves it.
func (b *bed) approved() holdshort.Request {
	b.Helper()
	req := b.ask(wantsRefund(50))
	return b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana}).Request
}

func (b *bed) claim(in engine.ClaimInput) engine.Claimed {
	b.Helper()
	out, err := b.Claim(b.Context(), tenant, in)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func (b *bed) operation(id string) holdshort.Operation {
	b.Helper()
	var op holdshort.Operation
	err := b.store.View(b.Context(), tenant, func(tx store.ReadTx) (err error) {
		op, err = tx.Operation(id)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return op
}

func (b *bed) noOperation(req holdshort.RequestID) {
	b.Helper()
	view, err := b.RequestFor(b.Context(), tenant, req, ops)
	if err != nil || len(view.Operations) != 0 {
		b.Errorf("%+v (%v)", view.Operations, err)
	}
}

// TestClaim: what was approved is handed out with its arguments, a started operation, and a token that the database does not have.
func TestClaim(t *testing.T) {
	b := newBed(t, engine.Config{})
	req := b.approved()
	out := b.claim(engine.ClaimInput{Request: req.ID, Actor: bot, Lease: time.Minute})
	want := engine.ClaimedAction{CallID: "call_1", Tool: "shop.refund", Args: json.RawMessage(`{"amount":50,"order":"77"}`), ArgsHash: req.Actions[0].ArgsHash, OperationID: string(req.ID) + "/1"}
	if len(out.Actions) != 1 || fmt.Sprint(out.Actions[0]) != fmt.Sprint(want) || out.Fingerprint != req.Fingerprint || !slices.Equal(out.OperationIDs, []string{want.OperationID}) {
		t.Errorf("%+v, want %+v", out, want)
	}
	op := b.operation(want.OperationID)
	if op.Status != holdshort.OperationStarted || op.RequestID != req.ID || op.Capability != "shop.refund" || !op.Deadline.Equal(b.clock.now().Add(time.Minute)) || !op.Deadline.Equal(out.LeaseUntil) {
		t.Errorf("%+v", op)
	}
	if out.Token == "" || strings.Contains(fmt.Sprintf("%+v", op), out.Token) {
		t.Errorf("the token is in the ledger: %+v", op)
	}
	if got := b.events("operation.*", "hitl.request.claimed"); !slices.Equal(got, []string{"operation.started by key_bot", "hitl.request.claimed by key_bot"}) {
		t.Errorf("%q", got)
	}
}

// TestClaimOnce: of a hundred who claim at the same moment, one gets it.
func TestClaimOnce(t *testing.T) {
	eachStore(t, engine.Config{}, func(t *testing.T, e *engine.Engine) {
		asked, err := e.Ask(t.Context(), tenant, wantsRefund(50))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Decide(t.Context(), tenant, engine.DecideInput{Request: asked.Request.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
			t.Fatal(err)
		}
		var won, lost atomic.Int64
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				in := engine.ClaimInput{Request: asked.Request.ID, Actor: bot}
				if i%2 == 0 {
					in.Key = fmt.Sprint("try ", i)
				}
				switch _, err := e.Claim(t.Context(), tenant, in); code(err) {
				case "":
					won.Add(1)
				case holdshort.DecisionUsed:
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 99 {
			t.Errorf("%d won, %d lost", won.Load(), lost.Load())
		}
	})
}

// TestClaimTogether: claims of one key under one idempotency key are one claim.
func TestClaimTogether(t *testing.T) {
	eachStore(t, engine.Config{}, func(t *testing.T, e *engine.Engine) {
		asked, err := e.Ask(t.Context(), tenant, wantsRefund(50))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Decide(t.Context(), tenant, engine.DecideInput{Request: asked.Request.ID, Action: holdshort.Approve, Actor: ana}); err != nil {
			t.Fatal(err)
		}
		answers := make([]engine.Claimed, 30)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				var err error
				if answers[i], err = e.Claim(t.Context(), tenant, engine.ClaimInput{Request: asked.Request.ID, Actor: bot, Key: "once"}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		fresh := 0
		for _, a := range answers {
			if !a.Replayed {
				fresh++
			}
			if a.Token != answers[0].Token || !a.LeaseUntil.Equal(answers[0].LeaseUntil) {
				t.Errorf("%+v, and %+v", a, answers[0])
			}
		}
		if fresh != 1 {
			t.Errorf("%d claims", fresh)
		}
	})
}

// TestClaimAgain: under its key a claim can be repeated until its lease ends, by nobody else and no longer.
func TestClaimAgain(t *testing.T) {
	b := newBed(t, engine.Config{})
	req := b.approved()
	in := engine.ClaimInput{Request: req.ID, Actor: bot, Key: "a"}
	one := b.claim(in)
	b.clock.move(time.Minute)
	two := b.claim(in)
	if !two.Replayed || one.Token != two.Token || !one.LeaseUntil.Equal(two.LeaseUntil) || fmt.Sprint(one.Actions) != fmt.Sprint(two.Actions) {
		t.Errorf("%+v, then %+v", one, two)
	}
	for _, other := range []engine.ClaimInput{{Request: req.ID, Actor: bot}, {Request: req.ID, Actor: bot, Key: "b"}} {
		if _, err := b.Claim(t.Context(), tenant, other); code(err) != holdshort.DecisionUsed {
			t.Errorf("%+v: %v", other, err)
		}
	}
	b.restart(nil)
	if three := b.claim(in); three.Token != one.Token {
		t.Errorf("%+v after a restart, %+v before", three, one)
	}
	b.clock.move(4 * time.Minute)
	if _, err := b.Claim(t.Context(), tenant, in); code(err) != holdshort.DecisionUsed {
		t.Errorf("after the lease: %v", err)
	}
	if n := len(b.events("operation.started")); n != 1 {
		t.Errorf("started %d times", n)
	}
}

// TestClaimRefusals: what was not approved, or is no longer, is handed to nobody, and only the raiser gets it.
func TestClaimRefusals(t *testing.T) {
	decide := func(in engine.DecideInput) func(*bed, holdshort.RequestID) {
		return func(b *bed, id holdshort.RequestID) {
			in.Request = id
			if in.Actor.ID == "" {
				in.Actor = ana
			}
			b.decide(in)
		}
	}
	approve := decide(engine.DecideInput{Action: holdshort.Approve})
	for name, c := range map[string]struct {
		before func(b *bed, id holdshort.RequestID)
		in     engine.ClaimInput
		code   holdshort.Code
	}{
		"open":      {func(*bed, holdshort.RequestID) {}, engine.ClaimInput{}, holdshort.WrongState},
		"rejected":  {decide(engine.DecideInput{Action: holdshort.Reject}), engine.ClaimInput{}, holdshort.Denied},
		"responded": {decide(engine.DecideInput{Action: holdshort.Respond, Value: json.RawMessage(`"did it myself"`)}), engine.ClaimInput{}, holdshort.DoesNotFit},
		"canceled":  {decide(engine.DecideInput{Action: holdshort.Cancel}), engine.ClaimInput{}, holdshort.Closed},
		"canceled by its raiser": {func(b *bed, id holdshort.RequestID) {
			if _, err := b.CancelRequest(b.Context(), tenant, engine.CancelRequestInput{Request: id, Actor: bot}); err != nil {
				b.Fatal(err)
			}
		}, engine.ClaimInput{}, holdshort.Closed},
		"expired":             {func(b *bed, _ holdshort.RequestID) { b.advance(10 * time.Minute) }, engine.ClaimInput{}, holdshort.Expired},
		"expired, not swept":  {func(b *bed, _ holdshort.RequestID) { b.clock.move(10 * time.Minute) }, engine.ClaimInput{}, holdshort.Expired},
		"approved long ago":   {func(b *bed, id holdshort.RequestID) { approve(b, id); b.clock.move(24*time.Hour + time.Second) }, engine.ClaimInput{}, holdshort.Expired},
		"by another key":      {approve, engine.ClaimInput{Actor: holdshort.Actor{ID: "key_other", Kind: holdshort.Service}}, holdshort.NotFound},
		"by whoever approved": {approve, engine.ClaimInput{Actor: ana}, holdshort.Forbidden},
		"by an administrator": {approve, engine.ClaimInput{Actor: root}, holdshort.Forbidden},
		"for too long":        {approve, engine.ClaimInput{Lease: 2 * time.Hour}, holdshort.Invalid},
		"under a long key":    {approve, engine.ClaimInput{Key: strings.Repeat("k", 300)}, holdshort.Invalid},
		"which is not there":  {approve, engine.ClaimInput{Request: "req_none"}, holdshort.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, engine.Config{})
			req := b.ask(wantsRefund(50))
			c.before(b, req.ID)
			if c.in.Actor.ID == "" {
				c.in.Actor = bot
			}
			if c.in.Request == "" {
				c.in.Request = req.ID
			}
			out, err := b.Claim(t.Context(), tenant, c.in)
			if code(err) != c.code || len(out.Actions) != 0 || out.Token != "" {
				t.Errorf("%+v %v, want %s", out, err, c.code)
			}
			b.noOperation(req.ID)
		})
	}
}

// TestClaimRun: what a run asked for is the run's to do.
func TestClaimRun(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
	run := b.start("refunds", refund{"77", 120})
	id := b.request(run.ID).ID
	b.restart(func(c *engine.Config) { c.Flows = nil })
	b.decide(engine.DecideInput{Request: id, Action: holdshort.Approve, Actor: ana})
	for _, actor := range []holdshort.Actor{root, ana, ops, {ID: "carl", Kind: holdshort.Person}} {
		if _, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: id, Actor: actor}); code(err) != holdshort.Forbidden {
			t.Errorf("%s: %v", actor.ID, err)
		}
	}
}

// TestClaimEdited: what was edited is handed out as edited, also for a tool that lives outside; fields that may not change do not.
func TestClaimEdited(t *testing.T) {
	for _, name := range []string{"refund", "shop.refund"} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, engine.Config{Tools: []tool.Tool{refundTool(&counter{})}, Policy: asking(policy.Verdict{Decision: policy.Ask, Editable: []string{"amount"}})})
			in := wantsRefund(50)
			in.Actions[0].Tool = name
			req := b.ask(in)
			edit := engine.DecideInput{Request: req.ID, Action: holdshort.Edit, Actor: ana, Args: json.RawMessage(`{"order":"78","amount":40}`)}
			if _, err := b.Decide(t.Context(), tenant, edit); code(err) != holdshort.DoesNotFit {
				t.Fatalf("another order: %v", err)
			}
			edit.Args = json.RawMessage(`{"order":"77", "amount":40}`)
			if out := b.decide(edit); out.Request.Outcome != holdshort.Edited {
				t.Fatalf("%+v", out.Request)
			}
			out := b.claim(engine.ClaimInput{Request: req.ID, Actor: bot})
			if string(out.Actions[0].Args) != `{"amount":40,"order":"77"}` || out.Actions[0].ArgsHash != holdshort.ArgsHash(out.Actions[0].Args) {
				t.Errorf("%s", out.Actions[0].Args)
			}
		})
	}
}

// TestClaimReopened: an edit that needs more people is asked again; only the second request can be claimed.
func TestClaimReopened(t *testing.T) {
	for name, verdict := range map[string]policy.Policy{
		"a quorum": asking(policy.Verdict{Decision: policy.Ask, Editable: []string{"*"}, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}}),
		"other people for other arguments": policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
			if strings.Contains(string(c.Args), "9000") {
				return policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Users: []string{"ben"}}}, nil
			}
			return policy.Verdict{Decision: policy.Ask, Editable: []string{"*"}}, nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, engine.Config{Policy: verdict})
			req := b.ask(wantsRefund(50))
			out := b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Edit, Actor: ana, Args: json.RawMessage(`{"order":"77","amount":9000}`)})
			if out.Next == nil {
				t.Fatalf("%+v", out)
			}
			claim := func(id holdshort.RequestID) holdshort.Code {
				_, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: id, Actor: bot})
				return code(err)
			}
			if view, err := b.RequestFor(t.Context(), tenant, req.ID, bot); err != nil || view.Next != out.Next.ID {
				t.Errorf("its raiser is told of %q (%v), want %s", view.Next, err, out.Next.ID)
			}
			if claim(req.ID) != holdshort.WrongState || claim(out.Next.ID) != holdshort.WrongState {
				t.Fatal("it was handed out before enough people approved")
			}
			b.decide(engine.DecideInput{Request: out.Next.ID, Action: holdshort.Approve, Actor: ben})
			b.restart(func(c *engine.Config) { c.Policy = asking(policy.Verdict{Decision: policy.Allow}) }) // even if nobody were needed any more
			if first := claim(req.ID); first != holdshort.WrongState {
				t.Errorf("the first: %s", first)
			}
			b.forge(`DELETE FROM replays WHERE scope = 'next request'`) // they go with time
			if first := claim(req.ID); first != holdshort.DecisionUsed {
				t.Errorf("the first, when nobody remembers the second: %s", first)
			}
			if second := claim(out.Next.ID); second != "" {
				t.Errorf("the second: %s", second)
			}
		})
	}
}

// TestClaimBatch: of a batch, what was approved and what needed nobody is handed out; what was rejected or answered is not.
func TestClaimBatch(t *testing.T) {
	rules := policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		if c.Tool == "look" {
			return policy.Verdict{Decision: policy.Allow, Rule: "looks"}, nil
		}
		return policy.Verdict{}, nil
	})
	batch := engine.AskInput{Kind: holdshort.Approval, Actor: bot, Actions: []engine.AskAction{{Tool: "look"}, {CallID: "a", Tool: "pay"}, {CallID: "b", Tool: "pay"}, {CallID: "c", Tool: "pay"}}}
	b := newBed(t, engine.Config{Policy: rules})
	req := b.ask(batch)
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana, Calls: []holdshort.CallDecision{
		{CallID: "a", Action: holdshort.Approve}, {CallID: "b", Action: holdshort.Reject}, {CallID: "c", Action: holdshort.Respond, Message: "done by hand"}}})
	out := b.claim(engine.ClaimInput{Request: req.ID, Actor: bot})
	if !slices.Equal(out.OperationIDs, []string{string(req.ID) + "/1", string(req.ID) + "/2"}) || out.Actions[0].CallID != "call_1" || out.Actions[1].CallID != "a" {
		t.Errorf("%+v", out.Actions)
	}
	whole := b.ask(batch)
	b.decide(engine.DecideInput{Request: whole.ID, Action: holdshort.Reject, Actor: ana})
	if _, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: whole.ID, Actor: bot}); code(err) != holdshort.Denied {
		t.Errorf("rejected as a whole: %v", err)
	}
	b.forge(`UPDATE requests SET body = CAST(replace(CAST(body AS TEXT), 'rejected', 'approved') AS BLOB) WHERE id = ?`, string(whole.ID))
	if _, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: whole.ID, Actor: bot}); code(err) != holdshort.Denied {
		t.Errorf("rejected as a whole, and called approved by hand: %v", err)
	}
	b.noOperation(whole.ID)
}

// TestClaimPolicyNow: an approval is held against the policy of the moment in which it is used.
func TestClaimPolicyNow(t *testing.T) {
	ask := policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"reviewer"}}}
	allow := policy.Verdict{Decision: policy.Allow, Rule: "all"}
	for name, c := range map[string]struct {
		then, now policy.Verdict
		code      holdshort.Code
	}{
		"the same":                        {ask, ask, ""},
		"less strict":                     {ask, allow, ""},
		"denied":                          {ask, policy.Verdict{Decision: policy.Deny}, holdshort.Denied},
		"more people":                     {ask, policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 2}}, holdshort.WrongState},
		"other people":                    {ask, policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"board"}}}, holdshort.WrongState},
		"others of the same":              {ask, policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Roles: []string{"finance"}}}, ""},
		"allowed, then asked":             {allow, ask, holdshort.WrongState},
		"allowed, then denied":            {allow, policy.Verdict{Decision: policy.Deny}, holdshort.Denied},
		"allowed, then left to the clock": {allow, policy.Verdict{Decision: policy.Ask, OnTimeout: holdshort.TimeoutApprove}, holdshort.WrongState},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, engine.Config{Policy: asking(c.then)})
			req := b.ask(wantsRefund(50))
			if c.then.Decision == policy.Ask {
				b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
			}
			b.restart(func(conf *engine.Config) { conf.Policy = asking(c.now) })
			if _, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: req.ID, Actor: bot}); code(err) != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
			if c.code != "" {
				b.noOperation(req.ID)
			}
		})
	}
}

// TestClaimLimits: what the policy allows counts when it is handed out; past the limit a person is asked, or it is denied.
func TestClaimLimits(t *testing.T) {
	for _, deny := range []bool{false, true} {
		t.Run(fmt.Sprint("deny ", deny), func(t *testing.T) {
			b := newBed(t, engine.Config{Policy: asking(policy.Verdict{Decision: policy.Allow, Limits: []policy.Limit{{Name: "refunds", Scope: policy.PerDay, Max: 2, Deny: deny}}})})
			reqs := []holdshort.Request{b.ask(wantsRefund(1)), b.ask(wantsRefund(2)), b.ask(wantsRefund(3))} // nothing is claimed yet
			for i, req := range reqs {
				want := holdshort.Code("")
				if i == 2 {
					want = holdshort.LimitReached
				}
				if _, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: req.ID, Actor: bot}); code(err) != want {
					t.Errorf("claim %d: %v", i+1, err)
				}
			}
			req := b.ask(wantsRefund(4))
			if deny {
				if req.Outcome != holdshort.Rejected {
					t.Errorf("%+v", req)
				}
				return
			}
			if req.Status != holdshort.RequestOpen {
				t.Fatalf("%+v", req)
			}
			b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
			b.claim(engine.ClaimInput{Request: req.ID, Actor: bot}) // a person let it pass
			b.clock.move(24 * time.Hour)
			if req := b.ask(wantsRefund(5)); req.Outcome != holdshort.Approved {
				t.Errorf("the next day: %+v", req)
			}
		})
	}
}

// TestClaimForged: a decision that the kernel did not make, or made about something else, hands nothing out.
func TestClaimForged(t *testing.T) {
	for name, c := range map[string]struct {
		action holdshort.Verb
		forge  func(b *bed, req, other holdshort.Request)
		code   holdshort.Code
	}{
		"written by hand": {"", func(b *bed, req, other holdshort.Request) {
			err := b.store.Update(b.Context(), tenant, func(tx store.Tx) error {
				req.Status, req.Outcome, req.ClosedAt = holdshort.RequestResolved, holdshort.Approved, tx.Now()
				req.Revision = 1
				if err := tx.PutRequest(req); err != nil {
					return err
				}
				return tx.AddDecision(holdshort.Decision{ID: holdshort.NewDecisionID(tx.Now()), RequestID: req.ID, Action: holdshort.Approve, Actor: ana, Fingerprint: req.Fingerprint,
					Calls: []holdshort.CallDecision{{CallID: "call_1", Action: holdshort.Approve, ArgsHash: req.Actions[0].ArgsHash}}, Nonce: "n", KeyID: b.store.Keyring().SigningKeyID(), MAC: strings.Repeat("ab", 32), At: tx.Now()})
			})
			if err != nil {
				b.Fatal(err)
			}
		}, holdshort.MACInvalid},
		"resolved by nobody": {"", func(b *bed, req, other holdshort.Request) {
			b.forge(`UPDATE requests SET status = 'resolved', body = CAST('{"outcome":"approved"}' AS BLOB) WHERE id = ?`, string(req.ID))
		}, holdshort.MACInvalid},
		"its signature": {holdshort.Approve, func(b *bed, req, other holdshort.Request) {
			b.forge(`UPDATE decisions SET mac = replace(mac, substr(mac, 1, 1), CASE substr(mac, 1, 1) WHEN '0' THEN '1' ELSE '0' END) WHERE request_id = ?`, string(req.ID))
		}, holdshort.MACInvalid},
		"a key that nobody has": {holdshort.Approve, func(b *bed, req, other holdshort.Request) {
			b.forge(`UPDATE decisions SET key_id = 'k00000000' WHERE request_id = ?`, string(req.ID))
		}, holdshort.KeyUnknown},
		"a rejection turned round": {holdshort.Reject, func(b *bed, req, other holdshort.Request) {
			b.forge(`UPDATE decisions SET body = CAST(replace(CAST(body AS TEXT), '"reject"', '"approve"') AS BLOB) WHERE request_id = ?`, string(req.ID))
			b.forge(`UPDATE requests SET body = CAST(replace(CAST(body AS TEXT), 'rejected', 'approved') AS BLOB) WHERE id = ?`, string(req.ID))
		}, holdshort.MACInvalid},
		"a rejection called an approval": {holdshort.Reject, func(b *bed, req, other holdshort.Request) {
			b.forge(`UPDATE requests SET body = CAST(replace(CAST(body AS TEXT), 'rejected', 'approved') AS BLOB) WHERE id = ?`, string(req.ID))
		}, holdshort.Denied},
		"other arguments": {holdshort.Approve, func(b *bed, req, other holdshort.Request) {
			b.forge(`UPDATE requests SET fixed = CAST(replace(CAST(fixed AS TEXT), '"amount":50', '"amount":99') AS BLOB) WHERE id = ?`, string(req.ID))
		}, holdshort.MACInvalid},
		"another question": {holdshort.Approve, func(b *bed, req, other holdshort.Request) {
			b.forge(`UPDATE requests SET fixed = CAST(replace(CAST(fixed AS TEXT), 'Refund?', 'Lookup?') AS BLOB) WHERE id = ?`, string(req.ID))
		}, holdshort.MACInvalid},
		"another tool": {holdshort.Approve, func(b *bed, req, other holdshort.Request) {
			b.forge(`UPDATE requests SET fixed = CAST(replace(CAST(fixed AS TEXT), 'shop.refund', 'shop.payout') AS BLOB) WHERE id = ?`, string(req.ID))
		}, holdshort.MACInvalid},
		"another raiser": {holdshort.Approve, func(b *bed, req, other holdshort.Request) {
			b.forge(`UPDATE requests SET fixed = CAST(replace(CAST(fixed AS TEXT), 'key_bot', 'key_eve') AS BLOB) WHERE id = ?`, string(req.ID))
		}, holdshort.NotFound},
		"moved from another request": {holdshort.Reject, func(b *bed, req, other holdshort.Request) {
			b.forge(`DELETE FROM decisions WHERE request_id = ?`, string(req.ID))
			b.forge(`UPDATE decisions SET request_id = ? WHERE request_id = ?`, string(req.ID), string(other.ID))
			b.forge(`UPDATE requests SET body = (SELECT body FROM requests WHERE id = ?) WHERE id = ?`, string(other.ID), string(req.ID))
		}, holdshort.MACInvalid},
		"moved together with its question": {holdshort.Reject, func(b *bed, req, other holdshort.Request) {
			b.forge(`DELETE FROM decisions WHERE request_id = ?`, string(req.ID))
			b.forge(`UPDATE decisions SET request_id = ? WHERE request_id = ?`, string(req.ID), string(other.ID))
			b.forge(`UPDATE requests SET body = (SELECT body FROM requests WHERE id = ?), fixed = (SELECT fixed FROM requests WHERE id = ?) WHERE id = ?`, string(other.ID), string(other.ID), string(req.ID))
		}, holdshort.MACInvalid},
		"used before": {holdshort.Approve, func(b *bed, req, other holdshort.Request) {
			b.forge(`INSERT INTO decision_uses (tenant, decision_id, call_id, operation_id, at) SELECT tenant, id, 'call_1', 'x', at FROM decisions WHERE request_id = ?`, string(req.ID))
		}, holdshort.DecisionUsed},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, engine.Config{})
			req, other := b.ask(wantsRefund(50)), b.approved()
			if c.action != "" {
				b.decide(engine.DecideInput{Request: req.ID, Action: c.action, Actor: ana})
			}
			c.forge(b, req, other)
			b.restart(nil)
			out, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: req.ID, Actor: bot, Key: "k"})
			if code(err) != c.code || len(out.Actions) != 0 {
				t.Errorf("%+v %v, want %s", out, err, c.code)
			}
			b.noOperation(req.ID)
			refused := len(b.events("operation.refused")) == 1
			if want := c.code != holdshort.DecisionUsed && c.code != holdshort.NotFound; refused != want {
				t.Errorf("refusals: %q", b.events("operation.refused"))
			}
		})
	}
}

// TestClaimForgedAgain: rows that were changed between a claim and its repetition hand nothing else out.
func TestClaimForgedAgain(t *testing.T) {
	b := newBed(t, engine.Config{})
	req, other := b.approved(), b.approved()
	in := engine.ClaimInput{Request: req.ID, Actor: bot, Key: "k"}
	b.claim(in)
	b.forge(`UPDATE operations SET args_hash = (SELECT args_hash FROM operations LIMIT 1) || '0' WHERE request_id = ?`, string(req.ID))
	if out, err := b.Claim(t.Context(), tenant, in); err == nil {
		t.Errorf("%+v", out)
	}
	b.claim(engine.ClaimInput{Request: other.ID, Actor: bot, Key: "k"})
	b.forge(`UPDATE requests SET fixed = CAST(replace(CAST(fixed AS TEXT), '"amount":50', '"amount":99') AS BLOB) WHERE id = ?`, string(other.ID))
	if out, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: other.ID, Actor: bot, Key: "k"}); code(err) != holdshort.MACInvalid {
		t.Errorf("%+v %v", out, err)
	}
}

// TestOwnRequest: whoever raises does not decide, unless as an administrator, and then the decision says so.
func TestOwnRequest(t *testing.T) {
	b := newBed(t, engine.Config{})
	reviewing := bot
	reviewing.Roles = []string{"reviewer"}
	speaks := holdshort.Actor{ID: "key_two", Kind: holdshort.Service, Roles: []string{"reviewer"}, ForUser: bot.ID}
	req := b.ask(wantsRefund(50))
	for _, actor := range []holdshort.Actor{bot, reviewing, speaks} {
		if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: actor}); code(err) != holdshort.Forbidden {
			t.Errorf("%+v: %v", actor, err)
		}
	}
	if out := b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana}); out.Decision.SelfApproved {
		t.Errorf("%+v", out.Decision)
	}
	in := wantsRefund(50)
	in.Actor = root
	own := b.ask(in)
	if out := b.decide(engine.DecideInput{Request: own.ID, Action: holdshort.Approve, Actor: root}); !out.Decision.SelfApproved {
		t.Errorf("%+v", out.Decision)
	}
	b.claim(engine.ClaimInput{Request: own.ID, Actor: root})
	in.Audience.Separate = true
	separate := b.ask(in)
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: separate.ID, Action: holdshort.Approve, Actor: root}); code(err) != holdshort.Forbidden {
		t.Errorf("an administrator, of a request that others must decide: %v", err)
	}
}

// TestEscalated: where the policy says so, those who look after the system are asked when nobody answered; its raiser finds and claims that.
func TestEscalated(t *testing.T) {
	b := newBed(t, engine.Config{Policy: asking(policy.Verdict{Decision: policy.Ask, OnTimeout: holdshort.TimeoutEscalate, Audience: holdshort.Audience{Roles: []string{"finance"}}})})
	req := b.ask(wantsRefund(50))
	b.advance(10 * time.Minute)
	if got := b.requestByID(req.ID); got.Status != holdshort.RequestExpired {
		t.Fatalf("%+v", got)
	}
	view, err := b.RequestFor(t.Context(), tenant, req.ID, bot)
	if err != nil || view.Next == "" {
		t.Fatalf("%+v %v", view, err)
	}
	next := b.requestByID(view.Next)
	if next.Kind != holdshort.Escalation || next.Status != holdshort.RequestOpen || next.Requester != req.Requester || next.TraceID != req.TraceID || next.Actions[0].ArgsHash != req.Actions[0].ArgsHash {
		t.Errorf("%+v", next)
	}
	if _, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: next.ID, Actor: bot}); code(err) != holdshort.WrongState {
		t.Errorf("before it was decided: %v", err)
	}
	b.decide(engine.DecideInput{Request: next.ID, Action: holdshort.Approve, Actor: ops})
	if _, err := b.Claim(t.Context(), tenant, engine.ClaimInput{Request: req.ID, Actor: bot}); code(err) != holdshort.Expired {
		t.Errorf("the one that expired: %v", err)
	}
	b.claim(engine.ClaimInput{Request: next.ID, Actor: bot})
	b.advance(48 * time.Hour)
	if n := len(b.events("hitl.escalation.created")); n != 1 {
		t.Errorf("escalated %d times", n)
	}
}
