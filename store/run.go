package store

import "github.com/holdshort/holdshort"

// RunQuery selects runs, newest first.
type RunQuery struct {
	Status  holdshort.RunStatus
	Session holdshort.SessionID
	Flow    string
	Agent   string
	Held    bool // only those that are held
	Cursor  string
	Limit   int
}

// RunReader reads runs and their journals.
type RunReader interface {
	// Run returns a run. If its row cannot be read the error is Corrupt, and the run has what the readable columns say: it is held as
	// corrupt, since the zero time unless the hold is stored. Nothing but a cancellation may be written to such a run.
	Run(holdshort.RunID) (holdshort.Run, error)
	// Runs lists runs. Those that cannot be read are in Items too, as Run returns them, and their ids are in Corrupt.
	Runs(RunQuery) (Page[holdshort.Run], error)
	// Journal returns a run's entries in the order of their start. If an entry cannot be read the error is Corrupt; all entries are
	// returned nevertheless, the unreadable ones with neither outcome nor error.
	Journal(holdshort.RunID) ([]holdshort.JournalEntry, error)
}

// RunWriter stores them.
type RunWriter interface {
	PutRun(holdshort.Run) error
	// HoldRun marks a run that cannot be read or run, without reading it.
	HoldRun(holdshort.RunID, holdshort.Hold) error
	// FenceRun makes the commit fail with LeaseLost unless the run still has this epoch. It holds the row until the commit.
	FenceRun(id holdshort.RunID, epoch int64) error
	// AddJournal records an outcome; (run, key, attempt) is unique.
	AddJournal(holdshort.JournalEntry) error
}
