package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

// slice is one run in the hands of this node, from its claim until it waits or ends. What the flow records is kept back and stored with the
// next commit: of a pause, of a tool that starts, of the end, at once for what is dear, and whenever the slice has gone on for a while.
type slice struct {
	e      *Engine
	tenant holdshort.TenantID
	id     holdshort.RunID
	flow   flow.Flow
	slot   *slot
	epoch  int64 // of our lease: whoever has a newer one has the run

	ctx  context.Context // ends when the run is no longer ours, or the engine stops
	quit context.CancelCauseFunc

	commits sync.Mutex // one commit at a time
	mu      sync.Mutex
	run     holdshort.Run // as it was last stored
	fresh   bool          // never stored yet
	key     *OnceKey      // under which its start is answered: stored with its first commit
	wake    int64         // as the claim read it
	journal *journal
	pending pending
	stored  time.Time // when the last commit was, by this process's clock
	active  time.Time // when the flow last did anything
	busy    int       // effects under way
	stale   bool      // the journal that it replays is no longer the newest

	over  chan struct{} // closed when nothing of it is executed any more
	first chan struct{} // closed when the run is stored for the first time, or cannot be
	err   error         // why it cannot
}

// unsaved is how long recorded steps may be kept back.
const unsaved = 20 * time.Millisecond

var (
	errStopping  = &holdshort.Error{Code: holdshort.LeaseLost, Message: "the engine stops; the run is handed back"}
	errLeaseLost = &holdshort.Error{Code: holdshort.LeaseLost, Message: "the run is no longer this node's"}
)

func (e *Engine) newSlice(tenant holdshort.TenantID, run holdshort.Run, f flow.Flow, s *slot) *slice {
	now := time.Now()
	sl := &slice{e: e, tenant: tenant, id: run.ID, flow: f, slot: s, epoch: run.Lease.Epoch, run: run, wake: run.Wake, stored: now, active: now, over: make(chan struct{}), first: make(chan struct{})}
	sl.ctx, sl.quit = context.WithCancelCause(context.Background())
	return sl
}

// launch executes a run that was claimed for this node.
func (e *Engine) launch(tenant holdshort.TenantID, t claimed) {
	f, ok := e.flowFor(t.run)
	if !ok {
		t.slot.spare()
		return
	}
	s := e.newSlice(tenant, t.run, f, t.slot)
	s.journal = t.journal
	close(s.first)
	e.execute(s)
}

func (e *Engine) execute(s *slice) {
	s.slot.used = true
	e.mu.Lock()
	e.running[runKey{s.tenant, s.id}] = s
	e.mu.Unlock()
	if e.draining.Load() { // it was claimed at the last moment
		s.quit(errStopping)
	}
	e.wg.Go(func() {
		defer func() {
			e.mu.Lock()
			if e.running[runKey{s.tenant, s.id}] == s {
				delete(e.running, runKey{s.tenant, s.id})
			}
			e.mu.Unlock()
			s.quit(errLeaseLost)
			s.slot.free()
			close(s.over)
		}()
		s.loop()
	})
}

// loop executes the flow, again from the top whenever something arrived while it was about to wait.
func (s *slice) loop() {
	for {
		if !s.isFresh() && s.journal == nil {
			if err := s.load(); err != nil {
				if s.isStopping() && s.snapshot().Held == nil {
					err = s.handBack()
				}
				if err != nil {
					s.gaveUp(err)
				}
				return
			}
		} else if s.journal == nil {
			s.journal = newJournal(nil)
		}
		run := s.snapshot()
		grace := s.storeSoon()
		ctx, rested := s.e.config.Observer.Slice(s.ctx, run)
		ending := s.flow.Execute(ctx, s, run.Input)
		grace()
		if ending.Unwound != "" {
			s.e.log.Warn("a deferred function of a flow panicked while its run was suspended", append(runFields(run), "stack", ending.Unwound)...)
		}
		again, err := s.finish(ending)
		rested(s.snapshot(), err)
		if cannot, ok := unstorable(err); ok {
			s.forget()
			again, err = s.finish(cannot)
		}
		if err != nil {
			s.gaveUp(err)
			return
		}
		if !again {
			return
		}
		s.journal, s.stale = nil, false // with what arrived meanwhile
	}
}

// load reads the journal. One that cannot be read holds the run: nothing may run on a part of it.
func (s *slice) load() error {
	var entries []holdshort.JournalEntry
	err := s.e.store.View(s.ctx, s.tenant, func(tx store.ReadTx) (err error) {
		if entries, err = tx.Journal(s.id); err != nil {
			return err
		}
		if s.e.verify(tx, s.snapshot(), entries) == nil {
			return nil
		}
		run, err := tx.Run(s.id) // something may have been added since this slice knew the run
		if err != nil {
			return err
		}
		return s.e.verify(tx, run, entries)
	})
	if errors.Is(err, holdshort.Corrupt) || errors.Is(err, holdshort.KeyUnknown) || errors.Is(err, holdshort.MACInvalid) {
		_, held := s.finish(flow.Ending{State: flow.Held, Code: holdshort.CodeOf(err), Err: err})
		return errors.Join(err, held)
	}
	s.journal = newJournal(entries)
	return err
}

// gaveUp leaves the run to whoever claims it when the lease has ended.
func (s *slice) gaveUp(err error) {
	s.mu.Lock()
	fresh := s.fresh
	s.mu.Unlock()
	if fresh {
		s.err = err
		close(s.first)
		return
	}
	if !errors.Is(err, holdshort.LeaseLost) {
		s.e.log.Warn("a run was given up for now", append(runFields(s.snapshot()), "error", err)...)
	}
}

// finish stores how the execution came to rest. again: something arrived meanwhile, and the run is still ours.
func (s *slice) finish(ending flow.Ending) (again bool, err error) {
	ctx := context.WithoutCancel(s.ctx)
	switch ending.State {
	case flow.Completed:
		return false, s.commit(ctx, func(c *change, run *holdshort.Run) error {
			run.Result = ending.Result
			return c.end(run, holdshort.RunComplete, "run.completed", "system:worker", "", nil)
		})
	case flow.Failed:
		return false, s.commit(ctx, func(c *change, run *holdshort.Run) error {
			run.Error = ending.Failure
			return c.end(run, holdshort.RunFail, "run.failed", "system:worker", ending.Failure.Code, nil)
		})
	case flow.Held:
		s.e.log.Error("a run is held", append(runFields(s.snapshot()), "code", ending.Code, "error", ending.Err)...)
		return false, s.commit(ctx, func(c *change, run *holdshort.Run) error { return c.hold(run, ending.Code) })
	case flow.Suspended:
		err = s.commit(ctx, func(c *change, run *holdshort.Run) (err error) {
			again, err = s.suspend(c, run)
			return err
		})
		s.wake = s.snapshot().Wake // what the journal that is loaded next contains, at least
		if err == nil && !again {
			s.e.memory.keep(s.tenant, s.snapshot(), s.journal)
		}
		return again, err
	}
	if s.isStopping() {
		return false, s.handBack()
	}
	return false, ending.Err
}

// isStopping reports that the engine stops and that the run is still ours.
func (s *slice) isStopping() bool {
	return s.e.draining.Load() && !errors.Is(context.Cause(s.ctx), errLeaseLost)
}

// handBack queues the run, so that another node takes it up at once.
func (s *slice) handBack() error {
	return s.commit(context.WithoutCancel(s.ctx), func(c *change, run *holdshort.Run) error {
		next, err := run.Apply(holdshort.RunRequeue, c.now)
		next.Claims = max(next.Claims-1, 0) // handed back in order: nobody was killed
		*run = next
		c.ring(topicRuns)
		return err
	})
}

// suspend waits, unless something woke the run since it was claimed: then it stays ours and is executed again.
func (s *slice) suspend(c *change, run *holdshort.Run) (again bool, err error) {
	wake := s.wake
	s.mu.Lock()
	if s.stale {
		wake = -1
	}
	s.mu.Unlock()
	next, err := run.Suspend(wake, c.now)
	if err != nil {
		return false, err
	}
	next.Claims = 0
	if next.Status == holdshort.RunWaiting {
		*run = next
		c.ring(runTopic(run.ID))
		c.later = func() error { return c.event("run.waiting", run, nil, "system:worker", "", nil) }
		return false, nil
	}
	if next, err = next.Apply(holdshort.RunClaim, c.now); err != nil {
		return false, err
	}
	next.Claims = 0
	next.Lease.Owner, next.Lease.Until = s.e.owner, c.now.Add(s.e.config.Lease)
	*run = next
	return true, nil
}
