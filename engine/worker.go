package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

// tickWorker claims runs that can go on, as many as there is room for, and executes them.
func (e *Engine) tickWorker(ctx context.Context) (int, error) { return e.claimRuns(ctx, false) }

// claimRuns takes runs in one transaction. abandoned also takes those that a process before this one left behind: nobody else can have the
// store open, so nobody runs them.
func (e *Engine) claimRuns(ctx context.Context, abandoned bool) (int, error) {
	var spare []*slot
	for len(spare) < claimsAtOnce {
		s := e.slot()
		if s == nil {
			break
		}
		spare = append(spare, s)
	}
	defer func() {
		for _, s := range spare {
			s.spare()
		}
	}()
	claim := store.RunClaim{Flows: e.claimable(), Limit: len(spare), Abandoned: abandoned, Owner: e.owner}
	if len(spare) == 0 || len(claim.Flows) == 0 {
		return 0, nil
	}
	// The transaction may run more than once, and hand out others the second time. Only what the last pass saw counts: that many of the last notes.
	type note struct {
		tenant holdshort.TenantID
		run    holdshort.Run
		ours   bool
		change *change
	}
	var notes []note
	full := e.fullness()
	n, err := e.store.System().ClaimRuns(ctx, claim, func(tx store.Tx, run holdshort.Run) error {
		c := &change{Tx: tx, e: e, now: tx.Now()}
		e.clock.saw(c.now)
		ours, err := c.takeOver(&run, func(f flow.Flow) bool { return full(f, tx.Tenant()) })
		notes = append(notes, note{tx.Tenant(), run, ours, c})
		return err
	})
	if err != nil {
		return 0, err
	}
	taken := 0
	var topics []string
	for _, note := range notes[max(len(notes)-n, 0):] {
		e.report(note.change)
		topics = append(topics, note.change.topics...)
		if !note.ours {
			continue
		}
		f, _ := e.flowFor(note.run)
		e.mu.Lock()
		spare[taken].count(e.caps(f, note.tenant))
		e.mu.Unlock()
		e.launch(note.tenant, claimed{run: note.run, slot: spare[taken]})
		topics = append(topics, runTopic(note.run.ID))
		taken++
	}
	e.wake(topics)
	return taken, nil
}

// fullness answers whether there is room for another run of a flow and a tenant, counting what it granted already. A transaction that runs a
// second time may be granted less than there is: the next tick takes the rest.
func (e *Engine) fullness() func(flow.Flow, holdshort.TenantID) bool {
	granted := map[string]int{}
	return func(f flow.Flow, tenant holdshort.TenantID) bool {
		caps := e.caps(f, tenant)
		e.mu.Lock()
		defer e.mu.Unlock()
		for name, most := range caps {
			if e.busy[name]+granted[name] >= most {
				return false
			}
		}
		for name := range caps {
			granted[name]++
		}
		return true
	}
}

const claimsAtOnce = 32

// claimable names the flow versions that this node can run now.
func (e *Engine) claimable() []store.FlowVersion {
	var list []store.FlowVersion
	e.mu.Lock()
	defer e.mu.Unlock()
	for v, f := range e.flows {
		if _, ok := e.flowFor(holdshort.Run{Flow: v.Flow, FlowVersion: v.Version}); ok && (f.Concurrency == 0 || e.busy["flow "+f.Title()] < f.Concurrency) {
			list = append(list, v)
		}
	}
	return list
}

// takeOver claims one run: queued, or left behind by a node that is gone. A run that was claimed again and again without progress kills
// whoever runs it: it is held.
func (c *change) takeOver(run *holdshort.Run, room func(flow.Flow) bool) (bool, error) {
	if run.Claims >= c.e.config.Limits.Claims {
		if err := c.hold(run, holdshort.Poisoned); err != nil {
			return false, err
		}
		fields := append(runFields(*run), "code", holdshort.Poisoned)
		c.logs = append(c.logs, func() { c.e.log.Error("a run is held", fields...) })
		return false, c.PutRun(run)
	}
	left := run.Status == holdshort.RunRunning
	next := *run
	if left {
		var err error
		if next, err = next.Apply(holdshort.RunRequeue, c.now); err != nil {
			return false, err
		}
	}
	if ours, err := c.claim(&next, room); err != nil || !ours {
		return false, err
	}
	if err := c.PutRun(&next); err != nil {
		return false, err
	}
	next.Revision++
	*run = next
	event := "run.started"
	if left || run.Wake > 0 {
		event = "run.resumed"
	}
	return true, c.event(event, run, nil, "system:worker", "", nil)
}

// renew keeps the leases of runs that take long, and holds those whose own code has been silent for too long.
func (e *Engine) renew(ctx context.Context) {
	e.mu.Lock()
	slices := make([]*slice, 0, len(e.running))
	for _, s := range e.running {
		slices = append(slices, s)
	}
	e.mu.Unlock()
	for _, s := range slices {
		s.mu.Lock()
		old, silent := time.Since(s.stored) > e.config.Lease/3, s.busy == 0 && time.Since(s.active) > e.config.Limits.Silence
		s.mu.Unlock()
		switch {
		case silent:
			e.abandon(ctx, s)
		case old:
			if err := s.commit(ctx, nil); err != nil {
				e.log.Warn("renew the lease of a run", append(runFields(s.snapshot()), "error", err)...)
			}
		}
	}
}

// abandon holds a run whose code neither ends nor does anything. Its goroutine cannot be ended from outside; it is fenced off and left behind.
func (e *Engine) abandon(ctx context.Context, s *slice) {
	err := s.commit(ctx, func(c *change, run *holdshort.Run) error { return c.hold(run, holdshort.Stuck) })
	e.log.Error("a flow's code does not come back: its run is held", append(runFields(s.snapshot()), "code", holdshort.Stuck, "error", err)...)
	s.quit(errLeaseLost)
	e.mu.Lock()
	delete(e.running, runKey{s.tenant, s.id})
	e.mu.Unlock()
	s.slot.free()
}
