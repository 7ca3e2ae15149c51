// Package store is the contract between the kernel and its database: Store, Tx and the few row verbs of each noun.
// It imports the root package and the standard library; store/sqlite and store/postgres implement it, store/storetest proves them.
//
// A transaction is opened for one tenant, so no query can forget it. Reads are answered at once; writes are gathered and sent when the
// function has returned (or before a read that follows them), so a lost compare-and-set, a taken key or a lost lease is the error of
// Update, not of the write. Read first, then write: on PostgreSQL a transaction that does so shares its commit with others.
package store

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
)

// Store keeps what was acknowledged, whatever is killed.
type Store interface {
	// Update runs fn in one transaction of tenant and returns after its commit: nobody, winner or loser, is answered before. If fn
	// returns an error nothing is written and Update returns that error. fn may run twice and touches only its Tx: what it hands out
	// it sets anew each time. Naming the rows that it writes (rows) lets it share a commit with others; a context that ends while the
	// transaction is under way does not stop it, and the answer is what became of it.
	Update(ctx context.Context, tenant holdshort.TenantID, fn func(Tx) error, rows ...Row) error

	// View runs fn over one snapshot of what is committed.
	View(ctx context.Context, tenant holdshort.TenantID, fn func(ReadTx) error) error

	// System is for the loops, across tenants.
	System() System

	// Wake carries hints from those who commit to those who wait.
	Wake() Wake

	// Durable reports whether what was committed outlives the process.
	Durable() bool

	// Exclusive reports whether no other process can have the database open: whatever lease stands in it when the process starts is of one
	// that is gone.
	Exclusive() bool

	Close() error
}

// Row names a row that a transaction is going to write, so that transactions with different rows can go together.
type Row string

func RunRow(id holdshort.RunID) Row           { return Row("run:" + string(id)) }
func SessionRow(id holdshort.SessionID) Row   { return Row("session:" + string(id)) }
func RequestRow(id holdshort.RequestID) Row   { return Row("request:" + string(id)) }
func OperationRow(id string) Row              { return Row("operation:" + id) }
func DeliveryRow(id holdshort.DeliveryID) Row { return Row("delivery:" + string(id)) }
func CounterRow(name string) Row              { return Row("counter:" + name) }
func KeyRow(id holdshort.KeyID) Row           { return Row("key:" + string(id)) }
func LoginRow(hash string) Row                { return Row("login:" + hash) }
func WebhookRow(id holdshort.WebhookID) Row   { return Row("webhook:" + string(id)) }
func ReplayRow(scope, key string) Row         { return Row("replay:" + scope + "\x00" + key) }
func InboundRow(channel, address, key string) Row {
	return Row("inbound:" + channel + "\x00" + address + "\x00" + key)
}

// ReadTx reads one tenant's rows.
type ReadTx interface {
	// Now is the transaction's time, to the microsecond: the database's on PostgreSQL, the process's on SQLite.
	Now() time.Time
	Tenant() holdshort.TenantID

	SessionReader
	MessageReader
	RunReader
	RequestReader
	OperationReader
	DeliveryReader
	InboundReader
	CounterReader
	KeyReader
	LoginReader
	WebhookReader
	EventReader
	StatsReader
	DeskReader
	SearchReader
	OverviewReader
}

// Tx also writes them. Put stores a new row when Revision is 0 and otherwise compares and sets: the row must still have that revision.
// Add stores a new row and never overwrites.
type Tx interface {
	ReadTx

	SessionWriter
	MessageWriter
	RunWriter
	RequestWriter
	OperationWriter
	DeliveryWriter
	InboundWriter
	CounterWriter
	KeyWriter
	LoginWriter
	WebhookWriter
	TimerWriter
	EventWriter
}

// Page is a part of a list. Rows that cannot be read do not hide the others: their ids are in Corrupt.
type Page[T any] struct {
	Items   []T
	Next    string // opaque; empty at the end
	Corrupt []string
}

// MaxPage is the most rows one page can have; a limit of 0 or more than this reads as this.
const MaxPage = 200

// Limits on what a row can hold; over them a write is TooLarge.
const (
	MaxBody = 4 << 20 // bytes of a row's payload
	MaxText = 4 << 10 // bytes of a name, a key or an address
)
