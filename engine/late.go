package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// lateness settles who deals with a tool's answer: the caller, or, after the caller left, the tool's own goroutine.
type lateness struct {
	mu            sync.Mutex
	left, arrived bool
}

// leave reports whether the caller may go; false: the answer is there.
func (l *lateness) leave() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = !l.arrived
	return l.left
}

// arrive reports whether the caller has left.
func (l *lateness) arrive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrived = true
	return l.left
}

func panicError(p any, stack string) error {
	return &holdshort.Error{Code: holdshort.Panicked, Message: fmt.Sprintf("the tool panicked: %v\n%s", p, stack)}
}

// tooLate takes an answer that came after its call was given up: it settles what is unknown. If somebody settled it otherwise, both facts
// stay, with an event.
func (e *Engine) tooLate(tenant holdshort.TenantID, a attempt, result tool.Result, fault error, t tool.Tool) {
	if fault != nil && (a.rerun || !t.IsDefinite(fault)) {
		return // still nobody knows
	}
	happened := fault == nil
	err := e.update(context.Background(), tenant, func(c *change) error {
		op, err := c.Operation(a.op.ID)
		if err != nil {
			return err
		}
		if op.Nonce != a.op.Nonce { // another attempt is under way, or over
			return c.disagree(c.originOf(op.RunID), op, happened)
		}
		return c.learn(op, happened, result, fault, "system:late")
	}, store.OperationRow(a.op.ID), store.RunRow(a.op.RunID))
	if err != nil {
		e.log.Error("a late answer of a tool could not be recorded", "run_id", a.op.RunID, "request_id", a.op.RequestID, "operation_id", a.op.ID, "error", err)
	}
}

// disagree leaves the fact that two processes say different things about one call.
func (c *change) disagree(run *holdshort.Run, op holdshort.Operation, happened bool) error {
	about := holdshort.Request{ID: op.RequestID, RunID: op.RunID}
	return c.event("operation.reconciled", run, &about, "system:late", "late_conflict", disagreement(op, happened))
}

func disagreement(op holdshort.Operation, happened bool) json.RawMessage {
	raw, _ := json.Marshal(struct { // two strings, a number and a flag: it cannot fail
		Operation string `json:"operation"`
		Status    string `json:"status"`
		Attempt   int    `json:"attempt"`
		Happened  bool   `json:"late_answer_happened"`
	}{op.ID, string(op.Status), op.Attempt, happened})
	return raw
}

// learn takes an answer that came after the call was given up, lets the run have it, and closes the question to a person.
func (c *change) learn(op holdshort.Operation, happened bool, result tool.Result, fault error, actor string) error {
	if op.Status == holdshort.OperationDone || op.Status == holdshort.OperationFailed || op.Settled {
		if (op.Status == holdshort.OperationDone) == happened && !op.Settled {
			return nil
		}
		return c.disagree(c.originOf(op.RunID), op, happened)
	}
	run, err := c.Run(op.RunID)
	if err != nil {
		return err
	}
	key := stepOf(op)
	hash, err := c.callHash(&run, key, op)
	if err != nil {
		return err
	}
	question, err := c.RequestAt(run.ID, key+reconcileSuffix)
	asked := err == nil
	if !asked && holdshort.CodeOf(err) != holdshort.NotFound {
		return err
	}
	if op.Status == holdshort.OperationStarted { // given up by its caller, not yet by the clock: its answer is in time
		call := &call{Invocation: flow.Invocation{Key: key, Hash: hash}}
		if _, err := c.outcome(&run, op, op.Nonce, call, happened, result, fault); err != nil {
			return err
		}
		return c.wakeUnlessOver(&run, actor)
	}
	if _, err := c.settle(&run, op, key, hash, happened, result, "", actor); err != nil {
		return err
	}
	if asked {
		closed, err := question.Cancel("settled", c.now)
		if err != nil {
			return err
		}
		if err := c.shut(&run, question, closed, "hitl.request.canceled", actor, "settled", nil); err != nil {
			return err
		}
	}
	return c.wakeUnlessOver(&run, actor)
}

func (c *change) wakeUnlessOver(run *holdshort.Run, actor string) error {
	if run.Status.Ended() {
		return c.PutRun(run)
	}
	return c.wake(run, nil, actor)
}

func startedKey(key string) string { return key + "!started" }

// callHash is the hash under which the flow asked for a call: the first attempt left it in the journal.
func (c *change) callHash(run *holdshort.Run, key string, op holdshort.Operation) (string, error) {
	entries, err := c.Journal(run.ID)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.Key == startedKey(key) {
			return e.Hash, nil
		}
	}
	return "", &holdshort.Error{Code: holdshort.MissingResult, Op: "settle operation " + op.ID, Message: "the run's journal is no longer kept", Hint: "start a new run"}
}

// stepOf is the journal key of an operation's call.
func stepOf(op holdshort.Operation) string {
	return strings.TrimPrefix(op.StepID, string(op.RunID)+"/")
}
