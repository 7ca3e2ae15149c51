package store

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
)

// Sights are those from which a request can be seen, open or closed: its seats, the person it was asked for, and who raised it.
func Sights(req *holdshort.Request) []string {
	out := Seats(req)
	if user := req.Requester.User; user != "" && !req.Audience.Owner {
		out = append(out, OwnerSeat(user))
	}
	if req.Requester.RaisedBy != "" {
		out = append(out, RaiserSeat(req.Requester.RaisedBy))
	}
	return out
}

func RaiserSeat(id string) string { return seat("k:", id) }

// SearchQuery looks for words in the question, the rule, the names of tools, agent and flow, the short code and the requester; an id is looked for by
// itself. Every word must be there, and the last may be the beginning of one.
type SearchQuery struct {
	RequestQuery
	Words  string
	Sights []string              // whence it must be seen; none: from anywhere
	Among  []holdshort.RequestID // only these, at most a page of them, in this order; none: all
}

// MostMatched is how many matches are put in the order that was asked for. More than that come newest first.
const MostMatched = 1000

// Alike is what became of closed requests for the same tool under the same rule, the latest of them.
type Alike struct {
	Outcomes map[holdshort.Outcome]int
	Expired  int
	More     bool                  // there are more than were counted
	Decided  []holdshort.RequestID // the last of them that were decided
}

// SearchReader finds requests by what is in them.
type SearchReader interface {
	// Search finds what is committed, whether it is indexed yet or not. Where few can be seen, a page may be short, and its cursor goes on.
	Search(SearchQuery) (Page[holdshort.Request], error)
	// Alike counts what was closed since a moment and indexed.
	Alike(req holdshort.Request, since time.Time) (Alike, error)
}

// Indexer keeps the index that Search uses.
type Indexer interface {
	// Index adds what was written since the last call, a bounded number of requests in one transaction, and says how many events and requests it
	// looked at. On an Exclusive store no lease is needed.
	Index(ctx context.Context, lease holdshort.Lease, limit int) (int, error)
}

// IndexerLease is the name under which one node indexes.
const IndexerLease = "indexer"
