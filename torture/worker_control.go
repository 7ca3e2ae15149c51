package torture

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
)

// order is what a client asks of a worker: one of the use cases.
type order struct {
	Start      *engine.StartInput       `json:",omitempty"`
	Decide     *engine.DecideInput      `json:",omitempty"`
	Post       *engine.PostInput        `json:",omitempty"`
	Session    *engine.OpenSessionInput `json:",omitempty"`
	Receive    *engine.Inbound          `json:",omitempty"`
	Cancel     holdshort.RunID          `json:",omitempty"`
	Retry      holdshort.RunID          `json:",omitempty"`
	Look       *lookAt                  `json:",omitempty"`
	Open       *string                  `json:",omitempty"` // a cursor: the next page of open requests
	Unfinished bool                     `json:",omitempty"` // runs that have not ended, some of them
	Clock      *time.Duration           `json:",omitempty"`
	Position   bool                     `json:",omitempty"` // of the last event
	Actor      holdshort.Actor          // of Cancel and Retry
	In         holdshort.SessionID      `json:"-"` // of Receive, where it is not found by its address
}

// lookAt waits until a run rests otherwise than it did, and tells what it asks.
type lookAt struct {
	Run   holdshort.RunID
	Since time.Time // as the client saw it last
	Wait  time.Duration
}

// answered is what became of an order.
type answered struct {
	Code       holdshort.Code        `json:",omitempty"`
	Message    string                `json:",omitempty"`
	Run        *holdshort.Run        `json:",omitempty"`
	Request    *holdshort.Request    `json:",omitempty"`
	Next       *holdshort.Request    `json:",omitempty"`
	Decision   *holdshort.Decision   `json:",omitempty"`
	Votes      []holdshort.Vote      `json:",omitempty"`
	Requests   []holdshort.Request   `json:",omitempty"`
	Operations []holdshort.Operation `json:",omitempty"`
	Cursor     string                `json:",omitempty"`
	Opened     *holdshort.Session    `json:",omitempty"`
	Runs       []holdshort.Run       `json:",omitempty"`
	Position   int64                 `json:",omitempty"`
	Replayed   bool                  `json:"-"` // the same call had been answered before: only HTTP says so
	Status     int                   `json:"-"` // of HTTP
}

func (w *worker) do(rw http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		return // the client went away
	}
	a, err := w.obey(r.Context(), o)
	if err != nil {
		a.Code, a.Message = holdshort.CodeOf(err), err.Error()
	}
	_ = json.NewEncoder(rw).Encode(a)
}

func (w *worker) obey(ctx context.Context, o order) (a answered, err error) {
	switch {
	case o.Start != nil:
		run, err := w.engine.Start(ctx, realTenant, *o.Start)
		a.Run = &run
		return a, err
	case o.Decide != nil:
		in := *o.Decide
		in.Value, in.Args = given(in.Value), given(in.Args)
		d, err := w.engine.Decide(ctx, realTenant, in)
		a.Decision, a.Votes, a.Next, a.Run = d.Decision, d.Votes, d.Next, d.Run
		if d.Request.ID != "" {
			a.Request = &d.Request
		}
		return a, err
	case o.Post != nil:
		run, err := w.engine.Post(ctx, realTenant, *o.Post)
		a.Run = &run
		return a, err
	case o.Cancel != "":
		run, err := w.engine.Cancel(ctx, realTenant, o.Cancel, o.Actor, "called_off")
		a.Run = &run
		return a, err
	case o.Retry != "":
		run, err := w.engine.Retry(ctx, realTenant, o.Retry, o.Actor)
		a.Run = &run
		return a, err
	case o.Open != nil:
		page, err := w.engine.Requests(ctx, realTenant, engine.RequestQuery{Status: holdshort.RequestOpen, Order: store.ByNewest, Cursor: *o.Open})
		a.Requests, a.Cursor = page.Items, page.Next
		return a, err
	case o.Session != nil:
		in := *o.Session
		in.Metadata = given(in.Metadata)
		s, err := w.engine.OpenSession(ctx, realTenant, in)
		a.Opened = &s
		return a, err
	case o.Receive != nil:
		_, err := w.engine.Receive(ctx, realTenant, *o.Receive)
		return a, err
	case o.Unfinished:
		for _, status := range []holdshort.RunStatus{holdshort.RunQueued, holdshort.RunRunning, holdshort.RunWaiting} {
			page, err := w.engine.Runs(ctx, realTenant, engine.RunQuery{Status: status})
			if err != nil {
				return a, err
			}
			a.Runs = append(a.Runs, page.Items...)
		}
		return a, nil
	case o.Position:
		return a, w.store.View(ctx, realTenant, func(tx store.ReadTx) (err error) {
			a.Position, err = tx.Position()
			return err
		})
	case o.Clock != nil:
		w.offset.Store(int64(*o.Clock))
		return a, nil
	}
	return w.look(ctx, *o.Look)
}

// given undoes what JSON makes of an absent value.
func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func (w *worker) look(ctx context.Context, l lookAt) (a answered, err error) {
	patience, cancel := context.WithTimeout(ctx, l.Wait)
	defer cancel()
	run, err := w.engine.AwaitRun(patience, realTenant, l.Run, func(run holdshort.Run) bool {
		return run.Status.Ended() || run.Held != nil || run.Status == holdshort.RunWaiting && run.UpdatedAt.After(l.Since)
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		run, err = w.engine.RunByID(ctx, realTenant, l.Run)
	}
	if err != nil {
		return a, err
	}
	a.Run = &run
	err = w.store.View(ctx, realTenant, func(tx store.ReadTx) error {
		page, err := tx.Requests(store.RequestQuery{Run: l.Run, Status: holdshort.RequestOpen})
		if err != nil {
			return err
		}
		a.Requests = page.Items
		a.Operations, err = tx.Operations(l.Run)
		return err
	})
	return a, err
}
