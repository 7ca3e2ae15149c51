package flow

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
)

// Recorder is the border between a flow and the engine: it has the journal of one run and carries out what leaves the function. Branches
// call it at the same time. An error that is not a Signal abandons the execution: nothing is decided, the run is taken up again.
type Recorder interface {
	// Recorded gives the outcome that is journaled under key.
	Recorded(key string) (holdshort.JournalEntry, bool)
	// Record journals an outcome, at the latest together with the next thing that leaves the run.
	Record(ctx context.Context, entry holdshort.JournalEntry) error
	// Now is the store's time.
	Now() time.Time
	// Ask makes the request of a step unless it is open already. Suspend: the answer will be journaled under the key.
	Ask(ctx context.Context, key string, draft holdshort.Request) error
	// Calls carries out calls of tools, each under its own key, through policy, approval and ledger. Outcomes are in the calls' order.
	Calls(ctx context.Context, key string, calls []Invocation) ([]holdshort.JournalEntry, error)
	// Say puts a message to the user into the outbox with the entry that records it.
	Say(ctx context.Context, entry holdshort.JournalEntry, m holdshort.Message) error
	// Note leaves a message in the session's history with the entry that records it. It is sent to nobody.
	Note(ctx context.Context, entry holdshort.JournalEntry, m holdshort.Message) error
	// History is what a model may know of the session, oldest first.
	History(ctx context.Context) ([]holdshort.Message, error)
	// Emit leaves an event with the entry that records it.
	Emit(ctx context.Context, entry holdshort.JournalEntry, name string, body json.RawMessage) error
	// Sleep gives when the time has come, Suspend before.
	Sleep(ctx context.Context, key string, d time.Duration) error
	// Wait gives the first post of that name that no other Wait took, or none when the time is over; Suspend before.
	Wait(ctx context.Context, key, name string, timeout time.Duration) (holdshort.JournalEntry, error)
	// Take gives the first post of that name that nobody took, recorded under key, or nil and records nothing.
	Take(ctx context.Context, key, name string) (*holdshort.JournalEntry, error)
}

// Invocation is one call of a tool as the flow asked for it.
type Invocation struct {
	Key  string          // of its outcome in the journal
	ID   string          // how people and models name it; unique in its batch
	Tool string          //
	Args json.RawMessage // canonical
	Hash string          // of tool and args
}

// Signal is how a Recorder stops a flow. No author's code sees it.
type Signal struct {
	State   State // Suspended, Failed, Held or Abandoned
	Code    holdshort.Code
	Failure *holdshort.Failure
	Err     error
}

func (s *Signal) Error() string {
	if s.Err != nil {
		return "flow stopped: " + s.Err.Error()
	}
	return "flow stopped: " + string(s.Code)
}

func (s *Signal) Unwrap() error { return s.Err }

// Suspend says that the branch waits.
var Suspend = &Signal{State: Suspended}

// Hold says that the run cannot go on until a person has looked.
func Hold(code holdshort.Code, err error) *Signal { return &Signal{State: Held, Code: code, Err: err} }

// Fail says that the run is over.
func Fail(failure holdshort.Failure) *Signal { return &Signal{State: Failed, Failure: &failure} }

// The kinds of journal entries.
const (
	KindStep   = "step"
	KindModel  = "model"
	KindCall   = "call"
	KindAsk    = "ask"
	KindSay    = "say"
	KindNote   = "note"
	KindEmit   = "emit"
	KindSleep  = "sleep"
	KindWait   = "wait"
	KindNow    = "now"
	KindRandom = "random"
)
