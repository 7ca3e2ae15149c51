package engine

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/tool"
)

// Config of an engine. The zero value works, and runs nothing: it has no flows.
type Config struct {
	// Keyring signs and verifies decisions. Default: the store's own.
	Keyring *holdshort.Keyring
	// Flows that this node runs.
	Flows []flow.Flow
	// Agents are flows that people start by another name: the agent's name, and that of its flow.
	Agents map[string]string
	// Tools that they call.
	Tools []tool.Tool
	// Policy says which calls need a person. Default: all of them, and a reviewer.
	Policy policy.Policy
	// Senders carry deliveries out, by channel. Default: none; deliveries wait.
	Senders map[string]Sender
	// Node names this process among those that share the store. Default: host, process id and a random part.
	Node string
	// Workers is how many runs are executed at once. Default: 64.
	Workers int
	// Lease is how long a run belongs to a node that no longer speaks. Default: 30 seconds.
	Lease time.Duration
	// Grace is how long a new run may go on before it is first stored, so that its first pause shares that commit. Default: 20 milliseconds.
	Grace time.Duration
	// Drain is how long calls under way may take when the engine stops. Default: 10 seconds.
	Drain time.Duration
	// Clock is what flows see as the time. Default: the store's, as this process saw it last. Set it where the store's is injected.
	Clock func() time.Time
	// Limits of a run, a session and a tenant.
	Limits Limits
	// Retention. Default: journals and messages 30 days, records 90 days, replays 7 days, deliveries 30 days, events for ever.
	Retention *store.Retention
	// Redact takes what is personal out of messages: before they are stored, shown, or sent to a model. It gives the parts that may go on. One
	// that panics or gives an error has the parts withheld. Default: nothing is taken out.
	Redact func(ctx context.Context, r Redaction) ([]holdshort.Part, error)
	// History says how much of what was said counts.
	History HistoryConfig
	// Observer is told what happens, for metrics and traces. Default: nobody.
	Observer Observer
	// Logger. Default: slog.Default().
	Logger *slog.Logger
}

// HistoryConfig says how much of a session's messages counts. Zero fields have the defaults.
type HistoryConfig struct {
	// Window is how far back a history goes that names none, and that of a run counts from its start. Default: one hour.
	Window time.Duration
	// Last is how many messages a model gets, besides the pinned ones. Default: 100.
	Last int
}

// Limits cap what one party can take. Zero fields have the defaults.
type Limits struct {
	// Pauses is how many requests one run may raise. Default: 1,000.
	Pauses int
	// OpenRequests is how many requests of one session may be open. Default: 100.
	OpenRequests int
	// TenantRuns is how many runs of one tenant this node executes at once. Default: no limit.
	TenantRuns int
	// Claims without progress after which a run is held: it kills its process. Default: 5.
	Claims int
	// Silence is how long a flow's own code may go on without an effect before its run is held. Default: 10 minutes.
	Silence time.Duration
	// Calls is how many attempts one operation may have. Default: 5.
	Calls int
	// Reasks after which no further hints are counted. Default: 3.
	Reasks int
	// Text is how long a question, a message or a comment may be, in bytes. Default: 64 KiB.
	Text int
	// Args is how large the arguments of a call may be, in bytes. Default: 256 KiB.
	Args int
}

// DefaultRetention returns the retention of a Config that has none.
func DefaultRetention() store.Retention {
	const day = 24 * time.Hour
	return store.Retention{Journals: 30 * day, Records: 90 * day, Replays: 7 * day, Deliveries: 30 * day, Limit: 500}
}

func (c Config) withDefaults() Config {
	if c.Policy == nil {
		c.Policy = policy.AskAlways
	}
	if c.Node == "" {
		host, _ := os.Hostname()
		c.Node = host + "-" + strconv.Itoa(os.Getpid()) + "-" + holdshort.NewSalt()[:8]
	}
	c.Workers = or(c.Workers, 64)
	c.Lease = or(c.Lease, 30*time.Second)
	c.Grace = or(c.Grace, 20*time.Millisecond)
	c.Drain = or(c.Drain, 10*time.Second)
	c.History.Window = or(c.History.Window, time.Hour)
	c.History.Last = or(c.History.Last, 100)
	c.Limits.Pauses = or(c.Limits.Pauses, 1000)
	c.Limits.OpenRequests = or(c.Limits.OpenRequests, 100)
	c.Limits.Claims = or(c.Limits.Claims, 5)
	c.Limits.Silence = or(c.Limits.Silence, 10*time.Minute)
	c.Limits.Calls = or(c.Limits.Calls, 5)
	c.Limits.Reasks = or(c.Limits.Reasks, 3)
	c.Limits.Text = or(c.Limits.Text, 64<<10)
	c.Limits.Args = or(c.Limits.Args, 256<<10)
	if c.Retention == nil {
		retention := DefaultRetention()
		c.Retention = &retention
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

func or[T int | time.Duration](v, other T) T {
	if v <= 0 {
		return other
	}
	return v
}
