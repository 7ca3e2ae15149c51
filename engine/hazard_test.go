package engine_test

import (
	"context"
	"database/sql"
	"encoding/json"
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

	_ "modernc.org/sqlite"
)

// TestDecideRefusals: who is told what, in which order; nothing of it changes anything.
func TestDecideRefusals(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}, Policy: asking(policy.Verdict{ExpiresIn: time.Hour})})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	carl := holdshort.Actor{ID: "carl", Kind: holdshort.Person}
	for _, tt := range []struct {
		name   string
		tenant holdshort.TenantID
		in     engine.DecideInput
		want   holdshort.Code
	}{
		{"unknown word", tenant, engine.DecideInput{Request: req.ID, Action: "yes", Actor: ana}, holdshort.Invalid},
		{"nobody", tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve}, holdshort.Forbidden},
		{"unknown request", tenant, engine.DecideInput{Request: "req_nope", Action: holdshort.Approve, Actor: ana}, holdshort.NotFound},
		{"another tenant", "rival", engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana}, holdshort.NotFound},
		{"who may not look", tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: eve}, holdshort.NotFound},
		{"who may look, not decide", tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: carl}, holdshort.Forbidden},
		{"an operator", tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ops}, holdshort.Forbidden},
		{"another fingerprint", tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana, Fingerprint: "0000"}, holdshort.FingerprintMismatch},
		{"what it does not take", tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Select, OptionIDs: []string{"approve"}, Actor: ana}, holdshort.DoesNotFit},
		{"a call it does not have", tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana, Calls: []holdshort.CallDecision{{CallID: "x", Action: holdshort.Approve}}}, holdshort.DoesNotFit},
		{"a value that is no JSON", tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Respond, Actor: ana, Value: json.RawMessage(`{`)}, holdshort.NotCanonical},
		{"too long", tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Reject, Actor: ana, Message: string(make([]byte, 1<<20))}, holdshort.TooLarge},
	} {
		_, err := b.Decide(t.Context(), tt.tenant, tt.in)
		if got := code(err); got != tt.want && !(tt.want == holdshort.NotCanonical && got == holdshort.Invalid) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	if now := b.request(run.ID); now.Fingerprint != req.Fingerprint || pay.n() != 0 {
		t.Fatal("a refusal changed something")
	}
	b.clock.move(2 * time.Hour)
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana}); code(err) != holdshort.Expired {
		t.Errorf("past its time, not swept: %v", err)
	}
	b.settle()
	if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana}); code(err) != holdshort.Closed && code(err) != holdshort.Expired {
		t.Errorf("past its time, swept: %v", err)
	}
	b.want(run.ID, holdshort.RunFailed, "")
	if pay.n() != 0 {
		t.Error("it ran")
	}
}

// TestOneDecisionWins: a hundred people decide at once; one wins, every other is shown the standing decision, and it runs once.
func TestOneDecisionWins(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	var won, lost atomic.Int32
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			who, action := ana, holdshort.Approve
			if i%2 == 1 {
				who = ben
			}
			out, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: req.ID, Action: action, Actor: who})
			switch {
			case err == nil:
				won.Add(1)
			case code(err) == holdshort.Closed && out.Decision != nil && out.Decision.Actor.ID != "":
				lost.Add(1)
			default:
				t.Errorf("%v %+v", err, out)
			}
		})
	}
	wg.Wait()
	b.settle()
	if won.Load() != 1 || lost.Load() != 99 || pay.n() != 1 {
		t.Errorf("%d won, %d lost, ran %d times", won.Load(), lost.Load(), pay.n())
	}
	b.want(run.ID, holdshort.RunCompleted, `"paid"`)
}

// forge changes the file behind the engine's back, as somebody with the database's password would.
func (b *bed) forge(statement string, args ...any) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+b.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	result, err := db.Exec(statement, args...)
	if err != nil {
		b.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		b.Fatalf("%s changed nothing (%v)", statement, err)
	}
}

// resign gives a forged journal a digest that fits, as only the keyring's owner can: the check behind the digest has to hold too.
func (b *bed) resign(id holdshort.RunID) {
	b.Helper()
	engine.ResignJournal(b.T, b.Engine, tenant, id)
}

// TestForgedDecisions: a decision that was not made by the kernel, or made for something else, runs nothing.
func TestForgedDecisions(t *testing.T) {
	for _, tt := range []struct {
		name  string
		forge func(t *testing.T, b *bed, run holdshort.Run, req holdshort.Request)
		held  holdshort.Code
	}{
		{"its signature", func(t *testing.T, b *bed, run holdshort.Run, req holdshort.Request) {
			b.forge(`UPDATE decisions SET mac = replace(mac, substr(mac, 1, 1), CASE substr(mac, 1, 1) WHEN '0' THEN '1' ELSE '0' END) WHERE request_id = ?`, string(req.ID))
		}, holdshort.MACInvalid},
		{"under a key that nobody has", func(t *testing.T, b *bed, run holdshort.Run, req holdshort.Request) {
			b.forge(`UPDATE decisions SET key_id = 'k00000000' WHERE request_id = ?`, string(req.ID))
		}, holdshort.KeyUnknown},
		{"a rejection turned round", func(t *testing.T, b *bed, run holdshort.Run, req holdshort.Request) {
			b.forge(`UPDATE decisions SET body = CAST(replace(CAST(body AS TEXT), '"reject"', '"approve"') AS BLOB) WHERE request_id = ?`, string(req.ID))
			b.forge(`UPDATE journal SET body = CAST(replace(CAST(body AS TEXT), '"reject"', '"approve"') AS BLOB) WHERE run_id = ? AND key LIKE '%approval%'`, string(run.ID))
			b.resign(run.ID)
		}, holdshort.MACInvalid},
		{"a rejection turned round, the digest left", func(t *testing.T, b *bed, run holdshort.Run, req holdshort.Request) {
			b.forge(`UPDATE journal SET body = CAST(replace(CAST(body AS TEXT), '"reject"', '"approve"') AS BLOB) WHERE run_id = ? AND key LIKE '%approval%'`, string(run.ID))
		}, holdshort.Corrupt},
		{"other arguments in the request", func(t *testing.T, b *bed, run holdshort.Run, req holdshort.Request) {
			b.forge(`UPDATE requests SET fixed = CAST(replace(CAST(fixed AS TEXT), '"amount":120', '"amount":999') AS BLOB) WHERE id = ?`, string(req.ID))
		}, holdshort.MACInvalid},
		{"other arguments in the run's input", func(t *testing.T, b *bed, run holdshort.Run, req holdshort.Request) {
			b.forge(`UPDATE runs SET fixed = CAST(replace(CAST(fixed AS TEXT), '"amount":120', '"amount":999') AS BLOB) WHERE id = ?`, string(run.ID))
		}, holdshort.JournalMismatch},
		{"a journal that speaks of no decision", func(t *testing.T, b *bed, run holdshort.Run, req holdshort.Request) {
			b.forge(`DELETE FROM decisions WHERE request_id = ?`, string(req.ID))
		}, holdshort.MACInvalid},
		{"used before", func(t *testing.T, b *bed, run holdshort.Run, req holdshort.Request) {
			b.forge(`INSERT INTO decision_uses (tenant, decision_id, call_id, operation_id, at) SELECT tenant, id, 'call_1', 'x', at FROM decisions WHERE request_id = ?`, string(req.ID))
		}, holdshort.DecisionUsed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var pay counter
			b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
			run := b.start("refunds", refund{"77", 120})
			req := b.request(run.ID)
			b.restart(func(c *engine.Config) { c.Flows = nil }) // decided where nobody can run it, so that there is time to forge
			action := holdshort.Approve
			if strings.HasPrefix(tt.name, "a rejection turned round") {
				action = holdshort.Reject
			}
			b.decide(engine.DecideInput{Request: req.ID, Action: action, Actor: ana})
			tt.forge(t, b, run, req)
			b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{refunds} })
			if pay.n() != 0 {
				t.Fatal("it ran")
			}
			b.wantHeld(run.ID, tt.held)
			if ops := b.operations(run.ID); len(ops) != 0 {
				t.Errorf("ledger: %+v", ops)
			}
		})
	}
}

// TestMovedDecision: the decision about one request does not serve another.
func TestMovedDecision(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
	one, two := b.start("refunds", refund{"77", 120}), b.start("refunds", refund{"78", 120})
	from, to := b.request(one.ID), b.request(two.ID)
	b.restart(func(c *engine.Config) { c.Flows = nil })
	b.decide(engine.DecideInput{Request: from.ID, Action: holdshort.Approve, Actor: ana})
	b.decide(engine.DecideInput{Request: to.ID, Action: holdshort.Reject, Actor: ana})
	b.forge(`DELETE FROM decisions WHERE request_id = ?`, string(to.ID))
	b.forge(`UPDATE decisions SET request_id = ? WHERE request_id = ?`, string(to.ID), string(from.ID))
	b.forge(`UPDATE requests SET body = (SELECT body FROM requests WHERE id = ?) WHERE id = ?`, string(from.ID), string(to.ID))
	b.forge(`UPDATE journal SET body = CAST(replace(CAST(body AS TEXT), '"reject"', '"approve"') AS BLOB) WHERE run_id = ? AND key LIKE '%approval%'`, string(two.ID))
	b.resign(two.ID)
	b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{refunds} })
	if pay.n() != 0 {
		t.Fatal("it ran")
	}
	b.wantHeld(two.ID, holdshort.MACInvalid)
	b.wantHeld(one.ID, holdshort.MACInvalid)
}

// TestChangedFlow: a flow whose code changed under the same version is held where it no longer does what it did; under a new version the old
// runs wait for a node that has theirs.
func TestChangedFlow(t *testing.T) {
	var pay counter
	changed := func(version int, amount int) flow.Flow {
		return flow.New("refunds", version, func(c *flow.Context, in refund) (string, error) {
			in.Amount = amount
			_, err := flow.Call[any](c, "pay", "refund", in)
			return "changed", err
		})
	}
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{changed(2, 5)} })
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
	b.want(run.ID, holdshort.RunQueued, "")
	b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{changed(1, 5)} })
	b.wantHeld(run.ID, holdshort.JournalMismatch)
	if pay.n() != 0 {
		t.Fatal("it ran")
	}
	b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{refunds, changed(2, 5)} })
	if _, err := b.Retry(t.Context(), tenant, run.ID, ops); err != nil {
		t.Fatal(err)
	}
	b.settle()
	b.want(run.ID, holdshort.RunCompleted, `"paid"`)
	if pay.n() != 1 {
		t.Errorf("ran %d times", pay.n())
	}
}

// TestPanic: a flow that panics fails with its stack, and a retry tries again.
func TestPanic(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	steps := atomic.Int32{}
	f := flow.New("fragile", 1, func(c *flow.Context, _ int) (string, error) {
		if _, err := flow.Step(c, "once", func(context.Context) (int, error) { steps.Add(1); return 1, nil }); err != nil {
			return "", err
		}
		if broken.Load() {
			panic("boom")
		}
		return "fine", nil
	})
	b := newBed(t, engine.Config{Flows: []flow.Flow{f}})
	run := b.start("fragile", 1)
	if run.Status != holdshort.RunFailed || run.Error.Code != holdshort.Panicked || len(run.Error.Stack) == 0 {
		t.Fatalf("%+v", run)
	}
	broken.Store(false)
	if _, err := b.Retry(t.Context(), tenant, run.ID, ops); err != nil {
		t.Fatal(err)
	}
	b.settle()
	b.want(run.ID, holdshort.RunCompleted, `"fine"`)
	if steps.Load() != 1 {
		t.Errorf("a recorded step was done %d times", steps.Load())
	}
}

// TestPoison: a run that takes its process down again and again is held.
func TestPoison(t *testing.T) {
	var pay counter
	b := newBed(t, engine.Config{Flows: []flow.Flow{refunds}, Tools: []tool.Tool{refundTool(&pay)}})
	run := b.start("refunds", refund{"77", 120})
	req := b.request(run.ID)
	b.restart(func(c *engine.Config) { c.Flows = nil })
	b.decide(engine.DecideInput{Request: req.ID, Action: holdshort.Approve, Actor: ana})
	// What a process leaves behind that dies right after its claim.
	for range 5 {
		_, err := b.store.System().ClaimRuns(t.Context(), store.RunClaim{Flows: []store.FlowVersion{{Flow: "refunds", Version: 1}}, Limit: 1, Abandoned: true, Owner: "next"},
			func(tx store.Tx, run holdshort.Run) error {
				if run.Status == holdshort.RunRunning {
					run, _ = run.Apply(holdshort.RunRequeue, tx.Now())
				}
				run, err := run.Apply(holdshort.RunClaim, tx.Now())
				if err != nil {
					return err
				}
				run.Lease.Owner, run.Lease.Until = "dead", tx.Now().Add(time.Minute)
				return tx.PutRun(run)
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	b.restart(func(c *engine.Config) { c.Flows = []flow.Flow{refunds} })
	b.wantHeld(run.ID, holdshort.Poisoned)
	if pay.n() != 0 {
		t.Fatal("it ran")
	}
	if _, err := b.Retry(t.Context(), tenant, run.ID, ops); err != nil {
		t.Fatal(err)
	}
	b.settle()
	b.want(run.ID, holdshort.RunCompleted, `"paid"`)
}
