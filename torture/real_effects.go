package torture

import (
	"context"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// checkOperations compares the ledger with the world: done is once, unknown is once or not at all, everything else is not at all, and what
// took effect is what was approved, byte for byte.
func (x *examiner) checkOperations(f findings) {
	for _, op := range f.ops {
		x.known[op.ID] = true
		x.rows["operation.started"] += op.Attempt
		if op.Status == holdshort.OperationUnknown {
			x.counts.Unknown++
		}
		e := x.seen.Effects[op.ID]
		if e == nil {
			e = &Effect{Operation: op.ID}
		}
		switch n := e.Count; {
		case op.Status == holdshort.OperationDone && n != 1:
			x.report.Violate(AtMostOnce, "%s is done and took effect %d times", op.ID, n)
		case op.Status == holdshort.OperationUnknown && n > 1:
			x.report.Violate(AtMostOnce, "%s is unknown and took effect %d times", op.ID, n)
		case op.Status == holdshort.OperationFailed && n > 0:
			x.report.Violate(AtMostOnce, "%s is failed and took effect %d times", op.ID, n)
		case op.Status == holdshort.OperationStarted:
			x.report.Violate(Progress, "%s is still started", op.ID)
		}
		if op.Status == holdshort.OperationUnknown && !op.Settled {
			x.report.Violate(Progress, "%s is unknown and nobody was asked", op.ID)
		}
		if e.Count > 0 {
			x.checkApproved(f, op, e)
		}
	}
}

// checkApproved finds the decision under which an operation took effect.
func (x *examiner) checkApproved(f findings, op holdshort.Operation, e *Effect) {
	req, known := f.requests[op.RequestID]
	d, decided := f.decisions[op.RequestID]
	step := strings.TrimPrefix(op.StepID, string(f.run.ID)+"/")
	callID := "call_1"
	if before, number, batch := cutLast(step, "/"); batch && known && req.RunID != "" && req.OriginStepID == before {
		if _, err := strconv.Atoi(number); err == nil {
			step, callID = before, "call_"+number
		}
	}
	if known && req.RunID == "" {
		if id, ok := gateCall(req, op); ok {
			step, callID = req.OriginStepID, id
		}
	}
	switch {
	case !known || !decided || req.Status != holdshort.RequestResolved:
		x.report.Violate(NeverUnasked, "%s took effect and nobody approved it", op.ID)
		return
	case req.OriginStepID != step:
		x.report.Violate(SameCall, "%s took effect under the approval of %s", op.ID, req.OriginStepID)
		return
	}
	var approved string
	verb := holdshort.Verb("")
	for _, action := range req.Actions {
		if action.CallID == callID && action.Tool == e.Tool {
			approved = string(action.Args)
			if req.RunID == "" && !action.NeedsApproval && e.Tool == lookupTool { // the policy lets it go with the rest
				verb = holdshort.Approve
			}
		}
	}
	for _, call := range d.Calls {
		if call.CallID == callID {
			if verb = call.Action; verb == holdshort.Edit {
				approved = string(call.Args)
			}
		}
	}
	if verb != holdshort.Approve && verb != holdshort.Edit {
		x.report.Violate(NeverUnasked, "%s took effect and its decision was %q", op.ID, verb)
	}
	for _, args := range e.Args {
		if string(args) != approved {
			x.report.Violate(SameCall, "%s ran with %s and was approved with %s", op.ID, args, approved)
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// checkStrays: nothing that was told is missing, and nothing took effect that the ledger does not know. Only what changes nothing and needs
// nobody is not in it.
func (x *examiner) checkStrays() {
	for id := range x.ledger.asked {
		if !x.stored[id] {
			x.report.Violate(PauseKept, "%s was told and is gone", id)
		}
	}
	for _, e := range x.seen.Effects {
		x.counts.Calls += e.Calls
		x.counts.Overdue += e.Overdue
		x.counts.Fenced += e.Fenced
		if e.Tool == lookupTool {
			continue
		}
		x.counts.Effects += e.Count
		if e.Tool == neverTool && e.Calls > 0 {
			x.report.Violate(NeverUnasked, "%s was called, which no policy allows", e.Operation)
		}
		if e.Count > 0 && !x.known[e.Operation] {
			x.report.Violate(AtMostOnce, "%s took effect and is in no ledger", e.Operation)
		}
	}
}

// checkAudit: the log verifies, and has an event for every transition that the rows show.
func (x *examiner) checkAudit(ctx context.Context) error {
	verdict, err := x.store.System().Verify(ctx)
	if err != nil {
		return err
	}
	for _, fault := range verdict.Faults {
		x.report.Violate(Audited, "%s at %d: %s", fault.Stream, fault.Position, fault.Problem)
	}
	x.counts.Events = verdict.Events
	var positions []int64
	var ids []string
	for after, more := int64(0), true; more; {
		err := x.store.View(ctx, realTenant, func(tx store.ReadTx) error {
			page, err := tx.Events(store.EventQuery{After: after})
			more = err == nil && page.Last > after
			after = max(after, page.Last)
			for _, e := range page.Items {
				x.events[e.Type]++
				positions, ids = append(positions, e.Position), append(ids, string(e.ID))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	x.checkStream(positions, ids)
	for _, pair := range []struct {
		what         string
		events, rows int
	}{
		{"pauses", x.events["hitl.interrupt.paused"], x.counts.Pauses},
		{"decided requests", x.events["hitl.request.decided"], x.rows["request.resolved"]},
		{"requests that expired or were canceled", x.events["hitl.request.expired"] + x.events["hitl.request.canceled"], x.rows["request.expired"] + x.rows["request.canceled"]},
		{"claims", x.events["hitl.request.claimed"], x.rows["claims"]},
		{"attempts of operations", x.events["operation.started"], x.rows["operation.started"]},
		{"created runs", x.events["run.created"], x.counts.Runs},
		{"completed runs", x.events["run.completed"], x.rows["run.completed"]},
		{"canceled runs", x.events["run.canceled"], x.rows["run.canceled"]},
	} {
		if pair.events != pair.rows {
			x.report.Violate(Audited, "%d events of %d %s", pair.events, pair.rows, pair.what)
		}
	}
	return nil
}
