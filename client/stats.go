package client

import (
	"context"
	"net/http"
	"time"

	"github.com/holdshort/holdshort"
)

// Tally is a number that is exact up to a thousand. More says that there are more than that.
type Tally struct {
	Count  int64     `json:"count"`
	More   bool      `json:"more,omitempty"`
	Oldest time.Time `json:"oldest,omitzero"`
}

// Period is what became of requests within a time.
type Period struct {
	Outcomes      map[holdshort.Outcome]Tally `json:"outcomes"`
	Expired       Tally                       `json:"expired"`
	Canceled      Tally                       `json:"canceled"`
	MedianSeconds float64                     `json:"median_seconds"` // from raised to decided
}

// Stats is how things stand.
type Stats struct {
	At       time.Time                `json:"at"`
	Open     Tally                    `json:"open"` // requests
	ByKind   map[holdshort.Kind]Tally `json:"by_kind"`
	Day      Period                   `json:"day"`
	Week     Period                   `json:"week"`
	Waiting  Tally                    `json:"waiting"`  // runs that wait for a decision
	Sleeping Tally                    `json:"sleeping"` // timers of runs
	Held     Tally                    `json:"held"`
	Failed   Tally                    `json:"failed"`
	Unknown  Tally                    `json:"unknown"` // operations of which nobody knows what became
	Outbox   Tally                    `json:"outbox"`
}

// Stats says how things stand.
func (c *Client) Stats(ctx context.Context) (out Stats, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/v1/stats"}, &out)
	return out, err
}

// Comment is what somebody said about a request.
type Comment struct {
	ID     holdshort.EventID `json:"id"`
	Actor  string            `json:"actor"`
	Text   string            `json:"text"`
	At     time.Time         `json:"at"`
	Erased bool              `json:"erased,omitempty"`
}

// Comments lists what was said about a request, oldest first.
func (c *Client) Comments(ctx context.Context, req holdshort.RequestID) ([]Comment, error) {
	var p page[Comment]
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/requests/" + id(req) + "/comments"}, &p)
	return p.Items, err
}
