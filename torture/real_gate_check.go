package torture

import (
	"context"
	"strconv"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// checkGates compares what agents outside were told with what happened and what is stored.
func (x *examiner) checkGates(ctx context.Context) error {
	for cursor, more := "", true; more; more = cursor != "" {
		var page []findings
		err := x.store.View(ctx, realTenant, func(tx store.ReadTx) error {
			page = nil
			list, err := tx.Requests(store.RequestQuery{Order: store.ByNewest, Cursor: cursor})
			if err != nil {
				return err
			}
			cursor = list.Next
			for _, req := range list.Items {
				if req.RunID != "" {
					continue
				}
				f, err := gateFindings(tx, req)
				if err != nil {
					return err
				}
				page = append(page, f)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, f := range page {
			x.checkGate(f)
		}
	}
	return nil
}

// gateFindings are the rows of a request that no run waits for.
func gateFindings(tx store.ReadTx, req holdshort.Request) (f findings, err error) {
	f = findings{requests: map[holdshort.RequestID]holdshort.Request{req.ID: req}, decisions: map[holdshort.RequestID]holdshort.Decision{}, votes: map[holdshort.RequestID][]holdshort.Vote{}}
	d, err := tx.Decision(req.ID)
	if err == nil {
		f.decisions[req.ID] = d
	} else if holdshort.CodeOf(err) != holdshort.NotFound {
		return f, err
	}
	if f.votes[req.ID], err = tx.Votes(req.ID); err != nil {
		return f, err
	}
	for i := range req.Actions {
		op, err := tx.Operation(string(req.ID) + "/" + strconv.Itoa(i+1))
		if err == nil {
			f.ops = append(f.ops, op)
		} else if holdshort.CodeOf(err) != holdshort.NotFound {
			return f, err
		}
	}
	return f, nil
}

func (x *examiner) checkGate(f findings) {
	x.checkRequests(f)
	x.checkOperations(f)
	for id := range f.requests {
		told := x.ledger.gates[id]
		if len(f.ops) > 0 {
			x.rows["claims"]++
		}
		if told == nil {
			continue
		}
		if told.token != "" && len(f.ops) == 0 {
			x.report.Violate(AtMostOnce, "%s was handed out, and no ledger says so", id)
		}
		for _, op := range f.ops {
			if said, ok := told.outcomes[op.ID]; ok && op.Status != said {
				x.report.Violate(AtMostOnce, "%s was reported %s and is %s", op.ID, said, op.Status)
			}
		}
	}
}

// gateCall finds the call of a request that an operation of the gate is.
func gateCall(req holdshort.Request, op holdshort.Operation) (callID string, ok bool) {
	_, number, _ := strings.Cut(op.ID, "/")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(req.Actions) || op.RequestID != req.ID {
		return "", false
	}
	return req.Actions[n-1].CallID, true
}
