package store

import (
	"time"

	"github.com/holdshort/holdshort"
)

// OverviewReader gives what charts are drawn from. Each call reads a bounded number of rows, however many there are.
type OverviewReader interface {
	// Standing counts what stands now. Failed runs are those that failed since then.
	Standing(since time.Time, ages ...time.Duration) (Standing, error)
	// ClosedRequests gives those that were closed since then, the latest first, limit at most; more says that there are others.
	ClosedRequests(since time.Time, limit int) (list []ClosedRequest, more bool, err error)
}

// MostClosed is the most that ClosedRequests gives.
const MostClosed = 5000

// MostAssigned is how far what is assigned to one person is counted.
const MostAssigned = 200

// ClosedRequest is what figures need of a request that was closed. It holds nothing that was asked or answered.
type ClosedRequest struct {
	Kind      holdshort.Kind
	Status    holdshort.RequestStatus
	Outcome   holdshort.Outcome // of a resolved one
	Rule      string
	Actor     string // who decided it
	CreatedAt time.Time
	ClosedAt  time.Time
	Erased    bool // nobody knows its rule and outcome any more
}

// Standing is how things stand at a moment.
type Standing struct {
	At     time.Time
	Open   Tally
	ByKind map[holdshort.Kind]Tally
	ByAge  []Tally // of what is younger than each of the ages, and not than the one before; then of what is older

	Assigned map[string]Tally // open, by whom they are assigned to: fifty people at most, exact up to MostAssigned

	Queued, Running, Waiting, Sleeping, Held, Failed Tally // runs

	Unknown Tally                 // operations
	Lost    []holdshort.Operation // the latest of them, twenty at most

	Outbox []OutboxTally
}

// OutboxTally counts deliveries of a channel in one status. What is being sent counts as queued.
type OutboxTally struct {
	Channel string
	Status  holdshort.DeliveryStatus // queued, parked or dead
	Tally
}
