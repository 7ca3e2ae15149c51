package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// look gathers what is known of the calls: journal, ledger, decision, policy.
func (s *slice) look(ctx context.Context, key string, invocations []flow.Invocation) (calls []*call, open *holdshort.Request, err error) {
	calls = make([]*call, len(invocations))
	approvals, err := s.approvalsOf(key)
	if err != nil {
		return nil, nil, err
	}
	for i, in := range invocations {
		c := &call{Invocation: in, step: key, retried: s.journal.voided[key]+s.journal.voided[in.Key] > 0}
		if e, ok := s.journal.get(in.Key); ok {
			c.entry = &e
		}
		c.tool, c.known = s.e.tools[in.Tool]
		c.decide(approvals, s.journal.voided[in.Key])
		calls[i] = c
	}
	if s.isFresh() {
		s.judge(calls)
		return calls, nil, nil
	}
	err = s.e.store.View(ctx, s.tenant, func(tx store.ReadTx) error {
		open = nil
		run, err := tx.Run(s.id)
		if err != nil {
			return err
		}
		if run.Wake != s.wake { // something arrived since the journal was loaded: it may be a rejection
			return errMoved
		}
		if req, err := tx.RequestAt(s.id, key); err == nil {
			open = &req
		} else if holdshort.CodeOf(err) != holdshort.NotFound {
			return err
		}
		for _, c := range calls {
			c.prior = nil
			if c.entry != nil {
				continue
			}
			op, err := tx.Operation(s.operationID(c.Key))
			if err == nil {
				c.prior = &op
				err = errors.Join(c.recall(tx), s.reread(tx, run, c))
			}
			if err != nil && c.prior != nil {
				return err
			} else if err != nil && holdshort.CodeOf(err) != holdshort.NotFound {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errMoved) {
		return nil, nil, s.lookAgain()
	}
	if err != nil {
		return nil, nil, err
	}
	s.judge(calls)
	return calls, open, nil
}

// reread looks whether the outcome of an operation that is closed came into the journal after that was loaded: a process that lost the run
// still records what its call brought.
func (s *slice) reread(tx store.ReadTx, run holdshort.Run, c *call) error {
	if c.prior.Status != holdshort.OperationDone && c.prior.Status != holdshort.OperationFailed {
		return nil
	}
	entries, err := tx.Journal(s.id)
	if err == nil {
		err = s.e.verify(tx, run, entries)
	}
	if err != nil {
		return err
	}
	if e, ok := newJournal(entries).get(c.Key); ok {
		s.journal.add(e)
		c.entry = &e
	}
	return nil
}

// recall finds what the last attempt ran with: what is tried again is that, whatever the flow had asked for.
func (c *call) recall(tx store.ReadTx) error {
	if c.prior.Status != holdshort.OperationFailed || c.prior.RequestID == "" {
		return nil
	}
	req, err := tx.Request(c.prior.RequestID)
	if err != nil {
		return err
	}
	d, err := tx.Decision(req.ID)
	if err != nil {
		return err
	}
	if action := actionOf(req, c.ID); action != nil {
		c.ran = action.Args
	}
	for _, decided := range d.Calls {
		if decided.CallID == c.ID && decided.Action == holdshort.Edit {
			c.ran = decided.Args
		}
	}
	if string(c.ran) == string(c.Args) {
		c.ran = nil
	}
	return nil
}

func (s *slice) isFresh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh
}

// approvalsOf gives the decisions about a batch, oldest first. One that expired and fails its run does so here, before anything runs.
func (s *slice) approvalsOf(key string) ([]answered, error) {
	var answers []answered
	for _, entry := range s.journal.approvals(key) {
		if flow.Fatal(entry) {
			return nil, flow.Fail(*entry.Error)
		}
		var a flow.Answer
		if err := json.Unmarshal(entry.Outcome, &a); err != nil {
			return nil, flow.Hold(holdshort.Corrupt, err)
		}
		answers = append(answers, answered{a, entry.Attempt})
	}
	return answers, nil
}

type answered struct {
	flow.Answer
	attempt int
}

// decide finds what people said about the call: the newest decision that names it, else the newest about its batch.
func (c *call) decide(answers []answered, since int) {
	for i := range answers {
		if answers[i].attempt < since {
			continue // it was tried again since
		}
		a := &answers[i].Answer
		named := slices.IndexFunc(a.Calls, func(d holdshort.CallDecision) bool { return d.CallID == c.ID })
		switch {
		case named >= 0:
			c.approval, c.decided = a, &a.Calls[named]
		case c.decided == nil:
			c.approval = a
		}
	}
}

func (s *slice) judge(calls []*call) {
	now, run := s.Now(), s.snapshot()
	for _, c := range calls {
		if c.entry == nil {
			c.defined = c.tool.Defined()
			args := c.Args
			if len(c.ran) > 0 {
				args = c.ran // that is what would be tried again
			}
			c.verdict = policy.Judge(s.e.hookContext(), s.e.config.Policy, s.e.judged(s.tenant, &run, c.Key, c.Tool, args, now))
		}
	}
}

// hookContext is for a policy: it computes, it does not wait.
func (e *Engine) hookContext() context.Context { return context.Background() }

// beyond is more than any limit, and can be added up without an end.
const beyond = math.MaxInt64 >> 16

// costOf fails closed: what cannot be reckoned costs more than any limit.
func costOf(t tool.Tool, args json.RawMessage) (cost int64) {
	if t.Cost == nil {
		return 0
	}
	defer func() {
		if recover() != nil || cost < 0 || cost > beyond {
			cost = beyond
		}
	}()
	return t.Cost(args)
}

// changed fails closed too: what cannot say whether it is still itself is not.
func changed(t tool.Tool) (is bool) {
	if t.Changed == nil {
		return false
	}
	defer func() {
		if recover() != nil {
			is = true
		}
	}()
	return t.Changed()
}

// judged is what a policy is asked about a call at a step of a run.
func (e *Engine) judged(tenant holdshort.TenantID, run *holdshort.Run, step, name string, args json.RawMessage, now time.Time) policy.Call {
	t, known := e.tools[name]
	c := policy.Call{Tenant: tenant, Tool: name, Args: args, Known: known, Effect: string(t.Effect), Reversible: string(t.Reversible), Idempotent: t.Idempotent, Now: now}
	c.Cost, c.Guarded, c.Changed = costOf(t, args), t.Guarded, changed(t)
	if h := t.Hints; h != nil {
		c.Hinted, c.Trusted, c.ReadOnly, c.Destroys = true, h.Trusted, h.ReadOnly, h.Destructive
	}
	if run != nil {
		c.Agent, c.Flow, c.User, c.Session, c.Run = cmp.Or(flow.AgentOf(step), run.Agent), run.Flow, run.User, run.SessionID, run.ID
	}
	return c
}

// snapshot is the run as it was last stored.
func (s *slice) snapshot() holdshort.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}
