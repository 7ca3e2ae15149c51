package holdshorttest

import (
	"cmp"
	"context"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

func (k *Kit) view(what string, fn func(store.ReadTx) error) {
	k.t.Helper()
	k.must(what, k.store.View(context.Background(), k.Tenant(), fn))
}

// Run gives a run as it stands.
func (k *Kit) Run(id holdshort.RunID) (run holdshort.Run) {
	k.t.Helper()
	k.view("load run "+string(id), func(tx store.ReadTx) (err error) {
		run, err = tx.Run(id)
		return err
	})
	return run
}

// Requests gives everything that a run asked, in the order in which it did.
func (k *Kit) Requests(run holdshort.RunID) []holdshort.Request {
	k.t.Helper()
	return k.list(store.RequestQuery{Run: run})
}

// Request gives the one open request of a run.
func (k *Kit) Request(run holdshort.RunID) holdshort.Request {
	k.t.Helper()
	open := k.list(store.RequestQuery{Run: run, Status: holdshort.RequestOpen})
	if len(open) != 1 {
		k.t.Fatalf("holdshorttest: run %s has %d open requests, not one: %s", run, len(open), k.Why(run))
	}
	return open[0]
}

// list gives requests of all pages, oldest first.
func (k *Kit) list(q store.RequestQuery) (all []holdshort.Request) {
	k.t.Helper()
	k.view("list requests", func(tx store.ReadTx) error {
		all, q.Cursor = nil, ""
		for {
			page, err := tx.Requests(q)
			if err != nil {
				return err
			}
			all = append(all, page.Items...)
			if q.Cursor = page.Next; q.Cursor == "" {
				return nil
			}
		}
	})
	slices.SortStableFunc(all, func(a, b holdshort.Request) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.OriginStepID, b.OriginStepID), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Decision gives the decision that stands, and whether there is one.
func (k *Kit) Decision(req holdshort.RequestID) (d holdshort.Decision, ok bool) {
	k.t.Helper()
	k.view("load the decision on "+string(req), func(tx store.ReadTx) (err error) {
		d, err = tx.Decision(req)
		ok = err == nil
		if holdshort.CodeOf(err) == holdshort.NotFound {
			return nil
		}
		return err
	})
	return d, ok
}

// Votes gives the approvals that a quorum gathered before the last one.
func (k *Kit) Votes(req holdshort.RequestID) (votes []holdshort.Vote) {
	k.t.Helper()
	k.view("load votes on "+string(req), func(tx store.ReadTx) (err error) {
		votes, err = tx.Votes(req)
		return err
	})
	return votes
}

// Journal gives what a run has recorded, ordered by key and attempt.
func (k *Kit) Journal(run holdshort.RunID) (entries []holdshort.JournalEntry) {
	k.t.Helper()
	k.view("load the journal of "+string(run), func(tx store.ReadTx) (err error) {
		entries, err = tx.Journal(run)
		return err
	})
	slices.SortFunc(entries, func(a, b holdshort.JournalEntry) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Attempt, b.Attempt))
	})
	return entries
}

// Operations gives the ledger of a run, in the order in which its calls began.
func (k *Kit) Operations(run holdshort.RunID) (ops []holdshort.Operation) {
	k.t.Helper()
	k.view("load the operations of "+string(run), func(tx store.ReadTx) (err error) {
		ops, err = tx.Operations(run)
		return err
	})
	slices.SortStableFunc(ops, func(a, b holdshort.Operation) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return ops
}

// Events gives the audit facts about a run, in order. Globs choose among their types.
func (k *Kit) Events(run holdshort.RunID, globs ...string) (events []holdshort.Event) {
	k.t.Helper()
	k.view("load the events of "+string(run), func(tx store.ReadTx) error {
		events = nil
		for after := int64(0); ; {
			page, err := tx.Events(store.EventQuery{Run: run, Types: globs, After: after})
			if err != nil || page.Last == after {
				return err
			}
			events, after = append(events, page.Items...), page.Last
		}
	})
	return events
}
