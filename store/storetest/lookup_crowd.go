package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Crowd is a tenant with many open requests. One run, one session and one assignee have only a few of them.
type Crowd struct {
	Tenant   holdshort.TenantID
	Size     int // open requests of other runs
	Run      holdshort.RunID
	Session  holdshort.SessionID
	Request  holdshort.RequestID
	Assignee string
}

// FillCrowd writes a Crowd of size requests into an empty store.
func FillCrowd(ctx context.Context, s store.Store, size int) (Crowd, error) {
	c := Crowd{Tenant: acme, Size: size, Assignee: "ann"}
	const batch = 500
	for from := 0; from < size; from += batch {
		err := s.Update(ctx, acme, func(tx store.Tx) error {
			for i := from; i < min(from+batch, size); i++ {
				if err := addBystander(tx, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return c, err
		}
	}
	return c, s.Update(ctx, acme, c.addSubject)
}

// addBystander adds a waiting run with an open request. Every tenth belongs to a session, every fifth has a closed
// request as well.
func addBystander(tx store.Tx, i int) error {
	at := birth.Add(time.Duration(i) * time.Second)
	run, req := newRun(at), newRequest(at)
	run.Status, req.RunID = holdshort.RunWaiting, run.ID
	if i%4 == 0 {
		req.Priority = holdshort.PriorityHigh
	}
	if i%3 == 0 {
		req.ExpiresAt = at.Add(time.Hour)
	}
	if i%10 == 0 {
		session := newSession(at)
		session.User = fmt.Sprint("user", i)
		run.SessionID, req.SessionID = session.ID, session.ID
		if err := errors.Join(tx.PutSession(session), tx.PutMessage(newMessage(session.ID, 1, at))); err != nil {
			return err
		}
	}
	if i%5 == 0 {
		req.Assignee = fmt.Sprint("reviewer", i%50)
		closed := newRequest(at)
		closed.RunID, closed.SessionID, closed.Assignee = run.ID, run.SessionID, req.Assignee
		closed.Status, closed.ClosedAt = holdshort.RequestStatus([]string{"resolved", "expired", "canceled"}[i/5%3]), at
		if err := tx.PutRequest(closed); err != nil {
			return err
		}
	}
	return addRun(tx, run, req)
}

func addRun(tx store.Tx, run holdshort.Run, requests ...holdshort.Request) error {
	if err := tx.PutRun(run); err != nil {
		return err
	}
	for _, req := range requests {
		if err := tx.PutRequest(req); err != nil {
			return err
		}
		due := run.CreatedAt.Add(time.Hour)
		timer := holdshort.Timer{Kind: holdshort.TimerExpiry, Subject: string(req.ID), DueAt: due}
		if err := tx.SetTimer(timer); err != nil {
			return err
		}
		started := holdshort.Event{Type: "run.started", Run: run.ID, Session: run.SessionID, Request: req.ID}
		if err := tx.AddEvent(started); err != nil {
			return err
		}
	}
	step := string(run.ID) + "/call"
	return tx.PutOperation(holdshort.Operation{ID: step, RunID: run.ID, StepID: step, Capability: "refund",
		ArgsHash: "hash", Status: holdshort.OperationStarted, Nonce: "nonce", StartedAt: run.CreatedAt})
}

// addSubject adds the run, session and assignee that the lookups name.
func (c *Crowd) addSubject(tx store.Tx) error {
	session := newSession(birth)
	session.User = "ben"
	run, other := newRun(birth), newRun(birth)
	run.SessionID, other.SessionID = session.ID, session.ID
	run.Status, other.Status = holdshort.RunWaiting, holdshort.RunWaiting
	if err := tx.PutSession(session); err != nil {
		return err
	}
	var requests []holdshort.Request
	for i := range 4 {
		req := newRequest(birth.Add(time.Duration(i) * time.Minute))
		req.RunID, req.SessionID, req.OriginStepID, req.Assignee = run.ID, session.ID, fmt.Sprint(i), c.Assignee
		requests = append(requests, req)
	}
	requests[1].Kind, requests[2].Kind = holdshort.Escalation, holdshort.Reconcile
	requests[3].Status, requests[3].ClosedAt = holdshort.RequestResolved, birth
	c.Run, c.Session, c.Request = run.ID, session.ID, requests[3].ID
	if err := addRun(tx, run, requests...); err != nil {
		return err
	}
	for i := range 3 {
		if err := tx.PutMessage(newMessage(session.ID, int64(i+1), birth)); err != nil {
			return err
		}
	}
	if err := tx.AddDecision(newDecision(c.Request, c.Assignee, birth)); err != nil {
		return err
	}
	return addRun(tx, other)
}
