package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// measureCycle fills the table of cycles: the engine, and beside it the same rows and commits in raw SQL.
func measureCycle(ctx context.Context, t *target, o Options, report *Report) error {
	if !o.Cycle {
		return nil
	}
	own, drop, err := t.fresh(ctx, "cycle")
	if err != nil {
		return err
	}
	defer drop()
	beside, dropBeside, err := t.fresh(ctx, "replay")
	if err != nil {
		return err
	}
	defer dropBeside()
	s, err := record(ctx, beside)
	if err != nil {
		return fmt.Errorf("record what a cycle writes: %w", err)
	}
	r, err := newReplayer(ctx, beside, &s)
	if err != nil {
		return err
	}
	defer r.close()
	report.Cycle = &Cycle{Statements: s.statements()}
	for _, callers := range o.Callers {
		o.Progress(fmt.Sprintf("%s: cycle, %d callers", report.Store, callers))
		if err := measureCallers(ctx, own, o, r, &s, callers, report.Cycle); err != nil {
			return err
		}
	}
	return nil
}

// statements of each transaction of the script.
func (s *script) statements() (counts []int) {
	for _, transaction := range s.transactions {
		counts = append(counts, len(transaction))
	}
	return counts
}

// tally adds up what alternates.
type tally struct {
	laps                      []lap
	transactions, refused     int64
	commits                   int64
	engineTime, replayTime    time.Duration
	engineCycles, replayCount int
	bare                      []time.Duration
}

func measureCallers(ctx context.Context, t *target, o Options, r replayer, s *script, callers int, out *Cycle) error {
	var commits atomic.Int64
	t.onStatement = func(text string) {
		if text == "COMMIT" {
			commits.Add(1)
		}
	}
	store, err := t.open(ctx, 256, callers)
	if err != nil {
		return err
	}
	defer store.Close()
	k, err := startKernel(ctx, store, callers+64)
	if err != nil {
		return err
	}
	defer k.stop()
	if _, _, err := k.cycles(ctx, callers, o.Duration/20); err != nil { // connections and plans
		return err
	}
	const rounds = 3
	var sum tally
	for range rounds {
		if err := k.settled(ctx); err != nil {
			return err
		}
		transactions, refused, own, before := k.store.updates.Load(), k.store.refused.Load(), k.store.system.commits.Load(), commits.Load()
		laps, took, err := k.cycles(ctx, callers, o.Duration/rounds)
		if err != nil {
			return err
		}
		transactions, refused, before = k.store.updates.Load()-transactions, k.store.refused.Load()-refused, commits.Load()-before
		sum.transactions, sum.refused, sum.commits = sum.transactions+transactions, sum.refused+refused, sum.commits+before
		sum.laps, sum.engineTime, sum.engineCycles = append(sum.laps, laps...), sum.engineTime+took, sum.engineCycles+len(laps)
		if err := k.settled(ctx); err != nil {
			return err
		}
		group := float64(transactions) / float64(max(before-(k.store.system.commits.Load()-own), 1))
		cycles, took, err := replay(ctx, r, s, callers, group, o.Duration/rounds)
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		sum.replayCount, sum.replayTime = sum.replayCount+cycles, sum.replayTime+took
		if callers == 1 {
			if err := sum.bareCommits(ctx, r, o.Duration/rounds/4); err != nil {
				return err
			}
		}
	}
	out.add(callers, sum)
	return nil
}

// bareCommits commits one row after the other.
func (t *tally) bareCommits(ctx context.Context, r replayer, d time.Duration) error {
	for start := time.Now(); len(t.bare) == 0 || time.Since(start) < d; {
		begin := time.Now()
		if err := r.bare(ctx); err != nil {
			return fmt.Errorf("one bare row: %w", err)
		}
		t.bare = append(t.bare, time.Since(begin))
	}
	return nil
}

// settled waits until the engine has nothing left to do: what it does late must not slow down what it is compared with.
func (k *kernel) settled(ctx context.Context) error {
	if err := k.Settle(ctx); err != nil || k.store.Exclusive() {
		return err
	}
	for {
		health, err := k.store.System().Health(ctx)
		if err != nil || health.Unstamped == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (c *Cycle) add(callers int, sum tally) {
	n := float64(max(sum.engineCycles, 1))
	row := Cycles{Callers: callers, PerSecond: float64(sum.engineCycles) / sum.engineTime.Seconds(), Replay: float64(sum.replayCount) / sum.replayTime.Seconds(),
		Transactions: float64(sum.transactions) / n, Refused: float64(sum.refused) / n, Commits: float64(sum.commits) / n}
	row.Ratio = row.PerSecond / row.Replay
	var whole, decided []time.Duration
	for _, l := range sum.laps {
		whole, decided = append(whole, l.whole), append(decided, l.decided)
	}
	row.P50, row.P99, row.DecideP50, row.DecideP99 = quantile(whole, 0.5), quantile(whole, 0.99), quantile(decided, 0.5), quantile(decided, 0.99)
	c.Rows = append(c.Rows, row)
	if callers == 1 {
		c.BareP50 = quantile(sum.bare, 0.5)
		c.DecideToBare = float64(row.DecideP50) / float64(max(c.BareP50, 1))
	}
}
