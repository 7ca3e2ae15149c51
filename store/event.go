package store

import "github.com/holdshort/holdshort"

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

// EventReader reads audit facts. Body gives NotFound for one that was erased.
type EventReader interface {
	Events(EventQuery) (Events, error)
	Body(digest string) ([]byte, error)
	// Position is that of the tenant's last stamped event, 0 if there is none.
	Position() (int64, error)
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
