package sqldb

import "github.com/holdshort/holdshort"

// Conn is a connection inside a transaction. It takes no context: no statement of a group sees a caller's.
type Conn interface {
	// Query hands each row to each, whose scan fills the destinations.
	Query(s *Statement, args []any, each func(scan func(dest ...any) error) error) error
	// Apply runs the writes in order. The first that fails, or touches another number of rows than it must, ends it.
	Apply(writes []Write) error
}

// StreamLocker is a connection that can say that its transaction runs again because a stream moved under it: now it takes the stream's lock
// before it looks for the end.
type StreamLocker interface{ LocksStreams() bool }

// Write is a statement that changes rows.
type Write struct {
	Statement *Statement
	Args      []any
	Want      int64  // rows it must touch; Any for no matter
	Selects   bool   // it locks or checks rows instead of changing them: the rows it returns count
	Noun, ID  string // what it writes, for the errors that hardly ever come
	Miss      error  // what it means when it touches another number; nil: Conflict
	Taken     error  // what it means when a unique key is taken; nil: Duplicate
}

// Any number of rows.
const Any = -1

// Check gives the error of a write that touched rows.
func (w *Write) Check(rows int64) error {
	if w.Want == Any || rows == w.Want {
		return nil
	}
	if w.Miss != nil {
		return w.Miss
	}
	if w.Noun != "" {
		return stale(w.Noun, w.ID)
	}
	return &holdshort.Error{Code: holdshort.Conflict, Message: "the row changed meanwhile", Hint: "load it again and repeat"}
}

// Failed gives the error of a write that the database refused with a fault that it understood as code.
func (w *Write) Failed(code holdshort.Code, cause error) error {
	if code == holdshort.Duplicate && w.Taken != nil {
		return w.Taken
	}
	if code == holdshort.Duplicate && w.Statement == insertEvent {
		return moved(holdshort.TenantID(w.Args[0].(string)), w.ID)
	}
	if code == holdshort.Duplicate && w.Noun != "" {
		return taken(w.Noun, w.ID)
	}
	if code == holdshort.Duplicate {
		return &holdshort.Error{Code: code, Message: "this key is taken", Err: cause}
	}
	return cause
}
