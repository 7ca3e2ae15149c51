package torture

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
)

// Activity counts the events of a torture of real processes that is under way.
type Activity struct {
	Kills, Runs, Agents, Pauses, Decisions, Conflicts, Messages, Raised, Claimed, Streamed, Effects int
}

// longestExtension ends a torture that Enough prolongs, even if it never reports true.
const longestExtension = 10 * time.Minute

// prolong returns after the duration, and, if enough is set, not before it reports true of the activity.
func prolong(ctx context.Context, d time.Duration, enough func(Activity) bool, activity func(context.Context) Activity) {
	linger(ctx, d)
	if enough == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, longestExtension)
	defer cancel()
	for ctx.Err() == nil && !enough(activity(ctx)) {
		linger(ctx, 100*time.Millisecond)
	}
}

// activity counts what clients, the world and the killer saw.
func (t *trial) activity(ctx context.Context, l *ledger, k *killer) Activity {
	now := l.activity()
	now.Kills = int(k.kills.Load())
	if t.stream != nil {
		now.Streamed = int(t.stream.count.Load())
	}
	if seen, err := t.world.seen(ctx); err == nil {
		now.Effects = seen.count()
	}
	return now
}

// count returns how many effects took place.
func (s Seen) count() (n int) {
	for _, e := range s.Effects {
		n += e.Count
	}
	return n
}

func (l *ledger) activity() Activity {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := Activity{Conflicts: l.conflicts, Raised: l.raised, Claimed: l.claimed, Pauses: len(l.asked), Messages: len(l.messages)}
	for _, r := range l.runs {
		if r.stored {
			a.Runs++
		}
		if r.stored && r.flow == agentFlow {
			a.Agents++
		}
	}
	for _, p := range l.asked {
		if p.stands != nil && p.stands.Action != holdshort.Cancel {
			a.Decisions++
		}
	}
	return a
}
