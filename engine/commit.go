package engine

import (
	"context"
	"errors"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

// storeSoon stores a new run whose flow goes on for a while before it pauses or ends, so that whoever started it need not wait for that.
func (s *slice) storeSoon() (stop func()) {
	if !s.fresh {
		return func() {}
	}
	done := make(chan struct{})
	timer := time.AfterFunc(s.e.config.Grace, func() {
		defer close(done)
		if s.isFresh() {
			_ = s.commit(context.WithoutCancel(s.ctx), nil) // an error shows in the next commit
		}
	})
	return func() {
		if !timer.Stop() {
			<-done // what comes after reads and writes what that commit does
		}
	}
}

// unstorable tells errors that no second try would change: what the flow recorded cannot be stored as it is.
func unstorable(err error) (flow.Ending, bool) {
	var signal *flow.Signal
	if errors.As(err, &signal) {
		return flow.Ending{State: signal.State, Code: signal.Code, Failure: signal.Failure, Err: signal.Err}, true
	}
	switch code := holdshort.CodeOf(err); code {
	case holdshort.TooLarge, holdshort.Invalid, holdshort.NotCanonical, holdshort.DoesNotFit, holdshort.LimitReached:
		return flow.Ending{State: flow.Failed, Failure: &holdshort.Failure{Code: code, Message: err.Error()}}, true
	}
	return flow.Ending{}, false
}

// forget drops what was recorded and cannot be stored.
func (s *slice) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = pending{}
}

// commit stores what was recorded since the last one and the run as final leaves it (nil: as it is). It fails with LeaseLost if the run is
// no longer ours.
func (s *slice) commit(ctx context.Context, final func(c *change, run *holdshort.Run) error, also ...store.Row) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	s.mu.Lock()
	batch, base, fresh := s.pending.cut(), s.run, s.fresh
	s.mu.Unlock()
	if fresh {
		ctx = s.key.into(ctx)
	}
	var run holdshort.Run
	look := false // the first look is at what we stored last: if nobody wrote it since, it needs no reading
	err := s.e.update(ctx, s.tenant, func(c *change) (err error) {
		run = base
		if look && !fresh {
			if run, err = c.Run(s.id); err != nil {
				return err
			}
		}
		look = true
		if run.Lease.Epoch != s.epoch || run.Status != holdshort.RunRunning {
			return errLeaseLost
		}
		if fresh {
			run.CreatedAt, run.UpdatedAt = c.now, c.now
		}
		return s.write(c, &run, batch, fresh, final)
	}, append(s.rows(base, batch), also...)...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.pending.putBack(batch)
		if errors.Is(err, holdshort.LeaseLost) {
			s.quit(errLeaseLost)
		}
		if isReplayed(err) { // another call under the same key started it: nothing of this one stays
			s.quit(err)
		}
		return err
	}
	run.Revision++
	s.run, s.epoch, s.stored = run, run.Lease.Epoch, time.Now()
	if s.fresh {
		s.fresh = false
		close(s.first)
	}
	return nil
}

func (s *slice) rows(run holdshort.Run, batch pending) []store.Row {
	rows := []store.Row{store.RunRow(s.id)}
	if run.SessionID != "" && (run.Revision == 0 || batch.speaks()) {
		rows = append(rows, store.SessionRow(run.SessionID))
	}
	return rows
}

func (s *slice) write(c *change, run *holdshort.Run, batch pending, fresh bool, final func(*change, *holdshort.Run) error) error {
	if fresh {
		if err := c.activate(run); err != nil {
			return err
		}
		if err := c.event("run.created", run, nil, starter(*run), "", nil); err != nil {
			return err
		}
	}
	if len(batch.entries) > 0 {
		run.Claims = 0 // that is progress
	}
	c.batch = true
	if final != nil { // first, because it reads
		if err := final(c, run); err != nil {
			return err
		}
	} else if fresh {
		if err := c.event("run.started", run, nil, "system:worker", "", nil); err != nil {
			return err
		}
	}
	if run.Status.Ended() {
		batch.drafts, batch.alarms = nil, nil // what is over waits for nothing
	}
	if run.Wake != s.wake {
		batch.drafts = nil // something arrived since the journal was loaded: it may be the answer, and the flow looks again before it waits
	}
	if err := batch.write(c, run, fresh); err != nil {
		return err
	}
	if c.later != nil {
		if err := c.later(); err != nil {
			return err
		}
	}
	if run.Status == holdshort.RunRunning {
		run.Lease.Until = latest(run.Lease.Until, c.now.Add(s.e.config.Lease))
	}
	run.UpdatedAt = c.now
	return c.PutRun(run)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func starter(run holdshort.Run) string {
	if run.User != "" {
		return run.User
	}
	return "system:start"
}
