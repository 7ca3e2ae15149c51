package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/model"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

func (r *recall) journals(ctx context.Context) error {
	looked := 0
	for cursor := ""; ; {
		var page store.Page[holdshort.Run]
		err := r.database.View(ctx, r.tenant, func(tx store.ReadTx) (err error) {
			if page, err = tx.Runs(store.RunQuery{Limit: store.MaxPage, Cursor: cursor}); err != nil {
				return err
			}
			for _, run := range page.Items {
				if looked++; r.bounds.Runs > 0 && looked > r.bounds.Runs {
					page.Next, r.More = "", true
					break
				}
				if run.UpdatedAt.Before(r.since) {
					continue
				}
				if err := r.journal(tx, run); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.Unread += len(page.Corrupt)
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

// journal finds the calls of a run that nobody was asked about.
func (r *recall) journal(tx store.ReadTx, run holdshort.Run) error {
	if run.Pruned { // the ledger says how many there were
		operations, err := tx.Operations(run.ID)
		for _, op := range operations {
			if op.RequestID == "" && !op.StartedAt.Before(r.since) {
				r.Erased++
			}
		}
		return err
	}
	entries, err := tx.Journal(run.ID)
	if err != nil {
		return err
	}
	wanted := wishesOf(entries)
	for _, e := range entries {
		if e.Kind != flow.KindCall || e.Started.Before(r.since) || r.asked[askedKey(run.ID, stepOf(e.Key), e.Hash)] || r.asked[askedKey(run.ID, e.Key, e.Hash)] {
			continue
		}
		was := policy.Allow
		if e.Error != nil {
			switch e.Error.Code {
			case holdshort.Denied, holdshort.LimitReached:
				was = policy.Deny
			case holdshort.DoesNotFit, holdshort.Invalid:
				continue // it never came before a policy
			}
		}
		call, known := wanted[e.Hash]
		if !known {
			r.Unkept++
			continue
		}
		r.Calls = append(r.Calls, Record{Was: was, Call: policy.Call{Tenant: r.tenant, Tool: call.Tool, Args: call.Args, Agent: cmp.Or(flow.AgentOf(e.Key), run.Agent), Flow: run.Flow, User: run.User, Session: run.SessionID, Run: run.ID, Now: e.Started}})
	}
	return nil
}

// wishesOf are the calls that models asked for, by the hash under which the journal has what became of each.
func wishesOf(entries []holdshort.JournalEntry) map[string]model.Call {
	wanted := map[string]model.Call{}
	for _, e := range entries {
		var said model.Response
		if e.Kind != flow.KindModel || json.Unmarshal(e.Outcome, &said) != nil {
			continue
		}
		for _, c := range said.Calls {
			if args, err := holdshort.Canonical(c.Args); err == nil {
				c.Args = args
				wanted[flow.CallHash(c.Tool, args)] = c
			}
		}
	}
	return wanted
}

// stepOf is the batch that a call's entry belongs to.
func stepOf(key string) string {
	if i := strings.LastIndexByte(key, '/'); i > 0 {
		return key[:i]
	}
	return key
}
