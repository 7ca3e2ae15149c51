package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
)

// What an inbox may take, however much waits.
const (
	InboxTarget  = 50 * time.Millisecond
	SearchTarget = 300 * time.Millisecond
)

// Inbox is what people's lists take while many requests are open.
type Inbox struct {
	Open    int           `json:"open"`
	Filled  time.Duration `json:"filled_ns"`
	Indexed time.Duration `json:"indexed_ns"`
	Bytes   int64         `json:"bytes"`
	Rows    []InboxRow    `json:"rows"`
	Live    *InboxLive    `json:"live,omitempty"`
}

// InboxRow is one thing that somebody looks at.
type InboxRow struct {
	What   string        `json:"what"`
	Who    string        `json:"who"`
	Looks  int           `json:"looks"`
	Found  int           `json:"found"` // on the page
	P50    time.Duration `json:"p50_ns"`
	P99    time.Duration `json:"p99_ns"`
	Target time.Duration `json:"target_ns"` // of the 99th percentile
}

// The people who look: one sees everything, one what names a role or a person, one a third of it, one five of them.
var inboxPeople = []struct {
	name  string
	actor holdshort.Actor
}{
	{"administrator", holdshort.Actor{ID: "ada", Kind: holdshort.Person, Roles: []string{"admin"}}},
	{"reviewer", holdshort.Actor{ID: "ben", Kind: holdshort.Person, Roles: []string{"reviewer"}}},
	{"one of finance", holdshort.Actor{ID: "cem", Kind: holdshort.Person, Roles: []string{"finance", "support"}}},
	{"named in five", holdshort.Actor{ID: "eva", Kind: holdshort.Person}},
}

// inboxBed is a store full of open requests, and an engine on it.
type inboxBed struct {
	engine *engine.Engine
	store  store.Store
	sample holdshort.Request
}

func measureInbox(ctx context.Context, t *target, o Options, report *Report) error {
	if o.Inbox == 0 {
		return nil
	}
	own, drop, err := t.fresh(ctx, "inbox")
	if err != nil {
		return err
	}
	defer drop()
	s, err := own.open(ctx, 256, 1)
	if err != nil {
		return err
	}
	defer s.Close()
	table := &Inbox{Open: o.Inbox}
	bed := &inboxBed{store: s}
	o.Progress(fmt.Sprintf("filling an inbox with %d requests", o.Inbox))
	begin := time.Now()
	if err := bed.fill(ctx, o.Inbox); err != nil {
		return err
	}
	table.Filled = time.Since(begin)
	o.Progress("indexing them")
	begin = time.Now()
	if err := bed.index(ctx); err != nil {
		return err
	}
	table.Indexed = time.Since(begin)
	if h, err := s.System().Health(ctx); err == nil {
		table.Bytes = h.Bytes
	}
	k, err := newKernel(s, 4, patient)
	if err != nil {
		return err
	}
	bed.engine = k.Engine
	if err := bed.look(ctx, o, table); err != nil {
		return err
	}
	if err := bed.pages(ctx, o, table); err != nil {
		return err
	}
	if table.Live, err = measureInboxLive(ctx, t, o); err != nil {
		return err
	}
	report.Inbox = table
	return nil
}

// fill writes them through the store, many to a transaction. One in a hundred is no approval, one in three is for finance, five name eva; two
// thousand that were decided come first.
func (b *inboxBed) fill(ctx context.Context, n int) error {
	const batch, closed = 1000, 2000
	for done := -closed; done < n; done += batch {
		err := b.store.Update(ctx, tenant, func(tx store.Tx) error {
			for i := done; i < min(done+batch, n); i++ {
				r := inboxRequest(i, n, tx.Now())
				if err := tx.PutRequest(r); err != nil {
					return err
				}
				if i < 0 {
					if err := tx.AddEvent(holdshort.Event{Type: "hitl.request.decided", Request: r.ID}); err != nil {
						return err
					}
				}
				b.sample = r
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func inboxRequest(i, n int, now time.Time) holdshort.Request {
	kinds := []holdshort.Kind{holdshort.Clarification, holdshort.Reconcile, holdshort.Escalation, holdshort.Confirmation}
	r := holdshort.Request{ID: holdshort.NewRequestID(now), Version: 1, Kind: holdshort.Approval, Reason: "tool_requires_review", Source: "agent", Rule: "big refunds",
		Status: holdshort.RequestOpen, Question: fmt.Sprintf("Refund %d EUR to the customer of order A%07d?", i%997, i), ExpectedInput: holdshort.YesNo, Code: "K7",
		Allowed: []holdshort.Verb{holdshort.Approve, holdshort.Edit, holdshort.Reject, holdshort.Respond}, Fingerprint: holdshort.NewSalt(), Salt: holdshort.NewSalt(),
		Audience: holdshort.Audience{Roles: []string{"reviewer"}, Quorum: 1}, Requester: holdshort.Requester{User: fmt.Sprint("user", i%5000), RaisedBy: "key_agent"},
		Priority: holdshort.PriorityNormal, CreatedAt: now, AskedAt: now, ExpiresAt: now.Add(24*time.Hour + time.Duration(i%3600)*time.Second), OnTimeout: holdshort.TimeoutFail,
		Context: json.RawMessage(`{"ticket":"a customer writes that the parcel came late and asks for the money back"}`)}
	args := json.RawMessage(fmt.Sprintf(`{"order":"A%07d","amount":%d,"currency":"EUR","note":"late parcel"}`, i, i%997))
	r.Actions = []holdshort.Action{{CallID: "call_1", Tool: "refund", Args: args, ArgsHash: holdshort.NewSalt(), NeedsApproval: true}}
	switch {
	case i%50 == 0:
		r.Priority = holdshort.PriorityCritical
	case i%10 == 0:
		r.Priority = holdshort.PriorityHigh
	case i%7 == 0:
		r.Priority = holdshort.PriorityLow
	}
	if i%3 == 0 {
		r.Audience.Roles = []string{"finance"}
	}
	if i >= 0 && i%100 == 0 {
		r.Kind = kinds[i/100%len(kinds)]
	}
	if i >= 0 && i%(n/5+1) == 0 {
		r.Audience = holdshort.Audience{Users: []string{"eva"}, Quorum: 1}
	}
	if i < 0 {
		r.Status, r.Outcome, r.ClosedAt = holdshort.RequestResolved, holdshort.Approved, now
		if i%9 == 0 {
			r.Outcome = holdshort.Rejected
		}
	}
	return r
}

// index does in large steps what the engine's loop does in small ones.
func (b *inboxBed) index(ctx context.Context) error {
	var lease holdshort.Lease
	if !b.store.Exclusive() {
		stamp, err := b.store.System().Acquire(ctx, store.SequencerLease, "bench", time.Hour)
		for n := 1; err == nil && n > 0; {
			n, err = b.store.System().Stamp(ctx, stamp, 5000)
		}
		if err != nil {
			return err
		}
		if lease, err = b.store.System().Acquire(ctx, store.IndexerLease, "bench", time.Hour); err != nil {
			return err
		}
	}
	for {
		n, err := b.store.System().Index(ctx, lease, 5000)
		if err != nil || n == 0 {
			return err
		}
	}
}

// look measures what each of the people asks for.
func (b *inboxBed) look(ctx context.Context, o Options, table *Inbox) error {
	add := func(what, who string, target time.Duration, looks int, look func() (int, error)) error {
		o.Progress(what + ": " + who)
		if o.Looks > 0 {
			looks = o.Looks
		}
		row, err := timed(ctx, looks, look)
		row.What, row.Who, row.Target = what, who, target
		table.Rows = append(table.Rows, row)
		return err
	}
	var faults []error
	for _, p := range inboxPeople {
		desk := func(q engine.DeskQuery) func() (int, error) {
			q.Limit = 50
			return func() (int, error) {
				page, err := b.engine.Desk(ctx, tenant, q, p.actor)
				if err != nil {
					return 0, err
				}
				_, err = b.engine.DeskCounts(ctx, tenant, p.actor)
				return len(page.Items), err
			}
		}
		search := func(words string, status holdshort.RequestStatus) func() (int, error) {
			return func() (int, error) {
				page, err := b.engine.SearchRequests(ctx, tenant, engine.RequestQuery{Status: status, Limit: 50}, words, p.actor)
				return len(page.Items), err
			}
		}
		faults = append(faults, add("list and counts", p.name, InboxTarget, 300, desk(engine.DeskQuery{})),
			add("newest first", p.name, InboxTarget, 100, desk(engine.DeskQuery{Order: store.ByNewest})),
			add("due first", p.name, InboxTarget, 100, desk(engine.DeskQuery{Order: store.ByExpiry})),
			add("one kind", p.name, InboxTarget, 100, desk(engine.DeskQuery{Kinds: []holdshort.Kind{holdshort.Reconcile}})),
			add("a word that is in all", p.name, SearchTarget, 100, search("refund", holdshort.RequestOpen)),
			add("a word that is in few", p.name, SearchTarget, 100, search("A0000123", "")),
			add("the beginning of one", p.name, SearchTarget, 100, search("customer A00001", "")),
			add("a word that is in none", p.name, SearchTarget, 100, search("zanzibar", "")),
			add("two words, never together", p.name, SearchTarget, 20, search("77 78", "")),
			add("similar ones", p.name, InboxTarget, 100, func() (int, error) {
				s, err := b.engine.Similar(ctx, tenant, b.sample, p.actor)
				return s.Approved + s.Rejected, err
			}))
	}
	return errors.Join(faults...)
}

func timed(ctx context.Context, looks int, look func() (int, error)) (row InboxRow, err error) {
	var times []time.Duration
	for range looks {
		if ctx.Err() != nil {
			return row, ctx.Err()
		}
		begin := time.Now()
		if row.Found, err = look(); err != nil {
			return row, err
		}
		times = append(times, time.Since(begin))
	}
	row.Looks, row.P50, row.P99 = len(times), quantile(times, 0.5), quantile(times, 0.99)
	return row, nil
}

func (r *Inbox) table(w io.Writer) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "%d open requests\twho\tlooks\tfound\tp50\tp99\tat most\t\n", r.Open)
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t\n", row.What, row.Who, row.Looks, row.Found, micro(row.P50), micro(row.P99), row.Target)
	}
}

func (r *Inbox) write(w io.Writer) {
	if r != nil {
		fmt.Fprintf(w, "%d open requests: filled in %s, indexed in %s; %d MiB\n", r.Open, r.Filled.Round(time.Second), r.Indexed.Round(time.Second), r.Bytes>>20)
		r.Live.write(w)
	}
}
