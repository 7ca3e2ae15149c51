package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
)

// A request is stored, decided, and decided again: the first decision stands.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "holdshort-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := sqlite.Open(ctx, filepath.Join(dir, "demo.db"), sqlite.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	var id holdshort.RequestID
	err = s.Update(ctx, "acme", func(tx store.Tx) error {
		req := holdshort.Request{ID: holdshort.NewRequestID(tx.Now()), Version: holdshort.RequestVersion, Kind: holdshort.Approval, Status: holdshort.RequestOpen,
			Question: "Refund 120 EUR to order 77?", ExpectedInput: holdshort.YesNo, Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Reject},
			Audience: holdshort.Audience{Roles: []string{"finance"}}, Salt: holdshort.NewSalt(), CreatedAt: tx.Now()}
		var err error
		if req.Fingerprint, err = req.ComputeFingerprint(tx.Tenant()); err != nil {
			return err
		}
		id = req.ID
		return errors.Join(tx.PutRequest(req), tx.AddEvent(holdshort.Event{Type: "hitl.request.asked", Request: id}))
	})
	if err != nil {
		panic(err)
	}

	decide := func(action holdshort.Verb) error {
		return s.Update(ctx, "acme", func(tx store.Tx) error {
			req, err := tx.Request(id)
			if err != nil {
				return err
			}
			decision := holdshort.Decision{ID: holdshort.NewDecisionID(tx.Now()), RequestID: id, Action: action, Fingerprint: req.Fingerprint,
				Actor: holdshort.Actor{ID: "ana", Kind: holdshort.Person}, At: tx.Now()}
			if req, err = req.Decide(decision, tx.Now()); err != nil {
				return err
			}
			if decision, err = s.Keyring().SignDecision("acme", decision); err != nil {
				return err
			}
			return errors.Join(tx.PutRequest(req), tx.AddDecision(decision),
				tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Request: id, Actor: "ana"}))
		}, store.RequestRow(id))
	}
	fmt.Println(decide(holdshort.Approve))
	fmt.Println(decide(holdshort.Reject))
	// Output:
	// <nil>
	// the request is already decided: approved (the standing decision is final)
}
