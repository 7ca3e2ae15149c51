package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
)

// TestExpiryOfDamagedRun: the expiry of a request whose run is damaged is tried again after a while. It does not keep the timers busy, the
// run is held, and the expiry of a held run closes the request.
func TestExpiryOfDamagedRun(t *testing.T) {
	asks := flow.New("asks", 1, func(c *flow.Context, _ int) (string, error) {
		a, err := flow.Approve(c, "q", flow.Question{Text: "ok?", Expires: time.Minute, OnTimeout: holdshort.TimeoutFail})
		return string(a.Outcome), err
	})
	for name, held := range map[string]bool{"found by the expiry": false, "held before": true} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, engine.Config{Flows: []flow.Flow{asks}})
			run := b.start("asks", 0)
			b.forge("UPDATE runs SET recorded = 'x' WHERE id = ?", string(run.ID))
			b.restart(func(*engine.Config) {})
			if held {
				if _, err := b.Decide(t.Context(), tenant, engine.DecideInput{Request: b.request(run.ID).ID, Action: holdshort.Approve, Actor: ana}); code(err) != holdshort.Corrupt {
					t.Fatalf("approve: %v", err)
				}
			}
			b.clock.move(2 * time.Minute)
			n, err := 1, error(nil)
			for turn := 0; n > 0 && err == nil; turn++ {
				if turn == 5 {
					t.Fatal("the timers are busy with an expiry that cannot be carried out")
				}
				n, err = b.Tick(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			b.wantHeld(run.ID, holdshort.Corrupt)
		})
	}
	b := newBed(t, engine.Config{Flows: []flow.Flow{asks}})
	run := b.start("asks", 0)
	asked := b.request(run.ID).ID
	b.forge("UPDATE runs SET held_code = 'stuck', held_since = 1 WHERE id = ?", string(run.ID))
	b.restart(func(*engine.Config) {})
	b.advance(2 * time.Minute)
	if req := b.requestByID(asked); req.Status != holdshort.RequestExpired {
		t.Errorf("the request of a held run is %s after its time", req.Status)
	}
	b.wantHeld(run.ID, holdshort.Stuck)
	if _, err := b.Retry(t.Context(), tenant, run.ID, ops); err != nil {
		t.Fatal(err)
	}
	b.settle()
	b.want(run.ID, holdshort.RunFailed, "")
}

// TestEndedRunQueuedAgain: a run that has ended and is queued again behind the engine's back is held. Others are claimed, and the server
// starts.
func TestEndedRunQueuedAgain(t *testing.T) {
	for name, statement := range map[string]string{
		"pruned": "UPDATE runs SET status = 'queued', pruned = 1 WHERE id = ?",
		"erased": "UPDATE runs SET status = 'queued', fixed = substr(fixed, 1, 0), body = substr(body, 1, 0) WHERE id = ?",
		"ended":  "UPDATE runs SET status = 'queued' WHERE id = ?",
	} {
		t.Run(name, func(t *testing.T) {
			onDamagedStores(t, func(e *damageEnv) {
				id := e.hear(e.chat(), "first").Run
				if err := e.approve(id); err != nil {
					e.Fatal(err)
				}
				e.damage(statement, string(id))
				e.restart()
				if run := e.run(id); run.Held == nil || run.Held.Code != holdshort.Corrupt || e.paid.n() != 1 {
					e.Errorf("the run is %s, held %+v, after %d payments", run.Status, run.Held, e.paid.n())
				}
				beside, err := e.Start(e.Context(), tenant, engine.StartInput{Flow: "clerk", User: "carl", Input: []byte(`{"text":"beside"}`)})
				if err != nil {
					e.Fatal(err)
				}
				e.settle()
				e.request(beside.ID)
			})
		})
	}
}

// asksOwner makes the session's user the one who is asked.
func (e *damageEnv) asksOwner() {
	e.Helper()
	e.conf.Policy = policy.Func(func(_ context.Context, c policy.Call) (policy.Verdict, error) {
		if c.Tool == "refund" {
			return policy.Verdict{Decision: policy.Ask, Audience: holdshort.Audience{Owner: true}}, nil
		}
		return policy.Verdict{Decision: policy.Allow}, nil
	})
	e.restart()
}

// TestDamagedPrompt: a prompt that cannot be read, or whose run cannot be read, does not silence its session. The run that waits for it is
// held and can be canceled, and the session can be deleted.
func TestDamagedPrompt(t *testing.T) {
	for name, statement := range map[string]string{
		"the request":        "UPDATE requests SET fixed = ? WHERE run_id = ?",
		"the run":            "UPDATE runs SET fixed = ? WHERE id = ?",
		"the run's progress": "UPDATE runs SET body = ? WHERE id = ?",
	} {
		t.Run(name, func(t *testing.T) {
			onDamagedStores(t, func(e *damageEnv) {
				e.asksOwner()
				s := e.page()
				id := e.hear(s, "first").Run
				e.damage(statement, []byte("{"), string(id))
				e.restart()
				got := e.hear(s, "yes")
				if got.Outcome != engine.RoutedStart || got.Run == id {
					e.Fatalf("the next message: %+v", got)
				}
				e.wantHeld(id, 2)
				e.cancels(id)
				if n := e.count("SELECT COUNT(*) FROM requests WHERE run_id = ? AND status = 'open'", string(id)); n != 0 {
					e.Errorf("%d requests of the canceled run are open", n)
				}
				if n := e.count("SELECT COUNT(*) FROM seats WHERE id IN (SELECT id FROM requests WHERE run_id = ?)", string(id)); n != 0 {
					e.Errorf("%d seats of the canceled run's requests are left", n)
				}
				// A bare yes could be meant for the prompt that was just canceled.
				if got := e.hear(s, e.request(got.Run).Code+" yes"); got.Outcome != engine.RoutedDecision {
					e.Errorf("an answer to the next run: %+v", got)
				}
				if _, err := e.DeleteSession(e.Context(), tenant, s.ID, ops); err != nil {
					e.Error(err)
				}
			})
		})
	}
}

// TestDamagedDigestOfASession: a message for a run whose digest is damaged starts a new run.
func TestDamagedDigestOfASession(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		s := e.chat()
		id := e.hear(s, "first").Run
		e.damage("UPDATE runs SET recorded = 'x' WHERE id = ?", string(id))
		e.restart()
		if got := e.hear(s, "second"); got.Outcome != engine.RoutedStart || got.Run == id {
			e.Fatalf("%+v", got)
		}
		e.wantHeld(id, 2)
	})
}

// TestDamagedSession: a session or a delivery that cannot be read does not keep a run from being canceled.
func TestDamagedSession(t *testing.T) {
	for name, statement := range map[string]string{
		"the session":  "UPDATE sessions SET body = ? WHERE id = ?",
		"the delivery": "UPDATE outbox SET body = ? WHERE session_id = ?",
	} {
		t.Run(name, func(t *testing.T) {
			onDamagedStores(t, func(e *damageEnv) {
				e.asksOwner()
				s := e.chat()
				id := e.hear(s, "first").Run
				e.damage(statement, []byte("{"), string(s.ID))
				e.restart()
				e.cancels(id)
			})
		})
	}
}

// TestTakenMessageIsNotHandedOn: a run whose journal lost the entry that says that a message was taken hands nothing on when it is canceled.
func TestTakenMessageIsNotHandedOn(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		e.conf.Flows = []flow.Flow{flow.New("clerk", 1, func(c *flow.Context, _ struct{}) (string, error) {
			if _, err := flow.Wait[any](c, "message", 0); err != nil {
				return "", err
			}
			_, err := flow.Call[any](c, "pay", "refund", refund{Order: "77", Amount: 12})
			return "", err
		})}
		e.restart()
		s := e.chat()
		id := e.hear(s, "first").Run
		if got := e.hear(s, "pay"); got.Outcome != engine.RoutedPost {
			e.Fatalf("%+v", got)
		}
		e.damage("DELETE FROM journal WHERE run_id = ? AND kind = 'taken'", string(id))
		e.restart()
		if err := e.approve(id); err != nil {
			e.Fatal(err)
		}
		e.wantHeld(id, 0)
		e.cancels(id)
		if n := e.count("SELECT COUNT(*) FROM runs WHERE session_id = ?", string(s.ID)); n != 1 {
			e.Errorf("%d runs: what was taken was handed on", n)
		}
	})
}
