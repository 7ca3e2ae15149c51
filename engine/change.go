package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// change is one use case's transaction: what it writes, and what is to be done once that is committed. The function of a use case may run
// twice, so everything that it hands out hangs on the change.
type change struct {
	store.Tx
	e       *Engine
	now     time.Time
	topics  []string // rung after the commit
	taken   []claimed
	logs    []func()
	closed  []holdshort.Request // the observer is told of them after the commit
	channel string              // over which the person acts whose words this carries out; "": none is known
	origins map[holdshort.RunID]*holdshort.Run
	added   []holdshort.JournalEntry
	signed  int // how many of added are in the digests of their runs
	stored  map[holdshort.RunID]bool
	known   *known
	decided *holdshort.Decision           // the last that it added
	chats   map[holdshort.SessionID]*chat // sessions that it touches: read once, written once, at its end
	replied holdshort.RequestID           // a message of its session is the decision: it stands in the history as that
	batch   bool                          // a flow's own facts of the same commit follow: an ending is told after them
	later   func() error                  // the event that closes the transaction's story
	damaged *holdshort.Run                // a run that it read and whose row is damaged

	ledgerOnly bool // the journal of the run is damaged: entries are not added
}

// claimed is a run that this node took in a transaction; it is executed after the commit.
type claimed struct {
	run     holdshort.Run
	slot    *slot
	journal *journal // nil: to be loaded
}

const maxConflicts = 10

// update runs a use case in one transaction, and again if somebody else wrote one of its rows first. Nothing is rung, logged or executed
// before the commit.
func (e *Engine) update(ctx context.Context, tenant holdshort.TenantID, fn func(*change) error, rows ...store.Row) error {
	key := takeOnce(ctx)
	if key != nil && len(rows) > 0 { // who names nothing shares nothing
		rows = append(slices.Clip(rows), key.row())
	}
	for attempt := 1; ; attempt++ {
		var c *change
		var own error
		err := e.store.Update(ctx, tenant, func(tx store.Tx) error {
			c = &change{Tx: tx, e: e, now: tx.Now()}
			e.clock.saw(c.now)
			if key != nil {
				if own = e.replayed(c, key); own != nil {
					return own
				}
			}
			if own = fn(c); own == nil {
				own = c.closeChats()
			}
			if own == nil {
				own = c.allSigned()
			}
			if own == nil && key != nil {
				own = c.remember(key)
			}
			return own
		}, rows...)
		switch {
		case err == nil:
			c.committed(tenant)
			return nil
		case errors.Is(err, holdshort.Conflict) && attempt < maxConflicts: // also where a read inside fn sent earlier writes
		case own == nil && (errors.Is(err, holdshort.Duplicate) || errors.Is(err, holdshort.Closed)) && attempt < 3: // the second look finds who was faster
		case own == nil && c != nil && c.known != nil: // it was only remembered
		default:
			if c != nil && c.damaged != nil && errors.Is(err, holdshort.Corrupt) {
				e.holdDamaged(ctx, tenant, *c.damaged)
			}
			return err
		}
	}
}

// committed does what waits for the commit.
func (c *change) committed(tenant holdshort.TenantID) {
	c.e.report(c)
	for _, t := range c.taken {
		c.e.launch(tenant, t)
	}
	c.e.wake(c.topics)
}

// report tells the observer and the log what changes did, once they are committed. The store tells the observer their events.
func (e *Engine) report(changes ...*change) {
	for _, c := range changes {
		for _, req := range c.closed {
			e.config.Observer.Closed(req)
		}
		for _, log := range c.logs {
			log()
		}
	}
}

// wake notifies the subscribers of topics, each topic once.
func (e *Engine) wake(topics []string) {
	if len(topics) > 0 {
		slices.Sort(topics)
		e.store.Wake().Ring(slices.Compact(topics)...)
	}
}

// AddJournal also remembers what it added, for a run that is executed right after the commit.
func (c *change) AddJournal(e holdshort.JournalEntry) error {
	if c.ledgerOnly {
		return nil
	}
	c.added = append(c.added, e)
	return c.Tx.AddJournal(e)
}

// remembered gives the journal of a run that is stored now at the revision after the one that was read, if nobody need read it back.
func (c *change) remembered(read holdshort.Run) *journal {
	entries, ok := c.e.memory.take(c.Tenant(), read.ID, read.Revision)
	if !ok {
		return nil
	}
	for _, e := range c.added {
		if e.RunID == read.ID {
			entries = append(entries, e)
		}
	}
	return newJournal(entries)
}

// ring tells whoever waits for these topics, after the commit.
func (c *change) ring(topics ...string) { c.topics = append(c.topics, topics...) }

// Topics of the wake-ups.
const (
	topicRuns   = "runs"
	topicTimers = "timers"
	topicOutbox = "outbox"
	topicEvents = "events"
)

func runTopic(id holdshort.RunID) string         { return "run:" + string(id) }
func requestTopic(id holdshort.RequestID) string { return "request:" + string(id) }
