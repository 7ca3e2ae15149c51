package store

import "github.com/holdshort/holdshort"

// RequestOrder sorts the inbox.
type RequestOrder string

const (
	ByUrgency RequestOrder = ""       // priority, then oldest first
	ByNewest  RequestOrder = "newest" // newest first
	ByExpiry  RequestOrder = "expiry" // what expires first; what never expires comes last
)

// RequestQuery selects requests.
type RequestQuery struct {
	Status   holdshort.RequestStatus
	Kind     holdshort.Kind
	Priority holdshort.Priority
	Session  holdshort.SessionID
	Run      holdshort.RunID
	Assignee string
	Order    RequestOrder
	Cursor   string
	Limit    int
}

// RequestReader reads requests and what was decided.
type RequestReader interface {
	// Request returns a request. If its row cannot be read the error is Corrupt, and the request has what the readable columns say.
	Request(holdshort.RequestID) (holdshort.Request, error)
	Requests(RequestQuery) (Page[holdshort.Request], error)
	// RequestAt gives the open request of a run's step, NotFound if there is none.
	RequestAt(run holdshort.RunID, step string) (holdshort.Request, error)
	// Decision gives the decision that resolved a request.
	Decision(holdshort.RequestID) (holdshort.Decision, error)
	Votes(holdshort.RequestID) ([]holdshort.Vote, error)
}

// RequestWriter stores them.
type RequestWriter interface {
	// PutRequest: one open request per run and step.
	PutRequest(holdshort.Request) error
	// CancelUnreadable closes an open request whose row is Corrupt, without reading it: its run or its session goes on without it. It is
	// NotFound if the request is not open.
	CancelUnreadable(holdshort.RequestID) error
	// AddDecision: one per request.
	AddDecision(holdshort.Decision) error
	// AddVote: one per request and actor.
	AddVote(holdshort.Vote) error
	// UseDecision takes the one use that a decision has for a call: DecisionUsed if it was taken.
	UseDecision(id holdshort.DecisionID, callID, operationID string) error
}
