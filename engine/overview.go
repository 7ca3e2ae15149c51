package engine

import (
	"time"

	"github.com/holdshort/holdshort"
)

// Overview is how a tenant's desk stands and what became of what was asked. It names rules, kinds and actors and holds no text of anybody.
type Overview struct {
	At      time.Time
	Since   time.Time
	Sample  Sample
	Open    OpenNow
	Closed  Closings          // all of the sample
	Times   Times             // of the same
	ByKind  []KindFigures     // the most first
	ByRule  []RuleFigures     // the most first; what no rule asked for is not in it
	Step    time.Duration     // of Series: an hour, or a day of a longer period
	Series  []StepFigures     // oldest first, without holes, in UTC
	People  []ReviewerFigures // the most first
	Unknown UnknownNow
	Outbox  OutboxNow
	Runs    RunsNow
}

// Sample says what the figures of closed requests are made of: the latest of the period.
type Sample struct {
	Looked int
	All    bool      // it is every one that was closed in the period
	From   time.Time // what was closed before is not in the figures
	Erased int       // of them, those of which nobody knows the outcome any more; they are in no figure
}

// OpenNow is what waits.
type OpenNow struct {
	Total  Tally
	ByKind map[holdshort.Kind]Tally
	ByAge  []AgeBucket // youngest first
}

// AgeBucket is what has waited for less than Under, and not less than the bucket before.
type AgeBucket struct {
	Under time.Duration // 0: however long
	Tally Tally
}

// Closings counts what became of requests.
type Closings struct {
	Total, Approved, Rejected, Edited, Answered, Selected, Expired, Canceled int
}

// Times is how long people took from raised to decided. What a rule or the clock decided is not in it.
type Times struct {
	N         int
	P50, P90  time.Duration
	Histogram []TimeBucket
}

// TimeBucket is how many took less than Under, and not less than the bucket before.
type TimeBucket struct {
	Under time.Duration // 0: however long
	N     int
}

// KindFigures are those of one kind.
type KindFigures struct {
	Kind   holdshort.Kind
	Closed Closings
	Times  Times
}

// RuleFigures are those of what one rule had asked.
type RuleFigures struct {
	Rule   string
	Closed Closings
	Times  Times
	// NeverDenied: people decided at least 20, and nobody rejected or edited any. Such a rule may as well allow.
	NeverDenied bool
}

// StepFigures are those of one hour or day.
type StepFigures struct {
	From   time.Time
	Closed Closings
	Part   bool // the sample, or the period, does not reach back to its beginning
}

// ReviewerFigures are those of one who decides.
type ReviewerFigures struct {
	Actor    string
	Decided  int // requests that they closed; a vote that others followed is not counted
	Closed   Closings
	Times    Times
	Assigned Tally // open, and theirs
}

// UnknownNow are calls of which nobody knows what became.
type UnknownNow struct {
	Total  Tally
	Latest []holdshort.Operation // the latest first, 20 at most
}

// OutboxNow is what is still to be sent, and what could not be.
type OutboxNow struct {
	Queued, Parked, Dead Tally
	Channels             []ChannelFigures
	Webhooks             []WebhookFigures // those that are off or whose last deliveries went wrong
}

// ChannelFigures are those of one channel, as far as they were counted.
type ChannelFigures struct {
	Channel              string
	Queued, Parked, Dead Tally
}

// WebhookFigures are those of one endpoint that does not take what it is sent.
type WebhookFigures struct {
	ID       holdshort.WebhookID
	Disabled holdshort.Code // why it is off
	Looked   int            // its latest deliveries
	Wrong    int            // of them, not sent after a try
	Status   int            // of the last try
	At       time.Time      // of the last try
}

// RunsNow is how runs stand.
type RunsNow struct {
	Queued, Running, Waiting, Sleeping, Held Tally
	Failed                                   Tally // in the period
}
