package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/store"
)

// examiner compares, when everything is over, three things that know nothing of one another: what clients were told, what the world saw, and
// what the store holds.
type examiner struct {
	store  realStore
	ledger *ledger
	seen   Seen
	report *Report
	stream *watcher // nil: nobody watched
	verify func(holdshort.Decision) error
	counts RealReport
	known  map[string]bool                        // operations of the ledger
	heard  map[holdshort.SessionID]map[string]int // messages that runs took
	stored map[holdshort.RequestID]bool
	events map[string]int
	rows   map[string]int // what the events must add up to
}

// findings are one run's rows.
type findings struct {
	started   startedRun
	run       holdshort.Run
	requests  map[holdshort.RequestID]holdshort.Request
	decisions map[holdshort.RequestID]holdshort.Decision
	votes     map[holdshort.RequestID][]holdshort.Vote
	ops       []holdshort.Operation
}

func (x *examiner) examine(ctx context.Context) error {
	x.verify = func(d holdshort.Decision) error { return x.store.Keyring().VerifyDecision(realTenant, d) }
	x.known, x.stored, x.events, x.rows = map[string]bool{}, map[holdshort.RequestID]bool{}, map[string]int{}, map[string]int{}
	x.heard = map[holdshort.SessionID]map[string]int{}
	ids, err := x.runs(ctx)
	if err != nil {
		return err
	}
	for id := range ids {
		f, err := x.find(ctx, id)
		if err != nil {
			return err
		}
		if started := x.ledger.runs[nameOf(f.run)]; started != nil {
			f.started = *started
			if started.id == "" { // nobody was told which it is
				started.id = id
			}
			if started.id != id {
				x.report.Violate(InboundOnce, "one start made both %s and %s", started.id, id)
			}
		}
		x.checkRows(f)
	}
	for _, started := range x.ledger.runs {
		if started.stored && !ids[started.id] {
			x.report.Violate(PauseKept, "%s was acknowledged and is gone", started.id)
		}
	}
	if err := x.checkGates(ctx); err != nil {
		return err
	}
	x.checkStrays()
	x.checkMessages()
	return x.checkAudit(ctx)
}

// nameOf is what its client calls a run: its correlation id, which is the run's own id unless somebody chose it.
func nameOf(run holdshort.Run) holdshort.RunID {
	if run.TraceID != "" {
		return holdshort.RunID(run.TraceID)
	}
	return run.ID
}

func (x *examiner) checkRows(f findings) {
	x.counts.Runs++
	x.checkRun(f)
	x.checkRequests(f)
	x.checkOperations(f)
	x.checkMarks(f)
	x.checkAgent(f)
}

// runs gives the ids of all runs in the store.
func (x *examiner) runs(ctx context.Context) (map[holdshort.RunID]bool, error) {
	ids := map[holdshort.RunID]bool{}
	for cursor, more := "", true; more; more = cursor != "" {
		err := x.store.View(ctx, realTenant, func(tx store.ReadTx) error {
			page, err := tx.Runs(store.RunQuery{Cursor: cursor})
			for _, run := range page.Items {
				ids[run.ID] = true
			}
			cursor = page.Next
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func (x *examiner) find(ctx context.Context, id holdshort.RunID) (f findings, err error) {
	err = x.store.View(ctx, realTenant, func(tx store.ReadTx) error {
		f = findings{requests: map[holdshort.RequestID]holdshort.Request{}, decisions: map[holdshort.RequestID]holdshort.Decision{}, votes: map[holdshort.RequestID][]holdshort.Vote{}}
		if f.run, err = tx.Run(id); err != nil {
			return err
		}
		for cursor, more := "", true; more; more = cursor != "" {
			page, err := tx.Requests(store.RequestQuery{Run: id, Cursor: cursor})
			if err != nil {
				return err
			}
			for _, req := range page.Items {
				f.requests[req.ID] = req
				d, err := tx.Decision(req.ID)
				if err == nil {
					f.decisions[req.ID] = d
				} else if holdshort.CodeOf(err) != holdshort.NotFound {
					return err
				}
				if f.votes[req.ID], err = tx.Votes(req.ID); err != nil {
					return err
				}
			}
			cursor = page.Next
		}
		f.ops, err = tx.Operations(id)
		return err
	})
	return f, err
}

func (x *examiner) checkRun(f findings) {
	run := f.run
	x.rows["run."+string(run.Status)]++
	switch {
	case !run.Status.Ended():
		x.report.Violate(Progress, "%s of %s is still %s", run.ID, run.Flow, run.Status)
	case run.Held != nil:
		x.report.Violate(Progress, "%s is held: %s", run.ID, run.Held.Code)
	case f.started.canceled && run.Status != holdshort.RunCanceled:
		x.report.Violate(NeverUnasked, "%s was canceled, and is %s", run.ID, run.Status)
	case run.Status == holdshort.RunFailed && !expectedFailure(run.Error):
		x.report.Violate(Progress, "%s failed: %+v", run.ID, run.Error)
	case run.Status == holdshort.RunCompleted:
		var result told
		if json.Unmarshal(run.Result, &result) != nil {
			x.report.Violate(Progress, "%s completed with %s", run.ID, run.Result)
		}
		for _, text := range result.Heard {
			if x.heard[run.SessionID] == nil {
				x.heard[run.SessionID] = map[string]int{}
			}
			x.heard[run.SessionID][text]++
		}
		if said := x.seen.Said[string(run.ID)]; len(said) > 1 {
			x.report.Violate(NotRepeated, "%s composed one message %d times", run.ID, len(said))
		}
		if f.started.post != "" && result.Post != f.started.post {
			x.report.Violate(InboundOnce, "%s: the post that was acknowledged did not reach it", run.ID)
		}
	}
}

// expectedFailure: what these flows and tools fail with by design.
func expectedFailure(f *holdshort.Failure) bool {
	return f != nil && slices.Contains([]holdshort.Code{holdshort.Expired, holdshort.Denied, holdshort.ToolFailed, holdshort.OutcomeUnknown, holdshort.NotHappened}, f.Code)
}

// checkRequests: every pause that was told is there, unchanged, and closed by the decision that everybody was shown.
func (x *examiner) checkRequests(f findings) {
	for id, req := range f.requests {
		x.stored[id] = true
		x.rows["request."+string(req.Status)]++
		d, decided := f.decisions[id]
		if !byPolicy(req, d) {
			x.counts.Pauses++
		}
		if req.Status == holdshort.RequestExpired {
			x.counts.Expired++
		}
		if decided {
			x.counts.Decisions++
			x.checkDecision(f, req, d)
		}
		switch {
		case req.Status == holdshort.RequestOpen:
			x.report.Violate(Progress, "%s is still open", id)
		case req.Status == holdshort.RequestResolved && !decided:
			x.report.Violate(OneDecision, "%s is resolved and nobody decided it", id)
		case req.Status == holdshort.RequestExpired && decided:
			x.report.Violate(OneDecision, "%s is expired and decided", id)
		}
		told := x.ledger.asked[id]
		if told == nil {
			continue
		}
		if why := changed(told.request, req); why != "" {
			x.report.Violate(PauseKept, "%s: its %s is not what was told", id, why)
		}
		if told.stands != nil && (!decided || !sameDecision(d, *told.stands)) {
			x.report.Violate(OneDecision, "%s: the decision %s that was acknowledged does not stand", id, told.stands.ID)
		}
		if told.expired && req.Status == holdshort.RequestResolved {
			x.report.Violate(NeverUnasked, "%s was expired for one and is resolved", id)
		}
		for _, voter := range told.voters {
			if !slices.ContainsFunc(f.votes[id], func(v holdshort.Vote) bool { return v.Actor.ID == voter }) && (!decided || d.Actor.ID != voter) {
				x.report.Violate(PauseKept, "%s: the vote of %s was acknowledged and is gone", id, voter)
			}
		}
	}
}

func (x *examiner) checkDecision(f findings, req holdshort.Request, d holdshort.Decision) {
	if err := x.verify(d); err != nil {
		x.report.Violate(SameCall, "%s: its decision does not verify: %v", req.ID, err)
	}
	if byPolicy(req, d) {
		return
	}
	if told := x.ledger.asked[req.ID]; told == nil || !told.sent[d.Message] {
		x.report.Violate(OnlyEntitled, "%s: its decision %s by %s was sent by nobody", req.ID, d.ID, d.Actor.ID)
	}
	approvals := 1
	for _, v := range f.votes[req.ID] {
		if v.Actor.ID != d.Actor.ID {
			approvals++
		}
	}
	if d.Action == holdshort.Approve && req.Status == holdshort.RequestResolved && approvals < req.Audience.Needed() {
		x.report.Violate(OnlyEntitled, "%s needs %d approvals and was approved by %d", req.ID, req.Audience.Needed(), approvals)
	}
}

// byPolicy reports whether a request from outside needed nobody: the policy allowed or denied it when it was raised.
func byPolicy(req holdshort.Request, d holdshort.Decision) bool {
	return req.RunID == "" && d.Actor.Kind == holdshort.System
}

// preceding are the steps that stand before a pause of a flow. Those of the first pause are checked only when the run was started once: two
// starts at the same moment may both do what comes before the first commit.
var preceding = map[string]map[string][]string{
	singleFlow: {"act": {"before"}},
	batchFlow:  {"all": {"before"}},
	twiceFlow:  {"question": {"before"}, "act": {"before", "middle"}},
	nestedFlow: {"inner/act": {"outer", "before"}},
	agentFlow:  {"calls-1": {"model-1"}, "calls-2": {"model-1", "model-2"}},
}

// checkMarks: no pass that began after a pause was known did again what stood before it.
func (x *examiner) checkMarks(f findings) {
	for id := range f.requests {
		told := x.ledger.asked[id]
		if told == nil {
			continue
		}
		for _, step := range preceding[f.run.Flow][told.request.OriginStepID] {
			if f.started.starts > 1 && step != "middle" && step != "model-2" {
				continue
			}
			for _, m := range x.seen.Marks[string(nameOf(f.run))+"/"+step] {
				if m.Began.After(told.at) {
					x.report.Violate(NotRepeated, "%s: step %s was done again by %s %s after its pause was known", f.run.ID, step, m.Node, m.Began.Sub(told.at).Round(time.Millisecond))
				}
			}
		}
	}
}

// checkAgent: a run of an agent that came to its end has come to its last line.
func (x *examiner) checkAgent(f findings) {
	if f.run.Flow != agentFlow {
		return
	}
	x.counts.Agents++
	for n := 1; n <= 3; n++ {
		x.counts.Thoughts += len(x.seen.Marks[fmt.Sprintf("%s/model-%d", nameOf(f.run), n)])
	}
	var result agent.Result
	if f.run.Status == holdshort.RunCompleted && (json.Unmarshal(f.run.Result, &result) != nil || result.Text != "done" || result.Iterations != 3) {
		x.report.Violate(Progress, "%s of an agent completed with %s", f.run.ID, f.run.Result)
	}
}
