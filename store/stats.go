package store

import (
	"time"

	"github.com/holdshort/holdshort"
)

// MostCounted is how far a Tally is exact.
const MostCounted = 1000

// Tally is a number that is exact up to MostCounted. More says that there are more than that.
type Tally struct {
	Count  int64     `json:"count"`
	More   bool      `json:"more,omitempty"`
	Oldest time.Time `json:"oldest,omitzero"`
}

// Period is what became of requests within a time.
type Period struct {
	Outcomes map[holdshort.Outcome]Tally `json:"outcomes"`
	Expired  Tally                       `json:"expired"`
	Canceled Tally                       `json:"canceled"`
	// MedianSeconds is how long it took from raised to decided by somebody, of the latest decisions; 0: there are none.
	MedianSeconds float64 `json:"median_seconds"`
}

// Stats is how a tenant stands.
type Stats struct {
	At       time.Time                `json:"at"`
	Open     Tally                    `json:"open"` // requests
	ByKind   map[holdshort.Kind]Tally `json:"by_kind"`
	Day      Period                   `json:"day"`
	Week     Period                   `json:"week"`
	Waiting  Tally                    `json:"waiting"`  // runs that wait for somebody's decision
	Sleeping Tally                    `json:"sleeping"` // timers of runs that sleep, or wait for a post until some time
	Held     Tally                    `json:"held"`     // runs
	Failed   Tally                    `json:"failed"`   // runs
	Unknown  Tally                    `json:"unknown"`  // operations of which nobody knows what became
	Outbox   Tally                    `json:"outbox"`   // deliveries that are still to be sent
}

// StatsReader counts. It reads a bounded number of rows, however many there are.
type StatsReader interface {
	Stats() (Stats, error)
}
