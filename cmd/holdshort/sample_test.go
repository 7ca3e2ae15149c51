package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
)

const sampleTenant holdshort.TenantID = "acme"

// sample STORE [ago=DURATION] DEED…: fills a store through its own API, as an engine would. Deeds: runs=N (waiting for a person), held, stale,
// overdue, erased, sealed, pruned.
func sample(ts *testscript.TestScript, neg bool, args []string) {
	clock, deeds := time.Now, args[1:]
	if len(deeds) > 0 && strings.HasPrefix(deeds[0], "ago=") {
		ago, err := time.ParseDuration(strings.TrimPrefix(deeds[0], "ago="))
		ts.Check(err)
		clock = func() time.Time { return time.Now().Add(-ago) }
		deeds = deeds[1:]
	}
	s := openForScript(ts, args[0], sqlite.Options{Clock: clock})
	for _, deed := range deeds {
		name, count, _ := strings.Cut(deed, "=")
		n, err := strconv.Atoi(count)
		if count == "" {
			n, err = 1, nil
		}
		ts.Check(err)
		ts.Check(do(s, name, n))
	}
	ts.Check(s.Close())
}

func do(s store.Store, deed string, n int) error {
	ctx := context.Background()
	switch deed {
	case "runs":
		for range n {
			if err := s.Update(ctx, sampleTenant, func(tx store.Tx) error { return pausedRun(tx, keyringOf(s), holdshort.RunWaiting) }); err != nil {
				return err
			}
		}
		return nil
	case "stale":
		return s.Update(ctx, sampleTenant, func(tx store.Tx) error { return pausedRun(tx, keyringOf(s), holdshort.RunRunning) })
	case "held":
		return s.Update(ctx, sampleTenant, func(tx store.Tx) error {
			run := newRun(tx, keyringOf(s), holdshort.RunQueued)
			run.Held = &holdshort.Hold{Code: holdshort.KeyUnknown, Since: tx.Now()}
			return tx.PutRun(run)
		})
	case "overdue":
		return s.Update(ctx, sampleTenant, func(tx store.Tx) error {
			return tx.SetTimer(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: string(holdshort.NewRunID(tx.Now())), DueAt: tx.Now().Add(-time.Minute)})
		})
	case "erased":
		return erasedSession(ctx, s)
	case "sealed":
		return sealed(ctx, s)
	case "pruned":
		_, err := s.System().Prune(ctx, store.Retention{Events: 24 * time.Hour})
		return err
	}
	return fmt.Errorf("sample: no deed %q", deed)
}

func newRun(tx store.Tx, keyring *holdshort.Keyring, status holdshort.RunStatus) holdshort.Run {
	now := tx.Now()
	run := holdshort.Run{ID: holdshort.NewRunID(now), Status: status, TraceID: "trace", Flow: "refund", FlowVersion: 1, Attempt: 1, CreatedAt: now, UpdatedAt: now}
	if status == holdshort.RunRunning {
		run.Lease = holdshort.Lease{Owner: "node-1", Epoch: 1, Until: now.Add(-time.Minute)}
	}
	var err error
	if run.Recorded, err = keyring.ExtendJournal(tx.Tenant(), run.ID, ""); err != nil {
		panic(err) // only for entries that cannot be stored
	}
	return run
}

func keyringOf(s store.Store) *holdshort.Keyring {
	return s.(interface{ Keyring() *holdshort.Keyring }).Keyring()
}

// pausedRun is a run, its open request and the events of both.
func pausedRun(tx store.Tx, keyring *holdshort.Keyring, status holdshort.RunStatus) error {
	run := newRun(tx, keyring, status)
	if err := tx.PutRun(run); err != nil {
		return err
	}
	req := holdshort.Request{ID: holdshort.NewRequestID(tx.Now()), Version: holdshort.RequestVersion, Kind: holdshort.Approval, Status: holdshort.RequestOpen, RunID: run.ID,
		OriginStepID: "ask", Question: "Refund 120 EUR?", ExpectedInput: holdshort.YesNo, Priority: holdshort.PriorityNormal, Salt: holdshort.NewSalt(), CreatedAt: tx.Now(),
		Audience: holdshort.Audience{Roles: []string{"finance"}}, OnTimeout: holdshort.TimeoutFail, OnReject: holdshort.RejectContinue}
	var err error
	if req.Fingerprint, err = req.ComputeFingerprint(tx.Tenant()); err != nil {
		return err
	}
	if err := tx.PutRequest(req); err != nil {
		return err
	}
	for _, name := range []string{"run.created", "run.started", "hitl.request.asked", "run.waiting"} {
		if err := tx.AddEvent(holdshort.Event{Type: name, Run: run.ID, Request: req.ID, Data: json.RawMessage(`{"note":"<a&b> und \u2028"}`)}); err != nil {
			return err
		}
	}
	return nil
}

// erasedSession leaves a body of which only the digest stands.
func erasedSession(ctx context.Context, s store.Store) error {
	var id holdshort.SessionID
	err := s.Update(ctx, sampleTenant, func(tx store.Tx) error {
		id = holdshort.NewSessionID(tx.Now())
		session := holdshort.Session{ID: id, User: "ana", Channel: "web", Address: string(id), Mode: holdshort.ModeAI, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		if err := tx.PutSession(session); err != nil {
			return err
		}
		digest, err := tx.AddBody(id, "", []byte("a private word"))
		if err != nil {
			return err
		}
		return tx.AddEvent(holdshort.Event{Type: "message.received", Session: id, Data: json.RawMessage(`{"body":"` + digest + `"}`)})
	})
	if err != nil {
		return err
	}
	return s.Update(ctx, sampleTenant, func(tx store.Tx) error { return tx.EraseSession(id, "ana") })
}

// sealed does what the sequencer does each minute.
func sealed(ctx context.Context, s store.Store) error {
	system := s.System()
	lease, err := system.Acquire(ctx, store.SequencerLease, "sample", time.Minute)
	if err != nil {
		return err
	}
	if _, err := system.Stamp(ctx, lease, 1<<20); err != nil {
		return err
	}
	if _, err := system.Seal(ctx, lease, 1<<20); err != nil {
		return err
	}
	return system.Release(ctx, store.SequencerLease, lease)
}
