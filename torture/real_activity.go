package torture

import (
	"context"
	"time"

	"github.com/holdshort/holdshort"
)

// Activity counts the events of a torture of real processes that is under way.
type Activity struct {
	Kills, Runs, Agents, Pauses, Decisions, Conflicts, Messages, Raised, Streamed, Effects int
}

// longestKilling ends the killing even if Enough never reports true.
const longestKilling = 10 * time.Minute

// killFor returns after the duration, and after that when Enough reports true.
func (t *trial) killFor(ctx context.Context, l *ledger, kills func() int64) {
	ctx, cancel := context.WithTimeout(ctx, max(t.Duration, longestKilling))
	defer cancel()
	linger(ctx, t.Duration)
	for t.Enough != nil && ctx.Err() == nil {
		now := l.activity()
		now.Kills = int(kills())
		if t.stream != nil {
			now.Streamed = int(t.stream.count.Load())
		}
		if seen, err := t.world.seen(ctx); err == nil {
			now.Effects = len(seen.Effects)
		}
		if t.Enough(now) {
			return
		}
		linger(ctx, 100*time.Millisecond)
	}
}

func (l *ledger) activity() Activity {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := Activity{Conflicts: l.conflicts, Raised: l.raised, Pauses: len(l.asked), Messages: len(l.messages)}
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
