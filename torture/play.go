package torture

import (
	"context"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// lets reports whether the scenario's policy lets a tool run unasked.
func (w *World) lets(tool string) bool {
	known := policy.Call{Tenant: w.Tenant, Tool: tool, Known: true, Effect: "write"}
	return policy.Judge(context.Background(), w.scenario.Policy, known).Decision == policy.Allow
}

// Result is what one pass came to.
type Result struct {
	Calls   []string // of the store, by the first engine
	Reached string   // the call that met the fault; empty: none did
}

// Play plays a scenario once on a bed, with a fault or none, and counts what was not kept in the report.
func Play(ctx context.Context, s Scenario, bed Bed, tenant holdshort.TenantID, f Fault, to *Report) (Result, error) {
	w := newWorld(s, bed, tenant)
	if f.Mode.frozen() {
		w.timeout, w.frozen = shortTimeout, true
	}
	if err := w.begin(); err != nil {
		return Result{}, err
	}
	first, err := w.seat(f, false)
	if err != nil {
		return Result{}, err
	}
	if f.Mode.frozen() {
		err = w.freeze(first)
	} else {
		err = w.crash(first)
	}
	if err != nil {
		return Result{}, err
	}
	facts, err := w.gather(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("look at the end: %w", err)
	}
	w.check(facts)
	if facts.verdict.Faults != nil {
		w.Violate(Audited, "the log does not verify: %+v", facts.verdict.Faults)
	}
	if !f.Mode.frozen() && !s.Claimers {
		w.checkUnknown(facts)
	}
	w.tally(facts)
	to.add(fmt.Sprintf("%s (%s)", f, first.node.met()), w.Report)
	return Result{first.node.counted(), first.node.met()}, nil
}

// begin lets happen what happened before.
func (w *World) begin() (err error) {
	if w.scenario.Before == nil {
		return nil
	}
	defer func() {
		if p := recover(); p == any(wrong{}) {
			err = fmt.Errorf("what happens before did not: %v", w.Faults)
		} else if p != nil {
			panic(p)
		}
	}()
	return w.scenario.Before(w)
}

// crash drives; if the engine died on the way, another one comes, takes up what was left, and drives on.
func (w *World) crash(h *Hand) error {
	again := h.node.fault.Again
	for alive := true; ; {
		alive = h.drive()
		dead := h.node.isDead()
		w.leave(h)
		if alive || !dead {
			return nil
		}
		w.countLost()
		next, err := w.seat(Fault{Point: again, Mode: h.node.fault.Mode}, false)
		if err != nil {
			return err
		}
		again = 0
		if !next.node.Exclusive() {
			w.bed.Advance(leaseTime + toolTimeout + time.Second)
		} else if err := next.Engine.Recover(next.ctx); err != nil && !next.node.isDead() && holdshort.CodeOf(err) != holdshort.Quarantined {
			return fmt.Errorf("recover: %w", err)
		}
		h = next
	}
}

// freeze drives until the engine stands still; then another one takes over and drives on, to the end or until it stands still too; then the
// first goes on where it was, then the second.
func (w *World) freeze(h *Hand) error {
	over := h.driving()
	select {
	case <-over:
		w.leave(h)
		return nil
	case <-h.node.froze:
		h.node.flights.Wait()
	}
	w.outside.setStill()
	next, err := w.seat(Fault{Point: h.node.fault.Again, Mode: h.node.fault.Mode}, true)
	if err != nil {
		close(h.node.thaw)
		<-over
		return err
	}
	w.bed.Advance(2*leaseTime + 2*toolTimeout)
	nextOver := next.driving()
	select {
	case <-nextOver:
	case <-next.node.froze:
		next.node.flights.Wait()
		w.bed.Advance(2*leaseTime + 2*toolTimeout)
	}
	w.outside.setZombie(true)
	for _, frozen := range []*Hand{h, next} {
		<-time.After(frozen.node.rest())
		close(frozen.node.thaw)
		if frozen == h {
			<-over
		} else {
			<-nextOver
		}
	}
	w.leave(h)
	w.outside.setZombie(false)
	next.drive()
	w.leave(next)
	return nil
}

// driving drives beside; the channel is closed when that is over.
func (h *Hand) driving() <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		h.drive()
	}()
	return over
}

// leave waits until nothing of an engine is executed any more.
func (w *World) leave(h *Hand) {
	if err := h.Engine.Drain(); err != nil {
		w.Violate(WaitingFree, "an engine does not come to an end: %v", err)
	}
}

// countLost counts the operations that a crash left under way: exactly those, if their tools cannot be called again, are unknown later.
func (w *World) countLost() {
	for _, versions := range w.witness.operations() {
		if last := versions[len(versions)-1].row; last.Status == holdshort.OperationStarted && last.RunID != "" {
			w.lost[attempt{last.ID, last.Attempt}] = true
		}
	}
}

// checkUnknown: nobody guesses, and nobody gives up what is known.
func (w *World) checkUnknown(f *Facts) {
	calls, _ := w.outside.seen()
	for _, c := range calls {
		if c.lost {
			w.lost[attempt{c.operation, c.attempt}] = true
		}
	}
	want := len(w.lost)
	if w.repeats() {
		want = 0
	}
	if got := f.Count("operation.unknown"); got != want {
		w.Violate(AtMostOnce, "%d operations were unknown for a while; it should be %d: %v", got, want, w.lost)
	}
}

// repeats: all tools of the scenario can be called again.
func (w *World) repeats() bool {
	for _, t := range w.tools() {
		if !t.RepeatSafe() {
			return false
		}
	}
	return true
}

func (w *World) tally(f *Facts) {
	calls, effects := w.outside.seen()
	line := Line{Passes: 1, Runs: len(f.Runs), Pauses: len(f.Requests), Decisions: len(f.Decisions), Calls: len(calls), Unknowns: f.Count("operation.unknown")}
	for _, n := range effects {
		line.Effects += n
	}
	w.Count(line)
}

// add takes over what one pass counted.
func (r *Report) add(where string, pass *Report) {
	r.Count(pass.Line)
	for _, fault := range pass.Faults {
		r.mu.Lock()
		r.tell(where + ": " + fault)
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for p, n := range pass.Violations {
		r.violate(p, n)
	}
}
