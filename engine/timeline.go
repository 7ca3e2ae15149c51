package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// Timeline is everything that a picture of a run needs, over one snapshot.
type Timeline struct {
	Run        holdshort.Run
	Journal    []holdshort.JournalEntry // oldest first; without values for those who may not see them
	Values     bool                     // the journal has its values
	Requests   []RequestView            // those that may be seen, oldest first
	Hidden     int                      // requests of the run that may not
	Operations []holdshort.Operation    // by when they started
	Events     []holdshort.Event        // oldest first, the newest 2,000 at most
	Earlier    bool                     // there are requests or events before those
	Children   []holdshort.Run          // that it started in its session and that may be seen, oldest first
	Unreadable bool                     // something of it cannot be read: what is here is not all
	Usage      Usage
}

// Usage is what the models of a run have used, as far as its journal says. What runs that it started have used is in theirs.
type Usage struct {
	Answers int   // of models
	Input   int64 // tokens
	Cached  int64 // of those
	Output  int64
	Cost    int64 // in millionths of the currency of the prices; 0: no prices are known
}

// Timeline gives a run with all that hangs on it to somebody who may see it; to anybody else there is no such run.
func (e *Engine) Timeline(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID, actor holdshort.Actor) (Timeline, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (t Timeline, err error) {
		run, err := readRun(tx, id)
		if err != nil {
			return t, err
		}
		if !e.Visible(actor, nil, &run) {
			return t, mayTouch(policy.View, actor, run)
		}
		t.Run = run
		entries, err := tx.Journal(id)
		if t.Unreadable = holdshort.CodeOf(err) == holdshort.Corrupt; err != nil && !t.Unreadable {
			return t, err
		}
		t.Usage = usageOf(entries)
		t.Journal, t.Values = recordedFor(entries, run, actor)
		if t.Operations, err = tx.Operations(id); err != nil {
			return t, err
		}
		slices.SortStableFunc(t.Operations, func(a, b holdshort.Operation) int {
			return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
		})
		past, err := tx.Past(store.PastQuery{Run: id, Limit: store.MostPast})
		if err != nil {
			return t, err
		}
		t.Events, t.Earlier = past.Items, past.Next != 0
		slices.Reverse(t.Events)
		if err := e.timelineRequests(tx, &t, actor); err != nil {
			return t, err
		}
		t.Children, err = e.childrenOf(tx, run, actor)
		return t, err
	})
}

// recordedFor gives a journal as somebody may see it. What calls were given and gave is for those who may see everything: the run's own user,
// administrators and auditors.
func recordedFor(entries []holdshort.JournalEntry, run holdshort.Run, actor holdshort.Actor) (list []holdshort.JournalEntry, values bool) {
	if actor.Who() == run.User || actor.HasRole(policy.Admin) || actor.HasRole(policy.Auditor) {
		return entries, true
	}
	for i := range entries {
		entries[i].Outcome = nil
		if f := entries[i].Error; f != nil && len(f.Detail) > 0 { // it has a value of the arguments
			bare := *f
			bare.Detail = nil
			entries[i].Error = &bare
		}
	}
	return entries, false
}

// timelineRequests gives those of the run with what was decided, the latest page of them.
func (e *Engine) timelineRequests(tx store.ReadTx, t *Timeline, actor holdshort.Actor) error {
	page, err := tx.Requests(RequestQuery{Run: t.Run.ID, Order: store.ByNewest, Limit: store.MaxPage})
	if err != nil {
		return err
	}
	t.Earlier, t.Unreadable = t.Earlier || page.Next != "", t.Unreadable || len(page.Corrupt) > 0
	for _, req := range slices.Backward(page.Items) {
		if !e.Visible(actor, &req, &t.Run) {
			t.Hidden++
			continue
		}
		v := RequestView{Request: readAt(req, tx.Now())}
		if d, err := tx.Decision(req.ID); err == nil {
			v.Decision = &d
		} else if holdshort.CodeOf(err) != holdshort.NotFound {
			return err
		}
		if v.Votes, err = tx.Votes(req.ID); err != nil {
			return err
		}
		for _, op := range t.Operations {
			if op.RequestID == req.ID {
				v.Operations = append(v.Operations, op)
			}
		}
		t.Requests = append(t.Requests, v)
	}
	return nil
}

// childrenOf finds what a run started, among the latest runs of its session: nothing else leads from a run to those.
func (e *Engine) childrenOf(tx store.ReadTx, run holdshort.Run, actor holdshort.Actor) (list []holdshort.Run, err error) {
	if run.SessionID == "" {
		return nil, nil
	}
	page, err := tx.Runs(RunQuery{Session: run.SessionID, Limit: store.MaxPage})
	for _, child := range slices.Backward(page.Items) {
		if child.ParentID == run.ID && e.Visible(actor, nil, &child) {
			list = append(list, child)
		}
	}
	return list, err
}

// usageOf adds up what answers of models say about themselves. A step that was tried again was paid for each time.
func usageOf(entries []holdshort.JournalEntry) (u Usage) {
	for _, e := range entries {
		if e.Kind != flow.KindModel || len(e.Outcome) == 0 {
			continue
		}
		var said struct {
			Usage struct {
				Input  int64 `json:"input_tokens"`
				Cached int64 `json:"cached_tokens"`
				Output int64 `json:"output_tokens"`
				Cost   int64 `json:"cost"`
			} `json:"usage"`
		}
		if json.Unmarshal(e.Outcome, &said) != nil {
			continue // an author's own model step: it is what they made of it
		}
		u.Answers++
		u.Input, u.Cached, u.Output, u.Cost = u.Input+said.Usage.Input, u.Cached+said.Usage.Cached, u.Output+said.Usage.Output, u.Cost+said.Usage.Cost
	}
	return u
}
