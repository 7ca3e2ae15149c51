package torture

import (
	"context"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Facts is what the database holds of a world in the end.
type Facts struct {
	Runs       map[holdshort.RunID]holdshort.Run
	Journals   map[holdshort.RunID][]holdshort.JournalEntry
	Requests   map[holdshort.RequestID]holdshort.Request
	Decisions  map[holdshort.RequestID]holdshort.Decision
	Votes      map[holdshort.RequestID][]holdshort.Vote
	Operations map[string]holdshort.Operation
	Events     []holdshort.Event

	keyring *holdshort.Keyring
	verdict store.Verdict
}

// Request gives the newest request of a run's step.
func (f *Facts) Request(run holdshort.RunID, step string) (newest holdshort.Request) {
	for _, r := range f.Requests {
		if r.RunID == run && r.OriginStepID == step && r.ID > newest.ID {
			newest = r
		}
	}
	return newest
}

// Operation gives what the ledger has of a run's step.
func (f *Facts) Operation(run holdshort.RunID, step string) holdshort.Operation {
	for _, op := range f.Operations {
		if op.RunID == run && op.StepID == string(run)+"/"+step {
			return op
		}
	}
	return holdshort.Operation{}
}

// Count of events with a name.
func (f *Facts) Count(name string) (n int) {
	for _, e := range f.Events {
		if e.Type == name {
			n++
		}
	}
	return n
}

// gather reads everything of a tenant, past every engine.
func (w *World) gather(ctx context.Context) (*Facts, error) {
	s, err := w.bed.Store(true)
	if err != nil {
		return nil, err
	}
	if err := stampAll(ctx, s, w.bed); err != nil {
		return nil, err
	}
	verdict, err := s.System().Verify(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify the log: %w", err)
	}
	f := &Facts{verdict: verdict, keyring: s.(interface{ Keyring() *holdshort.Keyring }).Keyring()}
	return f, s.View(ctx, w.Tenant, func(tx store.ReadTx) error {
		*f = Facts{Runs: map[holdshort.RunID]holdshort.Run{}, Journals: map[holdshort.RunID][]holdshort.JournalEntry{}, Requests: map[holdshort.RequestID]holdshort.Request{},
			Decisions: map[holdshort.RequestID]holdshort.Decision{}, Votes: map[holdshort.RequestID][]holdshort.Vote{}, Operations: map[string]holdshort.Operation{}, keyring: f.keyring, verdict: f.verdict}
		return f.read(tx, w.witness.operations())
	})
}

func (f *Facts) read(tx store.ReadTx, written map[string][]version[holdshort.Operation]) error {
	for id := range written { // those of the gate belong to no run
		op, err := tx.Operation(id)
		if err != nil {
			return err
		}
		f.Operations[id] = op
	}
	for q := (store.RunQuery{}); ; {
		page, err := tx.Runs(q)
		if err := whole("runs", page.Corrupt, err); err != nil {
			return err
		}
		for _, r := range page.Items {
			f.Runs[r.ID] = r
			if f.Journals[r.ID], err = tx.Journal(r.ID); err != nil {
				return err
			}
			ops, err := tx.Operations(r.ID)
			if err != nil {
				return err
			}
			for _, op := range ops {
				f.Operations[op.ID] = op
			}
		}
		if q.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	for q := (store.RequestQuery{}); ; {
		page, err := tx.Requests(q)
		if err := whole("requests", page.Corrupt, err); err != nil {
			return err
		}
		for _, r := range page.Items {
			f.Requests[r.ID] = r
			switch d, err := tx.Decision(r.ID); holdshort.CodeOf(err) {
			case "":
				f.Decisions[r.ID] = d
			case holdshort.NotFound:
			default:
				return err
			}
			if f.Votes[r.ID], err = tx.Votes(r.ID); err != nil {
				return err
			}
		}
		if q.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	for after := int64(0); ; {
		events, err := tx.Events(store.EventQuery{After: after})
		if err != nil {
			return err
		}
		f.Events = append(f.Events, events.Items...)
		if events.Last == after {
			return nil
		}
		after = events.Last
	}
}

// stampAll gives every event its position, whoever had the lease before, and whoever takes it while a busy machine keeps this process waiting.
func stampAll(ctx context.Context, s store.Store, bed Bed) error {
	const attempts = 5
	for attempt := 1; ; attempt++ {
		err := stamp(ctx, s)
		if holdshort.CodeOf(err) != holdshort.LeaseLost || attempt == attempts {
			return err
		}
		bed.Advance(2 * time.Minute)
	}
}

func stamp(ctx context.Context, s store.Store) error {
	lease, err := s.System().Acquire(ctx, store.SequencerLease, "checker", time.Minute)
	if err != nil {
		return fmt.Errorf("acquire the sequencer's lease: %w", err)
	}
	defer s.System().Release(ctx, store.SequencerLease, lease)
	for {
		if n, err := s.System().Stamp(ctx, lease, 1000); err != nil || n == 0 {
			return err
		}
	}
}

func whole(what string, corrupt []string, err error) error {
	if err == nil && len(corrupt) > 0 {
		err = fmt.Errorf("%v cannot be read", corrupt)
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", what, err)
	}
	return nil
}
