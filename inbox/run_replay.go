package inbox

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// runReplay is where a replay stands.
type runReplay struct {
	N, Of                   int
	At                      time.Time
	Entry                   runEntry
	First, Prev, Next, Last string
	Now                     string // address of the run as it is
	Path                    string
	Unfold                  []string
}

// asOf gives a run as it was after the step with number n, and when that was.
func asOf(tl engine.Timeline, n int) (engine.Timeline, time.Time) {
	at := tl.Journal[n-1].Ended
	tl.Journal = tl.Journal[:n]
	tl.Events = slices.DeleteFunc(slices.Clone(tl.Events), func(e holdshort.Event) bool { return e.At.After(at) })
	tl.Children = slices.DeleteFunc(slices.Clone(tl.Children), func(r holdshort.Run) bool { return r.CreatedAt.After(at) })
	ops := slices.DeleteFunc(slices.Clone(tl.Operations), func(o holdshort.Operation) bool { return o.StartedAt.After(at) })
	for i, op := range ops {
		if op.ClosedAt.After(at) {
			ops[i].Status, ops[i].ClosedAt, ops[i].Settled, ops[i].ExternalIDs = holdshort.OperationStarted, time.Time{}, false, nil
		}
	}
	tl.Operations = ops
	requests := slices.DeleteFunc(slices.Clone(tl.Requests), func(r engine.RequestView) bool { return r.Request.CreatedAt.After(at) })
	open := 0
	for i, r := range requests {
		if r.Request.ClosedAt.IsZero() || r.Request.ClosedAt.After(at) {
			requests[i].Request.Status, requests[i].Request.Outcome, requests[i].Request.ClosedAt = holdshort.RequestOpen, "", time.Time{}
			open++
		}
	}
	tl.Requests = requests
	tl.Run = runAsOf(tl, at, open)
	return tl, at
}

// runAsOf gives the run's state from what the log says until then.
func runAsOf(tl engine.Timeline, at time.Time, open int) holdshort.Run {
	run := tl.Run
	run.Status, run.Held, run.EndedAt, run.Open, run.UpdatedAt = holdshort.RunRunning, nil, time.Time{}, open, at
	ended := false
	for _, e := range tl.Events {
		switch e.Type {
		case "run.created":
			run.Status = holdshort.RunQueued
		case "run.started", "run.resumed":
			run.Status, ended = holdshort.RunRunning, false
		case "run.waiting":
			run.Status = holdshort.RunWaiting
		case "run.held":
			run.Held = &holdshort.Hold{Code: holdshort.Code(e.Code), Since: e.At}
		case "run.released":
			run.Held, run.Status = nil, holdshort.RunRunning
		case "run.completed":
			run.Status, ended = holdshort.RunCompleted, true
		case "run.failed":
			run.Status, ended = holdshort.RunFailed, true
		case "run.canceled":
			run.Status, ended = holdshort.RunCanceled, true
		default:
			continue
		}
		run.UpdatedAt = e.At
		if ended {
			run.EndedAt = e.At
		}
	}
	if !ended {
		run.Result, run.Error = nil, nil
	}
	return run
}

func replayOf(tl engine.Timeline, n, steps int, path string, q url.Values) *runReplay {
	to := func(step int) string {
		values := url.Values{"step": {strconv.Itoa(step)}}
		if unfold := q["unfold"]; len(unfold) > 0 {
			values["unfold"] = unfold
		}
		return path + "?" + values.Encode() + "#step"
	}
	r := &runReplay{N: n, Of: steps, At: tl.Journal[n-1].Ended, Entry: entryOf(tl.Journal[n-1], n, path, longestValue), Now: path, Path: path, Unfold: q["unfold"]}
	if n > 1 {
		r.First, r.Prev = to(1), to(n-1)
	}
	if n < steps {
		r.Next, r.Last = to(n+1), to(steps)
	}
	return r
}
