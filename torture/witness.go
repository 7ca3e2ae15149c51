package torture

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// transaction is what one committed transaction wrote.
type transaction struct {
	runs       []holdshort.Run
	requests   []holdshort.Request
	decisions  []holdshort.Decision
	votes      []holdshort.Vote
	operations []holdshort.Operation
	inbound    []holdshort.Inbound
	events     []holdshort.Event
	journal    []holdshort.JournalEntry
	asking     []busy // for each request, the work of its run before the request was committed
	before     []busy // for each decision, the work of its run before the decision was committed
}

// watched is a transaction whose writes are noted.
type watched struct {
	store.Tx
	seen    *transaction
	witness *witness
}

func (w *watched) PutRun(r holdshort.Run) error {
	w.seen.runs = append(w.seen.runs, r)
	return w.Tx.PutRun(r)
}

func (w *watched) PutRequest(r holdshort.Request) error {
	w.seen.requests = append(w.seen.requests, r)
	if w.witness.asking != nil {
		w.seen.asking = append(w.seen.asking, w.witness.asking(r))
	}
	return w.Tx.PutRequest(r)
}

func (w *watched) AddDecision(d holdshort.Decision) error {
	w.seen.decisions = append(w.seen.decisions, d)
	if w.witness.deciding != nil {
		w.seen.before = append(w.seen.before, w.witness.deciding(d))
	}
	return w.Tx.AddDecision(d)
}

func (w *watched) AddVote(v holdshort.Vote) error {
	w.seen.votes = append(w.seen.votes, v)
	return w.Tx.AddVote(v)
}

func (w *watched) PutOperation(o holdshort.Operation) error {
	w.seen.operations = append(w.seen.operations, o)
	return w.Tx.PutOperation(o)
}

func (w *watched) PutInbound(i holdshort.Inbound) error {
	w.seen.inbound = append(w.seen.inbound, i)
	return w.Tx.PutInbound(i)
}

func (w *watched) AddEvent(e holdshort.Event) error {
	w.seen.events = append(w.seen.events, e)
	return w.Tx.AddEvent(e)
}

func (w *watched) AddJournal(e holdshort.JournalEntry) error {
	w.seen.journal = append(w.seen.journal, e)
	return w.Tx.AddJournal(e)
}

// witness remembers every transaction that was committed, by whichever process, acknowledged or not: what the database must still know.
type witness struct {
	tenant holdshort.TenantID // whose transactions they are; a process also does what an earlier pass on the same database left undone
	mu     sync.Mutex
	log    []*transaction
	saved  func(*transaction)
	// asking returns the work that a run has done, just before its request is committed; deciding does so for a decision.
	// After the commit is too late: by then somebody may have decided, and a process may run the approved call.
	asking   func(holdshort.Request) busy
	deciding func(holdshort.Decision) busy
}

func (w *witness) committed(t *transaction) {
	if t == nil {
		return
	}
	w.mu.Lock()
	w.log = append(w.log, t)
	w.mu.Unlock()
	if w.saved != nil {
		w.saved(t)
	}
}

func (w *witness) transactions() []*transaction {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.log)
}

// version is one write of a row, with the transaction that it was part of.
type version[T any] struct {
	row T
	in  *transaction
}

// histories gives each row's versions in the order of their revisions: processes beside each other may be noted in another order.
func histories[T any, K comparable](log []*transaction, rows func(*transaction) []T, key func(T) K, revision func(T) int64) map[K][]version[T] {
	out := map[K][]version[T]{}
	for _, t := range log {
		for _, row := range rows(t) {
			out[key(row)] = append(out[key(row)], version[T]{row, t})
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b version[T]) int { return cmp.Compare(revision(a.row), revision(b.row)) })
	}
	return out
}

func (w *witness) runs() map[holdshort.RunID][]version[holdshort.Run] {
	return histories(w.transactions(), func(t *transaction) []holdshort.Run { return t.runs },
		func(r holdshort.Run) holdshort.RunID { return r.ID }, func(r holdshort.Run) int64 { return r.Revision })
}

func (w *witness) requests() map[holdshort.RequestID][]version[holdshort.Request] {
	return histories(w.transactions(), func(t *transaction) []holdshort.Request { return t.requests },
		func(r holdshort.Request) holdshort.RequestID { return r.ID }, func(r holdshort.Request) int64 { return r.Revision })
}

func (w *witness) operations() map[string][]version[holdshort.Operation] {
	return histories(w.transactions(), func(t *transaction) []holdshort.Operation { return t.operations },
		func(o holdshort.Operation) string { return o.ID }, func(o holdshort.Operation) int64 { return o.Revision })
}

// says reports whether the transaction has one of the events about a subject.
func (t *transaction) says(about func(holdshort.Event) bool, names ...string) bool {
	return slices.ContainsFunc(t.events, func(e holdshort.Event) bool { return about(e) && slices.Contains(names, e.Type) })
}

func aboutRun(id holdshort.RunID) func(holdshort.Event) bool {
	return func(e holdshort.Event) bool { return e.Run == id }
}

func aboutRequest(id holdshort.RequestID) func(holdshort.Event) bool {
	return func(e holdshort.Event) bool { return e.Request == id }
}

func aboutOperation(id string) func(holdshort.Event) bool {
	return func(e holdshort.Event) bool {
		var fact struct {
			Operation string `json:"operation"`
		}
		return json.Unmarshal(e.Data, &fact) == nil && fact.Operation == id
	}
}

// forget everything: the database does too.
func (w *witness) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = nil
}
