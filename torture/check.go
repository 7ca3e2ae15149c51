package torture

import (
	"bytes"
	"slices"

	"github.com/holdshort/holdshort"
)

// check holds what the database has in the end, and what every transaction wrote, against what the outside saw.
func (w *World) check(f *Facts) {
	w.checkPauses(f)
	w.checkDecisions(f)
	w.checkEffects(f)
	w.checkSteps()
	w.checkThoughts()
	w.audit()
	w.checkEvents(f)
	w.checkEnds(f)
	if w.scenario.Check != nil {
		w.scenario.Check(w, f)
	}
}

// checkPauses: every pause that was ever committed is there, and is what it was.
func (w *World) checkPauses(f *Facts) {
	for id := range w.started {
		if _, ok := f.Runs[id]; !ok {
			w.Violate(PauseKept, "run %s was acknowledged and is gone", id)
		}
	}
	for id, was := range w.paused {
		now, ok := f.Requests[id]
		if !ok {
			w.Violate(PauseKept, "request %s (%s) is gone", id, was.OriginStepID)
			continue
		}
		same := now.Question == was.Question && now.Fingerprint == was.Fingerprint && now.CreatedAt.Equal(was.CreatedAt) && now.Kind == was.Kind &&
			now.RunID == was.RunID && now.OriginStepID == was.OriginStepID && len(now.Actions) == len(was.Actions)
		for i := 0; same && i < len(now.Actions); i++ {
			same = bytes.Equal(now.Actions[i].Args, was.Actions[i].Args) && now.Actions[i].Tool == was.Actions[i].Tool
		}
		if !same {
			w.Violate(PauseKept, "request %s is no longer what was asked: %+v, was %+v", id, now, was)
		}
		if fingerprint, err := now.ComputeFingerprint(w.Tenant); err != nil || fingerprint != now.Fingerprint {
			w.Violate(PauseKept, "the fingerprint of %s does not fit it (%v)", id, err)
		}
	}
	for id := range f.Requests {
		if _, ok := w.paused[id]; !ok {
			w.Violate(PauseKept, "request %s was never seen to be written", id)
		}
	}
}

// checkDecisions: one for each request that is resolved, the one that its decider was told, by somebody who may.
func (w *World) checkDecisions(f *Facts) {
	written := map[holdshort.RequestID]int{}
	for _, t := range w.witness.transactions() {
		for _, d := range t.decisions {
			written[d.RequestID]++
		}
	}
	for id, r := range f.Requests {
		d, decided := f.Decisions[id]
		if (r.Status == holdshort.RequestResolved) != decided && r.Status != holdshort.RequestCanceled || written[id] > 1 {
			w.Violate(OneDecision, "request %s is %s and has %d decisions", id, r.Status, written[id])
		}
		if told, ok := w.acked[id]; ok && told != d.ID {
			w.Violate(OneDecision, "a decider of %s was told %s, and %s stands", id, told, d.ID)
		}
		if shown, ok := w.shown[id]; ok && shown != d.ID {
			w.Violate(OneDecision, "somebody who came too late for %s was shown %s, and %s stands", id, shown, d.ID)
		}
		if !decided {
			continue
		}
		if err := f.keyring.VerifyDecision(w.Tenant, d); err != nil || d.Fingerprint != r.Fingerprint {
			w.Violate(SameCall, "the decision of %s does not verify: %v", id, err)
		}
		owner := f.Runs[r.RunID].User
		if !r.Audience.Includes(d.Actor, owner) || r.Audience.Excludes(d.Actor, r.Requester) {
			w.Violate(OnlyEntitled, "%s decided %s and may not", d.Actor.ID, id)
		}
		if approvals := 1 + len(f.Votes[id]); d.Action == holdshort.Approve && approvals < r.Audience.Needed() {
			w.Violate(OnlyEntitled, "%s was approved by %d people, and needs %d", id, approvals, r.Audience.Needed())
		}
	}
}

// checkEffects: what ran was approved, as it was approved, and took effect at most once.
func (w *World) checkEffects(f *Facts) {
	calls, effects := w.outside.seen()
	used := map[holdshort.RequestID]map[string]string{}
	for _, c := range calls {
		op, ok := f.Operations[c.operation]
		switch {
		case !ok && c.effect:
			w.Violate(AtMostOnce, "%s took effect and the ledger does not know it", c.operation)
		case ok && op.RequestID != "":
			w.checkApproved(f, c, op, used)
		case c.effect && !w.allowed(c):
			w.Violate(NeverUnasked, "%s ran without anybody's approval", c.operation)
		}
	}
	for id, op := range f.Operations {
		n := effects[id]
		switch op.Status {
		case holdshort.OperationDone:
			if n != 1 {
				w.Violate(AtMostOnce, "%s is done and took effect %d times", id, n)
			}
		case holdshort.OperationUnknown:
			if n > 1 {
				w.Violate(AtMostOnce, "%s is unknown and took effect %d times", id, n)
			}
			if !op.Settled {
				w.Violate(Progress, "%s is unknown and nobody was asked in the end", id)
			}
		case holdshort.OperationFailed:
			if n != 0 {
				w.Violate(AtMostOnce, "%s is failed and took effect %d times", id, n)
			}
		default:
			w.Violate(Progress, "%s is still %s", id, op.Status)
		}
	}
}

// allowed: the policy lets it run unasked.
func (w *World) allowed(c seenCall) bool { return w.lets(c.tool) }

// checkApproved follows a call back to the decision that it ran under.
func (w *World) checkApproved(f *Facts, c seenCall, op holdshort.Operation, used map[holdshort.RequestID]map[string]string) {
	candidates := []holdshort.RequestID{op.RequestID}
	for _, v := range w.witness.operations()[op.ID] { // an earlier attempt ran under an earlier approval
		if v.row.Attempt == c.attempt && v.row.RequestID != "" {
			candidates = []holdshort.RequestID{v.row.RequestID}
		}
	}
	id := candidates[0]
	r, d := f.Requests[id], f.Decisions[id]
	if r.Status != holdshort.RequestResolved || d.ID == "" {
		w.Violate(NeverUnasked, "%s ran, and its request is %s", c.operation, r.Status)
		return
	}
	for _, cd := range d.Calls {
		i := slices.IndexFunc(r.Actions, func(a holdshort.Action) bool { return a.CallID == cd.CallID })
		if i < 0 || r.Actions[i].Tool != c.tool {
			continue
		}
		approved := r.Actions[i].Args
		if cd.Action == holdshort.Edit {
			approved = cd.Args
		}
		if !bytes.Equal(approved, c.args) {
			continue
		}
		switch cd.Action {
		case holdshort.Approve, holdshort.Edit:
			if used[id] == nil {
				used[id] = map[string]string{}
			}
			if by, twice := used[id][cd.CallID]; twice && by != c.operation {
				w.Violate(SameCall, "one approval was used by %s and by %s", by, c.operation)
			}
			used[id][cd.CallID] = c.operation
			return
		}
		w.Violate(NeverUnasked, "%s ran, and the decision about it was %s", c.operation, cd.Action)
		return
	}
	w.Violate(SameCall, "%s ran with %s, which nobody approved", c.operation, c.args)
}

// checkSteps: nothing that a run had done when it came to rest was done again.
func (w *World) checkSteps() {
	o := w.outside
	o.mu.Lock()
	defer o.mu.Unlock()
	for run, steps := range o.pinned {
		for step, n := range steps {
			if again := o.steps[run][step]; again != n {
				w.Violate(NotRepeated, "step %s of %s had run %d times when the run paused, and %d times in the end", step, run, n, again)
			}
		}
	}
}

// checkEvents: every event of every committed transaction is in the log, and no other.
func (w *World) checkEvents(f *Facts) {
	want := map[string]int{}
	for name, n := range w.before {
		want[name] = n
	}
	for _, t := range w.witness.transactions() {
		for _, e := range t.events {
			want[e.Type]++
		}
	}
	for _, e := range f.Events {
		want[e.Type]--
	}
	for name, n := range want {
		if n != 0 {
			w.Violate(Audited, "the log has %d too few of %s", n, name)
		}
	}
}

// checkEnds: nothing is stuck.
func (w *World) checkEnds(f *Facts) {
	for id, r := range f.Runs {
		if !r.Status.Ended() {
			w.Violate(Progress, "run %s is %s in the end (held: %+v, claims %d)", id, r.Status, r.Held, r.Claims)
		}
	}
	for id, r := range f.Requests {
		if r.Status == holdshort.RequestOpen {
			w.Violate(Progress, "request %s (%s) is open in the end", id, r.OriginStepID)
		}
	}
}
