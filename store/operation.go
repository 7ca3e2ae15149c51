package store

import (
	"time"

	"github.com/holdshort/holdshort"
)

// OperationReader reads the ledger.
type OperationReader interface {
	Operation(id string) (holdshort.Operation, error)
	Operations(holdshort.RunID) ([]holdshort.Operation, error)
}

// OperationWriter writes it.
type OperationWriter interface {
	PutOperation(holdshort.Operation) error
}

// TimerWriter sets and drops what is due; System.DueTimers finds it.
type TimerWriter interface {
	// SetTimer stores the timer, in place of one with the same kind, subject and key.
	SetTimer(holdshort.Timer) error
	// DropTimer removes it; one that is not there is no error.
	DropTimer(kind holdshort.TimerKind, subject, key string) error
}

// Replay is a stored answer to a call that was made under an idempotency key.
type Replay struct {
	Scope    string // tenant, actor, method and path, joined by the caller
	Key      string
	BodyHash string
	Status   int
	Answer   []byte
	At       time.Time
}

// InboundReader finds what was accepted from outside.
type InboundReader interface {
	Inbound(channel, address, key string) (holdshort.Inbound, error)
	Replay(scope, key string) (Replay, error)
}

// InboundWriter accepts it. (channel, address, key) and (scope, key) are unique.
type InboundWriter interface {
	PutInbound(holdshort.Inbound) error
	AddReplay(Replay) error
}
