package store

import (
	"time"

	"github.com/holdshort/holdshort"
)

// EventQuery selects stamped events after a position, in order.
type EventQuery struct {
	After   int64
	Session holdshort.SessionID
	Run     holdshort.RunID
	Types   []string // globs; none: all
	Limit   int
}

// Events is what a watcher gets.
type Events struct {
	Items []holdshort.Event
	// Last is the position to ask from next: that of the last event looked at, whether it matched or not.
	Last int64
	// Gap says that events after EventQuery.After were pruned: the watcher has missed some.
	Gap bool
}

// PastQuery selects stamped events before a position, the newest first. What is empty selects nothing away.
type PastQuery struct {
	Before  int64    // 0: from the newest
	After   int64    // and not further back than this position
	Types   []string // globs
	Session holdshort.SessionID
	Run     holdshort.RunID
	Request holdshort.RequestID
	Actor   string
	Since   time.Time
	Until   time.Time // before it
	Limit   int       // at most MostPast
}

// Limits of one look into the past.
const (
	MostPast   = 2000   // events that it gives
	MostLooked = 20_000 // events that it looks at
)

// Past is a piece of the log, the newest event first.
type Past struct {
	Items []holdshort.Event
	// Next is the Before to go on with, 0 at the end. There may be one also where nothing was found: so much was looked at.
	Next int64
}

// Sealing is how far the log is signed. Seals are of the whole store.
type Sealing struct {
	Last     holdshort.Seal // number 0: there is none
	Unsealed Tally          // the tenant's events after it
	PrunedTo int64          // events up to here are gone
}

// EventReader reads audit facts. Body gives NotFound for one that was erased.
type EventReader interface {
	Events(EventQuery) (Events, error)
	Body(digest string) ([]byte, error)
	// Position is that of the tenant's last stamped event, 0 if there is none.
	Position() (int64, error)
	// Past gives stamped events, the newest first.
	Past(PastQuery) (Past, error)
	// PositionAt is that of the tenant's first event at or after a moment, as far as the order of commits is that of time; behind the last
	// event if there is none.
	PositionAt(time.Time) (int64, error)
	// Sealing is how far the whole store's log is signed.
	Sealing() (Sealing, error)
	// Comments gives the events of comments on a request, oldest first, a thousand at most; also those that are not stamped yet.
	Comments(holdshort.RequestID) ([]holdshort.Event, error)
}

// EventWriter writes them.
type EventWriter interface {
	// AddEvent appends to the event's stream; the store gives seq, previous hash and position.
	AddEvent(holdshort.Event) error
	// AddBody stores text that an event refers to and gives its salted digest. It is erased with its session or run.
	AddBody(session holdshort.SessionID, run holdshort.RunID, body []byte) (digest string, err error)
}
