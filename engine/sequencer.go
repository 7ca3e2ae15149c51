package engine

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	sequencerLease = 10 * time.Second
	sealEvery      = time.Minute
	sealAt         = 10_000
	stampAtOnce    = 1000
	stampEvery     = 25 * time.Millisecond
)

// tickSequencer gives committed events their positions, on the one node that has the lease, and says whether there may be more.
func (e *Engine) tickSequencer(ctx context.Context) (more bool, err error) {
	lease, err := e.sequencer(ctx)
	if holdshort.CodeOf(err) == holdshort.LeaseLost {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := e.store.System().Stamp(ctx, lease, stampAtOnce)
	if err == nil {
		if n > 0 {
			e.store.Wake().Ring(topicStamped)
		}
		err = e.seal(ctx, lease)
	}
	if err != nil {
		e.seat = holdshort.Lease{} // whatever it was, the next tick asks for the lease again
	}
	if holdshort.CodeOf(err) == holdshort.LeaseLost {
		return false, nil
	}
	return n == stampAtOnce, err
}

// sequencer takes the lease, or renews it when half of it is over: each is a commit. Only the loop, or a test in its place, calls it.
func (e *Engine) sequencer(ctx context.Context) (holdshort.Lease, error) {
	if e.seat.Owner != "" && time.Since(e.seated) < sequencerLease/2 {
		return e.seat, nil
	}
	lease, err := e.store.System().Acquire(ctx, store.SequencerLease, e.owner, sequencerLease)
	e.seat, e.seated = lease, time.Now()
	if err != nil {
		e.seat = holdshort.Lease{}
	}
	return e.seat, err
}

// leaveSeat gives the lease back, so that another node, or the next process, need not wait for its end.
func (e *Engine) leaveSeat() {
	if e.seat.Owner == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := e.store.System().Release(ctx, store.SequencerLease, e.seat); err != nil {
		e.log.Warn("give the sequencer's lease back", "error", err)
	}
	e.seat = holdshort.Lease{}
}

// topicStamped tells watchers that events have positions. On SQLite they have them when they are committed.
const topicStamped = "stamped"

// seal signs the log each minute, or when much has happened.
func (e *Engine) seal(ctx context.Context, lease holdshort.Lease) error {
	e.mu.Lock()
	due := time.Since(e.sealed) >= sealEvery
	e.mu.Unlock()
	if !due {
		return nil
	}
	for {
		seal, err := e.store.System().Seal(ctx, lease, sealAt)
		if err != nil {
			return err
		}
		e.mu.Lock()
		e.sealed = time.Now()
		e.mu.Unlock()
		if seal == nil {
			return nil
		}
		e.log.Info("audit.sealed", "number", seal.Number, "from", seal.From, "to", seal.To, "root", seal.Root, "key_id", seal.KeyID, "signature", seal.Signature)
		if seal.To-seal.From+1 < sealAt {
			return nil
		}
	}
}

func (e *Engine) sequencerLoop(ctx context.Context) (time.Duration, error) {
	more, err := e.tickSequencer(ctx)
	if more {
		return 0, err
	}
	if e.store.Exclusive() {
		return sealEvery, err // only seals are left to do
	}
	return time.Second, err
}

// tickRetention prunes what is old enough, in small steps, and says whether there may be more.
func (e *Engine) tickRetention(ctx context.Context) (more bool, err error) {
	pruned, err := e.store.System().Prune(ctx, *e.config.Retention)
	if err != nil {
		return false, err
	}
	total := pruned.Journals + pruned.Messages + pruned.Operations + pruned.Inbound + pruned.Decisions + pruned.Replays + pruned.Deliveries + pruned.Logins + pruned.Events
	if total > 0 {
		e.log.Info("pruned what was old enough", "journals", pruned.Journals, "messages", pruned.Messages, "operations", pruned.Operations, "inbound", pruned.Inbound,
			"decisions", pruned.Decisions, "replays", pruned.Replays, "deliveries", pruned.Deliveries, "logins", pruned.Logins, "events", pruned.Events)
	}
	return total > 0, nil
}

func (e *Engine) retentionLoop(ctx context.Context) (time.Duration, error) {
	more, err := e.tickRetention(ctx)
	if more {
		return 50 * time.Millisecond, err // others want to write too
	}
	return time.Hour, err
}
