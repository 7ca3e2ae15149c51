package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
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
	Looked   int   // events that were looked at for it
	PrunedTo int64 // events up to here are no longer kept
}

// AuditLog gives a page of everybody's events to those who may see them.
func (e *Engine) AuditLog(ctx context.Context, tenant holdshort.TenantID, q AuditQuery, actor holdshort.Actor) (AuditPage, error) {
	return AuditPage{}, nil
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

// SealStatus tells how far the log is signed.
func (e *Engine) SealStatus(ctx context.Context, tenant holdshort.TenantID) (SealStatus, error) {
	return SealStatus{}, nil
}

// ChainCheck is what was found by looking at the end of the log.
type ChainCheck struct {
	At       time.Time
	From     int64 // the first position that was looked at
	To       int64
	Events   int64 // how many were looked at, of all tenants
	Streams  int64
	Seals    int64 // whose events and signatures were checked
	Unsealed int64 // of them, events that no seal covers yet
	All      bool  // that is the whole log
	Faults   []store.Fault
}

// VerifyChain checks the last events of the log: their chains, and the seals that lie wholly within them. What came before them it does not
// look at: Verify does.
func (e *Engine) VerifyChain(ctx context.Context, tenant holdshort.TenantID, events int) (ChainCheck, error) {
	return ChainCheck{}, nil
}
