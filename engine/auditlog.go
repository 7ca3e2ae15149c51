package engine

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// AuditQuery selects events, the newest first. What is empty selects nothing away.
type AuditQuery struct {
	Before  int64    // the Next of the page before; 0: from the newest
	Types   []string // globs over names
	Actor   string
	Request string
	Run     string
	Session string
	Since   time.Time
	Until   time.Time
	Limit   int
}

// AuditPage is a piece of the log, the newest first.
type AuditPage struct {
	Items []holdshort.Event
	// Next is the Before of the page that follows, 0 at the end. A page may be short, or empty, and still have one: so much was looked at.
	Next     int64
	PrunedTo int64 // events up to here are no longer kept
}

// clockSlack is by how much the order of commits and that of time may differ: a transaction has its time before it is committed.
const clockSlack = time.Minute

// AuditLog gives a page of everybody's events to those who may see them.
func (e *Engine) AuditLog(ctx context.Context, tenant holdshort.TenantID, q AuditQuery, actor holdshort.Actor) (AuditPage, error) {
	if ok, _ := policy.Can(policy.ViewAudit, actor, policy.Resource{}); !ok {
		return AuditPage{}, &holdshort.Error{Code: holdshort.Forbidden, Op: "read the audit log", Message: clip(actor.ID) + " may not do that",
			Hint: "ask for the role auditor, operator or admin"}
	}
	if q.Limit <= 0 || q.Limit > store.MaxPage {
		q.Limit = store.MaxPage
	}
	return view(ctx, e, tenant, func(tx store.ReadTx) (page AuditPage, err error) {
		s, err := tx.Sealing()
		if err != nil {
			return page, err
		}
		past := store.PastQuery{Before: q.Before, Types: q.Types, Actor: q.Actor, Run: holdshort.RunID(q.Run), Session: holdshort.SessionID(q.Session),
			Request: holdshort.RequestID(q.Request), Since: q.Since, Until: q.Until, Limit: q.Limit}
		if err := nearRequest(tx, &past); err != nil {
			return page, err
		}
		if err := between(tx, &past); err != nil {
			return page, err
		}
		found, err := tx.Past(past)
		return AuditPage{Items: found.Items, Next: found.Next, PrunedTo: s.PrunedTo}, err
	})
}

// nearRequest narrows the look to where a request's events are: in its run, and not before it was made.
func nearRequest(tx store.ReadTx, q *store.PastQuery) error {
	if q.Request == "" || q.Run != "" {
		return nil
	}
	req, err := tx.Request(q.Request)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		return nil // its events may be kept longer
	}
	if err != nil && holdshort.CodeOf(err) != holdshort.Corrupt {
		return err
	}
	q.Run = req.RunID
	if made := req.CreatedAt.Add(-clockSlack); q.Since.Before(made) {
		q.Since = made
	}
	return nil
}

// between turns times into positions, so that a look need not begin at the newest event. Times are still compared: the two orders differ a
// little.
func between(tx store.ReadTx, q *store.PastQuery) error {
	if q.Run != "" {
		return nil // a run's events are few
	}
	if !q.Since.IsZero() {
		first, err := tx.PositionAt(q.Since.Add(-clockSlack))
		if err != nil {
			return err
		}
		q.After = first - 1
	}
	if q.Until.IsZero() {
		return nil
	}
	last, err := tx.PositionAt(q.Until.Add(clockSlack))
	if q.Before == 0 || last < q.Before {
		q.Before = last
	}
	return err
}

// SealStatus is how far the log is signed. Seals are of the whole store: every tenant's events are under the same ones.
type SealStatus struct {
	At       time.Time
	Position int64 // of the tenant's newest event
	Sealed   int64 // everything up to this position is signed
	SealedAt time.Time
	Number   int64  // of the last seal; 0: there is none yet
	Root     string // of the last seal, hexadecimal
	KeyID    string
	Signed   bool  // the last seal's signature holds
	Unsealed Tally // the tenant's events after it; the next seal takes them in
	PrunedTo int64
}

// SealStatus tells how far the log is signed. Whoever calls it has asked whether the reader may see the audit.
func (e *Engine) SealStatus(ctx context.Context, tenant holdshort.TenantID) (SealStatus, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (s SealStatus, err error) {
		sealing, err := tx.Sealing()
		if err != nil {
			return s, err
		}
		last := sealing.Last
		s = SealStatus{At: tx.Now(), Sealed: last.To, SealedAt: last.At, Number: last.Number, Root: hex.EncodeToString(last.Root), KeyID: last.KeyID,
			Unsealed: sealing.Unsealed, PrunedTo: sealing.PrunedTo}
		s.Signed = last.Number > 0 && e.keyring.VerifySeal(last.KeyID, last.Message(), last.Signature) == nil
		s.Position, err = tx.Position()
		return s, err
	})
}

// ChainCheck is what was found by looking at the end of the log. Chains and seals are of all tenants together.
type ChainCheck struct {
	At       time.Time
	From     int64 // the first position that was looked at
	To       int64
	Events   int64 // how many were looked at
	Streams  int64
	Seals    int64 // whose events and signatures were checked
	Unsealed int64 // events that no seal covers yet: only their chains vouch for them
	All      bool  // that is the whole log, or all that is kept of it
	Faults   []store.Fault
}

// VerifyChain checks the last events of the log, store.MostTail at most: their chains, and the seals that lie wholly within them. What came
// before them it does not look at: holdshort audit verify does. Whoever calls it has asked whether the reader may see the audit; what is
// wrong with other tenants' events it does not tell.
func (e *Engine) VerifyChain(ctx context.Context, tenant holdshort.TenantID, events int) (ChainCheck, error) {
	v, err := e.store.System().VerifyTail(ctx, events)
	if err != nil {
		return ChainCheck{}, err
	}
	c := ChainCheck{At: v.At, From: v.From, To: v.To, Events: v.Events, Streams: v.Streams, Seals: v.Seals, Unsealed: v.Unsealed, All: v.From <= v.PrunedTo+1}
	for _, f := range v.Faults {
		if f.Tenant == "" || f.Tenant == tenant {
			c.Faults = append(c.Faults, f)
		}
	}
	return c, nil
}
