package torture

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// writes is a transaction that takes every row.
type writes struct{ store.Tx }

func (writes) PutRequest(holdshort.Request) error   { return nil }
func (writes) AddDecision(holdshort.Decision) error { return nil }

// TestCommitsNotedLate: a process may be slow to note that its request is committed. Others decide and make the approved call meanwhile, and
// that call is not one that the run made unasked.
func TestCommitsNotedLate(t *testing.T) {
	asked := holdshort.Request{ID: "req_1", RunID: "run_1", Kind: holdshort.Approval, Status: holdshort.RequestOpen, Actions: []holdshort.Action{{}}}
	made := tool.Call{RunID: "run_1", OperationID: "op_1"}
	for name, c := range map[string]struct {
		before, between bool // the call is made before the request is written, or between its commit and the note of it
		broken          bool
	}{
		"decided meanwhile":        {between: true},
		"made before it was asked": {before: true, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(Scenario{Agents: func(*World) []*agent.Agent { return nil }}, nil, "acme")
			call := func() {
				if _, err := w.outside.call(t.Context(), "refund", made, Works, false); err != nil {
					t.Fatal(err)
				}
			}
			var request, decision transaction
			if c.before {
				call()
			}
			if err := (&watched{writes{}, &request, w.witness}).PutRequest(asked); err != nil {
				t.Fatal(err)
			}
			if c.between {
				if err := (&watched{writes{}, &decision, w.witness}).AddDecision(holdshort.Decision{ID: "dec_1", RequestID: asked.ID}); err != nil {
					t.Fatal(err)
				}
				w.witness.committed(&decision)
				call()
			}
			w.witness.committed(&request)
			if w.Broken() != c.broken {
				t.Errorf("broken: %v, want %v\n%s", w.Broken(), c.broken, w.Report)
			}
		})
	}
}

// TestFrozenProcessCallsLate: what a process does that was given up and goes on says nothing about the process that has the run now.
func TestFrozenProcessCallsLate(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		o, n := newGround("acme"), &node{thaw: make(chan struct{})}
		close(n.thaw)
		ctx, _ := n.Slice(context.Background(), holdshort.Run{})
		n.stands = frozen
		if _, err := o.call(ctx, "look", tool.Call{RunID: "run_1", OperationID: "op_1"}, Works, false); err != nil {
			t.Fatal(err)
		}
		o.thinks(ctx, "model-1")
		want := busy{1, 1}
		if frozen {
			want = busy{}
		}
		if got := o.busy("run_1"); got != want {
			t.Errorf("frozen %v: the run did %+v, want %+v", frozen, got, want)
		}
		if o.effects["op_1"] != 1 {
			t.Errorf("frozen %v: the effect of the call is not counted", frozen)
		}
	}
}

// TestFrozenProcessSendsNothing: a process that stands still between its commit and the call of its tool sends nothing. Once it goes on, the
// time of the call is over. Else it would act after a person had looked, seen that nothing happened, and had it done again.
func TestFrozenProcessSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n := newGround("acme"), newNode(nil, nil, Fault{}, true)
		n.stands = true
		ctx, cancel := context.WithTimeout(t.Context(), shortTimeout)
		defer cancel()
		ctx, _ = n.Slice(ctx, holdshort.Run{})
		n.begins()
		var err error
		go func() {
			_, err = o.call(ctx, "refund", tool.Call{RunID: "run_1", OperationID: "op_1"}, Works, false)
		}()
		synctest.Wait()
		if len(o.calls) > 0 {
			t.Error("it calls while it stands still")
		}
		<-time.After(n.rest())
		close(n.thaw)
		synctest.Wait()
		if err == nil || o.effects["op_1"] != 0 {
			t.Errorf("it took effect %d times after its time, %v", o.effects["op_1"], err)
		}
	})
}

// TestTakeoverWaitsForCalls: a call that left its process before that froze has arrived when another process takes over.
func TestTakeoverWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(nil, nil, Fault{}, true)
		ctx, _ := n.Slice(t.Context(), holdshort.Run{})
		arrived, err := leaves(ctx)
		if err != nil {
			t.Fatal(err)
		}
		n.stands = true
		over := false
		go func() {
			n.flights.Wait()
			over = true
		}()
		synctest.Wait()
		if over {
			t.Error("another process takes over while the call is on its way")
		}
		arrived()
		synctest.Wait()
		if !over {
			t.Error("nobody takes over")
		}
	})
}
