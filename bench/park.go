package bench

import (
	"context"
	"errors"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
)

// pattern is what the engine wrote for one run that waits for the approval of a call.
type pattern struct {
	run     holdshort.Run
	journal []holdshort.JournalEntry
	request holdshort.Request
	timers  []holdshort.Timer
	events  []holdshort.Event
}

// takePattern lets an engine park one run and takes down what it writes.
func takePattern(ctx context.Context) (*pattern, error) {
	s, err := sqlite.OpenTemporary(ctx, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	k, err := newKernel(s, 4, patient)
	if err != nil {
		return nil, err
	}
	p := &pattern{}
	k.store.pattern = p
	run, err := k.Start(ctx, tenant, engine.StartInput{Flow: refundFlow.Name, Input: input, User: "ben", Agent: "desk"})
	if err == nil {
		_, err = k.AwaitRun(ctx, tenant, run.ID, engine.Resting)
	}
	return p, errors.Join(err, k.Settle(ctx))
}

// park writes the same for a new run, byte for byte but for ids and times.
func (p *pattern) park(tx store.Tx, keyring *holdshort.Keyring, expires time.Time) (holdshort.RequestID, error) {
	now := tx.Now()
	run, req := p.run, p.request
	run.ID, run.Revision, run.CreatedAt, run.UpdatedAt = holdshort.NewRunID(now), 0, now, now
	run.TraceID = string(run.ID)
	req.ID, req.RunID, req.TraceID, req.Salt = holdshort.NewRequestID(now), run.ID, run.TraceID, holdshort.NewSalt()
	req.CreatedAt, req.AskedAt, req.ExpiresAt = now, now, expires
	var err error
	if req.Fingerprint, err = req.ComputeFingerprint(tx.Tenant()); err != nil {
		return "", err
	}
	faults := []error{tx.PutRequest(req)}
	run.Recorded = ""
	for _, e := range p.journal {
		e.RunID, e.Started, e.Ended = run.ID, now, now
		faults = append(faults, tx.AddJournal(e))
		if run.Recorded, err = keyring.ExtendJournal(tx.Tenant(), run.ID, run.Recorded, e); err != nil {
			return "", err
		}
	}
	if len(p.journal) == 0 {
		if run.Recorded, err = keyring.ExtendJournal(tx.Tenant(), run.ID, ""); err != nil {
			return "", err
		}
	}
	faults = append(faults, tx.PutRun(run))
	for _, t := range p.timers {
		t.Subject, t.DueAt = string(req.ID), expires
		faults = append(faults, tx.SetTimer(t))
	}
	for _, e := range p.events {
		e.Run, e.Trace = run.ID, run.TraceID
		if e.Request != "" {
			e.Request = req.ID
		}
		faults = append(faults, tx.AddEvent(e))
	}
	return req.ID, errors.Join(faults...)
}

// load parks n runs, many to a transaction: it is not what is measured. It gives the requests of one run in every so many.
func (p *pattern) load(ctx context.Context, s store.Store, n, every int, expires func(now time.Time) time.Time) ([]holdshort.RequestID, error) {
	const batch = 500
	var ids []holdshort.RequestID
	for done := 0; done < n; done += batch {
		var some []holdshort.RequestID
		err := s.Update(ctx, tenant, func(tx store.Tx) error {
			some = some[:0]
			for i := done; i < min(done+batch, n); i++ {
				id, err := p.park(tx, keyringOf(s), expires(tx.Now()))
				if err != nil {
					return err
				}
				if i%every == 0 {
					some = append(some, id)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		ids = append(ids, some...)
	}
	return ids, nil
}

func tomorrow(now time.Time) time.Time { return now.Add(24 * time.Hour) }

// keyringOf returns the keyring of a store, also of a counted one.
func keyringOf(s store.Store) *holdshort.Keyring {
	if c, ok := s.(*counted); ok {
		s = c.Store
	}
	return s.(interface{ Keyring() *holdshort.Keyring }).Keyring() // both drivers have one
}
