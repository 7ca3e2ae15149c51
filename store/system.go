package store

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
)

// Due is something to do for a tenant.
type Due struct {
	Tenant holdshort.TenantID
	Timer  holdshort.Timer
}

// RunClaim says which runs a node can take.
type RunClaim struct {
	Flows []FlowVersion // what the node can run; none: nothing
	Limit int

	// Abandoned also takes runs that are running under a lease which has not ended, unless Owner has it. It is for the start of a process on
	// an Exclusive store, where whoever had those leases is gone; elsewhere it is refused, because it would take runs from the living.
	Abandoned bool
	Owner     string // whose leases Abandoned leaves alone
}

// FlowVersion names a version of a flow.
type FlowVersion struct {
	Flow    string
	Version int
}

// DeliveryClaim says which deliveries a node can take.
type DeliveryClaim struct {
	Channels []string // none: nothing
	Limit    int
}

// Retention says what may go. Zero durations keep for ever.
type Retention struct {
	Journals   time.Duration // after the run ended: journals, messages, payloads
	Records    time.Duration // after the run ended: ledger, dedup, decisions
	Replays    time.Duration // also of logins, after they expired
	Deliveries time.Duration // after they were sent, died or were dropped
	Events     time.Duration
	Limit      int // rows of each kind in one call
}

// Pruned counts what went.
type Pruned struct {
	Journals, Messages, Operations, Inbound, Decisions, Replays, Deliveries, Logins, Events int64
}

// System is what the loops need across tenants: ids that are due, shared out fairly, and the care of the store itself.
type System interface {
	Now(ctx context.Context) (time.Time, error)

	// DueTimers gives timers whose time has come, each tenant's share in turn, and when the next one is due (zero: none is set).
	DueTimers(ctx context.Context, limit int) (due []Due, next time.Time, err error)
	// ClaimRuns hands runs that can go on to fn, each in a Tx of its tenant, all in one transaction: fn makes the transition. A run that
	// cannot be read is held.
	ClaimRuns(ctx context.Context, claim RunClaim, fn func(Tx, holdshort.Run) error) (int, error)
	// ClaimDeliveries does the same for deliveries that are due and have nothing ordered before them.
	ClaimDeliveries(ctx context.Context, claim DeliveryClaim, fn func(Tx, holdshort.Delivery) error) (int, error)
	// UnroutedInbound gives what was accepted before a moment and not routed yet.
	UnroutedInbound(ctx context.Context, before time.Time, limit int) ([]InboundRef, error)

	// KeyByHash and LoginByHash find who calls before anybody knows the tenant.
	KeyByHash(ctx context.Context, hash string) (holdshort.TenantID, holdshort.Key, error)
	LoginByHash(ctx context.Context, hash string) (holdshort.TenantID, holdshort.Login, error)
	// LaggingWebhooks gives those that are on and have not looked at their tenant's last events, the farthest behind first.
	LaggingWebhooks(ctx context.Context, limit int) ([]WebhookRef, error)

	LeaseKeeper
	AuditKeeper
	Indexer
	Keeper
}

// InboundRef names an accepted message.
type InboundRef struct {
	Tenant                holdshort.TenantID
	Channel, Address, Key string
}

// LeaseKeeper gives one node at a time the right to a name, with an epoch that fences off the one before.
type LeaseKeeper interface {
	// Acquire takes or renews the lease: LeaseLost while another owner has it.
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (holdshort.Lease, error)
	// Release gives it back; one that is no longer ours is no error.
	Release(ctx context.Context, name string, lease holdshort.Lease) error
}

// AuditKeeper keeps the order and the seals of events.
type AuditKeeper interface {
	// Stamp gives positions to committed events in their order and says how many. On SQLite they have them already.
	Stamp(ctx context.Context, lease holdshort.Lease, limit int) (int, error)
	// Seal signs a root over everything since the last seal, at most limit events; nil if there is nothing.
	Seal(ctx context.Context, lease holdshort.Lease, limit int) (*holdshort.Seal, error)
	// Verify walks streams and seals.
	Verify(ctx context.Context) (Verdict, error)
	// VerifyTail looks at the last events only, MostTail at most: their chains, and the seals that lie wholly within them.
	VerifyTail(ctx context.Context, events int) (Verdict, error)
	// Export hands every stamped event and every seal to fn, in order, without holding a transaction open.
	Export(ctx context.Context, fn func(Record) error) error
}

// SequencerLease is the name under which one node stamps and seals.
const SequencerLease = "sequencer"

// FeederLease is the name under which one node hands events to webhooks.
const FeederLease = "feeder"

// Record is one line of an export.
type Record struct {
	Tenant holdshort.TenantID `json:"tenant,omitempty"`
	Event  *holdshort.Event   `json:"event,omitempty"`
	Hash   []byte             `json:"hash,omitempty"`
	Seal   *holdshort.Seal    `json:"seal,omitempty"`
}

// Verdict is what Verify found.
type Verdict struct {
	Events   int64     `json:"events"`
	Streams  int64     `json:"streams"`
	Seals    int64     `json:"seals"`
	Unsealed int64     `json:"unsealed"` // events after the last seal: only their chains vouch for them
	Erased   int64     `json:"erased"`   // bodies that were erased; their digests stand
	PrunedTo int64     `json:"pruned_to"`
	Faults   []Fault   `json:"faults"`
	At       time.Time `json:"at"`
	// From and To are the positions between which VerifyTail looked; 0 of Verify, which looks at all of them.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
}

// MostTail is how many events VerifyTail looks at, at most.
const MostTail = 20_000

// Fault is one place where the log is not what was written.
type Fault struct {
	Position int64              `json:"position,omitempty"`
	Seal     int64              `json:"seal,omitempty"`
	Tenant   holdshort.TenantID `json:"tenant,omitempty"`
	Stream   string             `json:"stream,omitempty"`
	Problem  string             `json:"problem"`
}

// Keeper looks after the store.
type Keeper interface {
	Prune(ctx context.Context, retention Retention) (Pruned, error)
	Health(ctx context.Context) (Health, error)
	// ExamineRuns reads up to limit runs that have not ended, with their journals, and reports those whose rows are damaged. It stops at
	// 100 faults.
	ExamineRuns(ctx context.Context, limit int) (RunsExamined, error)
	// AcceptRestore ends a quarantine: from here on the store is what it is.
	AcceptRestore(ctx context.Context, by holdshort.Actor) error
}

// Health is what doctor shows of a store.
type Health struct {
	Driver     string        `json:"driver"`
	Server     string        `json:"server"` // the database's own version
	Schema     int           `json:"schema"`
	Instance   string        `json:"instance"`
	Position   int64         `json:"position"`
	Unstamped  int64         `json:"unstamped"`
	Unsealed   int64         `json:"unsealed"`
	SealedAt   time.Time     `json:"sealed_at,omitzero"`
	ClockSkew  time.Duration `json:"clock_skew"` // the database's clock less this process's
	Quarantine string        `json:"quarantine,omitempty"`
	Tenants    int64         `json:"tenants"`
	Waiting    int64         `json:"waiting"`
	Open       int64         `json:"open_requests"`
	Held       int64         `json:"held"`
	StaleRuns  int64         `json:"stale_runs"` // running under a lease that ended
	Overdue    int64         `json:"overdue_timers"`
	Bytes      int64         `json:"bytes"`
	Problems   []string      `json:"problems,omitempty"`
}

// Wake carries hints. A hint may be lost or come twice: a scan is the truth.
type Wake interface {
	// Ring tells whoever subscribed to one of the topics, on every node. It does not block; call it after the commit.
	Ring(topics ...string)
	// Subscribe gives a channel with room for one hint, and a function that ends the subscription.
	Subscribe(topics ...string) (<-chan struct{}, func())
}

// Codec turns payloads into what is stored: encryption at rest. The place binds a payload to its row, so that it cannot be moved.
type Codec interface {
	Encode(place string, payload []byte) ([]byte, error)
	Decode(place string, stored []byte) ([]byte, error)
}
