package engine

import (
	"context"

	"github.com/holdshort/holdshort"
)

// Timeline is everything that a picture of a run needs, over one snapshot.
type Timeline struct {
	Run        holdshort.Run
	Journal    []holdshort.JournalEntry // oldest first; without values for those who may not see them
	Values     bool                     // the journal has its values
	Requests   []RequestView            // those that may be seen, oldest first
	Hidden     int                      // requests of the run that may not
	Operations []holdshort.Operation    // by when they started
	Events     []holdshort.Event        // oldest first, the newest 2,000 at most
	Earlier    bool                     // there are events before those
	Children   []holdshort.Run          // that it started in its session, oldest first
	Usage      Usage
}

// Usage is what the models of a run have used, as far as its journal says.
type Usage struct {
	Answers int   // of models
	Input   int64 // tokens
	Cached  int64 // of those
	Output  int64
	Cost    int64 // in millionths of the currency of the prices; 0: no prices are known
}

// Timeline gives a run with all that hangs on it to somebody who may see it; to anybody else there is no such run.
func (e *Engine) Timeline(ctx context.Context, tenant holdshort.TenantID, id holdshort.RunID, actor holdshort.Actor) (Timeline, error) {
	return Timeline{}, nil
}
