package inbox

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// row is a request in a list. It is the same for everybody who may see the request, so that one drawing serves all who look.
type row struct {
	ID, Code, Question, Kind string
	About                    string // who asks, and what stopped it
	Tone                     string // critical, high or ""
	Urgency                  int    // 0 is the most urgent
	Created, Due, Closed     time.Time
	Left                     string
	Soon                     bool
	Tag                      string // what kind of thing it is, where it is no plain approval
	Assignee                 string
	Priority                 string
	State                    string // of one that is no longer open, in words
	StateTone                string
}

var urgencies = []holdshort.Priority{holdshort.PriorityCritical, holdshort.PriorityHigh, holdshort.PriorityNormal, holdshort.PriorityLow}

// tags are the kinds in one word, as people say them. A plain approval needs none.
var tags = map[holdshort.Kind]string{holdshort.Reconcile: "unknown outcome", holdshort.Clarification: "question", holdshort.Disambiguation: "choice", holdshort.Confirmation: "confirm",
	holdshort.Escalation: "escalation", holdshort.Takeover: "takeover", holdshort.Proxy: "proxy", holdshort.ErrorRecovery: "repair"}

func rowOf(req holdshort.Request, now time.Time) row {
	r := row{ID: string(req.ID), Code: req.Code, Question: req.Question, Kind: string(req.Kind), Created: req.CreatedAt, Closed: req.ClosedAt, Tag: tags[req.Kind], Assignee: req.Assignee,
		Priority: string(req.Priority), About: aboutOf(req)}
	for i, p := range urgencies {
		if p == req.Priority {
			r.Urgency = i
		}
	}
	switch {
	case req.Kind == holdshort.Reconcile || req.Priority == holdshort.PriorityCritical:
		r.Tone = "critical"
	case req.Priority == holdshort.PriorityHigh:
		r.Tone = "high"
	}
	switch req.StatusAt(now) {
	case holdshort.RequestOpen:
		if r.Due = req.Due(); !r.Due.IsZero() {
			r.Left, r.Soon = remaining(r.Due.Sub(now)), r.Due.Before(now.Add(soon))
		}
	case holdshort.RequestExpired:
		r.State, r.StateTone = "expired", "no"
	case holdshort.RequestCanceled:
		r.State, r.StateTone = "canceled", ""
	default:
		r.State = string(req.Outcome)
		r.StateTone = "yes"
		if req.Outcome == holdshort.Rejected {
			r.StateTone = "no"
		}
	}
	return r
}

// aboutOf is the second line of a row: who asks, why it was stopped, how much of it there is.
func aboutOf(req holdshort.Request) string {
	var parts []string
	switch n := len(req.Actions); {
	case n == 1:
		parts = append(parts, req.Actions[0].Tool)
	case n > 1:
		parts = append(parts, "batch of "+strconv.Itoa(n)+" calls")
	}
	switch r := req.Requester; {
	case r.RaisedBy != "":
		parts = append(parts, "raised by "+cmp.Or(r.RaisedName, r.RaisedBy))
	case r.User != "":
		parts = append(parts, "for "+r.User)
	}
	if req.Rule != "" {
		parts = append(parts, "rule “"+req.Rule+"”")
	}
	if n := req.Audience.Needed(); n > 1 {
		parts = append(parts, "takes "+strconv.Itoa(n)+" approvals")
	}
	return strings.Join(parts, " · ")
}
