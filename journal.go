package holdshort

import (
	"encoding/json"
	"time"
)

// JournalEntry is the recorded outcome of one effect of a run, read on resume. The pair (key, attempt) names it within the run.
type JournalEntry struct {
	RunID   RunID           `json:"run_id"`
	Key     string          `json:"key"`
	Attempt int             `json:"attempt"`
	Kind    string          `json:"kind"`           // step, call, ask, sleep, …
	Hash    string          `json:"hash,omitempty"` // of what was asked for: a call's tool and arguments
	Outcome json.RawMessage `json:"outcome,omitempty"`
	Error   *Failure        `json:"error,omitempty"`
	Started time.Time       `json:"started_at"`
	Ended   time.Time       `json:"ended_at"`
}

// TimerKind says what is due.
type TimerKind string

const (
	TimerExpiry    TimerKind = "expiry"    // a request
	TimerQueue     TimerKind = "queue"     // a prompt that was never asked
	TimerSleep     TimerKind = "sleep"     // a run
	TimerOperation TimerKind = "operation" // a started operation's deadline
	TimerPark      TimerKind = "park"      // a delivery at the head for too long
	TimerSchedule  TimerKind = "schedule"
)

// Timer is something due. Subject is the id of what it is about; kind, subject and key together name the timer.
type Timer struct {
	Kind    TimerKind `json:"kind"`
	Subject string    `json:"subject"`
	Key     string    `json:"key,omitempty"`
	DueAt   time.Time `json:"due_at"`
}
