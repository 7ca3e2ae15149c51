package inbox

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (in *Inbox) runRoutes() {
	in.show("/runs", policy.View, (*visit).serveRuns)
	in.show("/runs/{id}", policy.View, (*visit).serveRun)
	in.show("/runs/{id}/timeline", policy.View, (*visit).serveTimeline)
	in.act("/runs/{id}/cancel", policy.CancelRun, (*visit).cancelRun)
	in.act("/runs/{id}/retry", policy.RetryRun, (*visit).retryRun)
	in.show("/sessions", policy.View, (*visit).serveSessions)
	in.show("/sessions/{id}", policy.View, (*visit).serveSession)
}

// runState is where a run stands, in words and in a colour.
type runState struct {
	Words string
	Tone  string // "", hold, yes or no
	Since time.Time
}

// stateOfRun says it truthfully: a run that is held is held, whatever else it was doing.
func stateOfRun(run holdshort.Run) runState {
	switch {
	case run.Held != nil && !run.Status.Ended():
		return runState{"held: " + plain(string(run.Held.Code), 60), "no", run.Held.Since}
	case run.Status == holdshort.RunWaiting && run.Open > 0:
		return runState{"holding short", "hold", run.UpdatedAt}
	case run.Status == holdshort.RunCompleted:
		return runState{"completed", "yes", run.EndedAt}
	case run.Status == holdshort.RunFailed:
		return runState{"failed", "no", run.EndedAt}
	case run.Status == holdshort.RunCanceled:
		return runState{"canceled", "", run.EndedAt}
	}
	return runState{string(run.Status), "", run.UpdatedAt}
}

// nameOfRun is what a run does, as people call it.
func nameOfRun(run holdshort.Run) string { return cmp.Or(run.Agent, run.Flow, string(run.ID)) }

// runRow is a run in a list.
type runRow struct {
	ID, Name, Flow, User string
	Session              string
	State                runState
	Why                  string
	Created              time.Time
	Took                 string
	Attempt              int
}

func rowOfRun(run holdshort.Run, now time.Time) runRow {
	end := run.EndedAt
	if end.IsZero() {
		end = now
	}
	r := runRow{ID: string(run.ID), Name: nameOfRun(run), User: run.User, Session: string(run.SessionID), State: stateOfRun(run), Created: run.CreatedAt, Took: span(end.Sub(run.CreatedAt)), Attempt: run.Attempt}
	if run.Agent != "" && run.Flow != agent.FlowName(run.Agent) {
		r.Flow = run.Flow
	}
	switch {
	case run.Held != nil && !run.Status.Ended():
	case run.Status == holdshort.RunWaiting && run.Open == 1:
		r.Why = "waits for a person"
	case run.Status == holdshort.RunWaiting && run.Open > 1:
		r.Why = "waits for people: " + number(run.Open) + " requests are open"
	case run.Status == holdshort.RunFailed && run.Error != nil:
		r.Why = run.Error.Message
	}
	return r
}

// mostReasons is how many rows of a list are looked into for why they do not move.
const mostReasons = 15

// rowsOfRuns gives a list with why each does not move. What the row itself tells is not looked up.
func (v *visit) rowsOfRuns(list []holdshort.Run) []runRow {
	rows := make([]runRow, len(list))
	looked := 0
	for i, run := range list {
		rows[i] = rowOfRun(run, v.now)
		if rows[i].Why != "" || run.Status.Ended() || looked >= mostReasons {
			continue
		}
		looked++
		if why, err := v.engine.Why(v.ctx, v.tenant(), run.ID); err == nil { // a list without a reason is still a list
			rows[i].Why = why.Reasons[0].Text
			if run.Held != nil {
				rows[i].Why = why.Reasons[0].Hint
			}
		}
	}
	return rows
}

// runFilter is which runs a list shows, as it stands in the address.
type runFilter struct{ Status, Name, Held, Session, Cursor string }

var runStatuses = []holdshort.RunStatus{holdshort.RunWaiting, holdshort.RunRunning, holdshort.RunQueued, holdshort.RunFailed, holdshort.RunCompleted, holdshort.RunCanceled}

func filterOfRuns(q url.Values) runFilter {
	f := runFilter{Status: q.Get("status"), Name: q.Get("name"), Session: q.Get("session"), Cursor: q.Get("cursor")}
	if !slices.Contains(runStatuses, holdshort.RunStatus(f.Status)) {
		f.Status = ""
	}
	if q.Get("held") == "yes" {
		f.Held = "yes"
	}
	return f
}

// with is the address of the list with another filter.
func (f runFilter) with(name, value string) string {
	switch name {
	case "status":
		f.Status, f.Held = value, ""
	case "held":
		f.Held, f.Status = value, ""
	case "cursor":
		f.Cursor = value
	}
	if name != "cursor" {
		f.Cursor = ""
	}
	q := url.Values{}
	for name, value := range map[string]string{"status": f.Status, "name": f.Name, "held": f.Held, "session": f.Session, "cursor": f.Cursor} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if text := q.Encode(); text != "" {
		return "/runs?" + text
	}
	return "/runs"
}

type chipLink struct {
	Words, Link string
	Here        bool
}

type runsView struct {
	Rows   []runRow
	Chips  []chipLink
	Filter runFilter
	Names  []string
	Next   string
	Any    bool // something is filtered
}

// serveRuns lists runs, newest first. A name is an agent's or a flow's.
func (v *visit) serveRuns() error {
	f := filterOfRuns(v.r.URL.Query())
	q := engine.RunQuery{Status: holdshort.RunStatus(f.Status), Session: holdshort.SessionID(f.Session), Held: f.Held != "", Cursor: f.Cursor, Limit: rowsShown}
	if f.Name != "" {
		if slices.ContainsFunc(v.options.Agents, func(a Agent) bool { return a.Name == f.Name }) {
			q.Agent = f.Name
		} else {
			q.Flow = f.Name
		}
	}
	found, err := v.engine.RunsFor(v.ctx, v.tenant(), q, v.actor())
	if err != nil {
		return err
	}
	out := runsView{Rows: v.rowsOfRuns(found.Items), Filter: f, Any: f != (runFilter{Cursor: f.Cursor})}
	out.Chips = append(out.Chips, chipLink{"All", f.with("status", ""), f.Status == "" && f.Held == ""})
	for _, s := range runStatuses {
		out.Chips = append(out.Chips, chipLink{string(s), f.with("status", string(s)), f.Status == string(s)})
	}
	out.Chips = append(out.Chips, chipLink{"held", f.with("held", "yes"), f.Held != ""})
	for _, a := range v.options.Agents {
		out.Names = append(out.Names, a.Name)
	}
	for _, r := range out.Rows {
		if !slices.Contains(out.Names, r.Name) {
			out.Names = append(out.Names, r.Name)
		}
	}
	if found.Next != "" {
		out.Next = f.with("cursor", found.Next)
	}
	if v.partial() {
		return v.part(200, "run_list", out)
	}
	return v.page(200, "runs", "Runs", out)
}
