package engine

import (
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// slot is the room to execute one run. Whoever wants to claim a run takes the slot first, so that nothing is claimed that cannot be executed.
type slot struct {
	e      *Engine
	counts []string // of the caps that it takes part in
	used   bool     // a slice has it now
	once   sync.Once
}

// slot gives room for a run, nil if there is none.
func (e *Engine) slot() *slot {
	if !e.enter() {
		return nil
	}
	select {
	case e.slots <- struct{}{}:
		return &slot{e: e}
	default:
		e.wg.Done()
		return nil
	}
}

// enter adds the caller to what the engine waits for when it stops, false if it is stopping. The caller calls e.wg.Done in the end. Goroutines
// that the engine waits for already need not enter before they start others.
func (e *Engine) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.draining.Load() {
		return false
	}
	e.wg.Add(1)
	return true
}

// caps are the limits that a run takes part in.
func (e *Engine) caps(f flow.Flow, tenant holdshort.TenantID) map[string]int {
	if f.Concurrency == 0 && e.config.Limits.TenantRuns == 0 {
		return nil
	}
	caps := map[string]int{}
	if f.Concurrency > 0 {
		caps["flow "+f.Title()] = f.Concurrency
	}
	if e.config.Limits.TenantRuns > 0 {
		caps["tenant "+string(tenant)] = e.config.Limits.TenantRuns
	}
	return caps
}

// reserve counts the slot for a flow and a tenant; false if one of them has as many runs as it may.
func (s *slot) reserve(f flow.Flow, tenant holdshort.TenantID) bool {
	e := s.e
	caps := e.caps(f, tenant)
	e.mu.Lock()
	defer e.mu.Unlock()
	s.uncount()
	for name, most := range caps {
		if e.busy[name] >= most {
			return false
		}
	}
	s.count(caps)
	return true
}

// count takes part in the caps, whether there is room or not.
func (s *slot) count(caps map[string]int) {
	for name := range caps {
		s.e.busy[name]++
		s.counts = append(s.counts, name)
	}
}

func (s *slot) uncount() {
	for _, name := range s.counts {
		s.e.busy[name]--
	}
	s.counts = nil
}

// spare gives the slot back unless a run is executed in it.
func (s *slot) spare() {
	if s != nil && !s.used {
		s.free()
	}
}

func (s *slot) free() {
	s.once.Do(func() {
		s.e.mu.Lock()
		s.uncount()
		s.e.mu.Unlock()
		<-s.e.slots
		s.e.wg.Done()
	})
}

// claim takes a queued run for this node within a transaction, if it can be executed here and now: if the node has its flow, and room for it
// says so. The caller stores the run.
func (c *change) claim(run *holdshort.Run, room func(flow.Flow) bool) (bool, error) {
	if run.Status != holdshort.RunQueued || run.Held != nil || run.Claims >= c.e.config.Limits.Claims {
		return false, nil
	}
	f, ok := c.e.flowFor(*run)
	if !ok || !room(f) {
		return false, nil
	}
	next, err := run.Apply(holdshort.RunClaim, c.now)
	if err != nil {
		return false, err
	}
	next.Lease.Owner, next.Lease.Until = c.e.owner, c.now.Add(c.e.config.Lease)
	*run = next
	return true, nil
}

// room is that of a slot.
func (c *change) room(s *slot) func(flow.Flow) bool {
	return func(f flow.Flow) bool { return s != nil && s.reserve(f, c.Tenant()) }
}

// wake lets a run go on: at once on this node if there is room, else on whichever claims it. It stores the run.
func (c *change) wake(run *holdshort.Run, s *slot, actor string) error {
	was, read := run.Status, *run
	next, err := run.Apply(holdshort.RunWake, c.now)
	if err != nil {
		return err
	}
	ours, err := c.claim(&next, c.room(s))
	if err != nil {
		return err
	}
	if err := c.PutRun(&next); err != nil {
		return err
	}
	next.Revision++
	*run = next
	if ours {
		c.taken = append(c.taken, claimed{run: next, slot: s, journal: c.remembered(read)})
	} else if next.Status == holdshort.RunQueued {
		c.ring(topicRuns)
	}
	c.ring(runTopic(run.ID))
	if was == holdshort.RunWaiting || ours {
		return c.event("run.resumed", run, nil, actor, "", nil)
	}
	return nil
}
