package torture

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/holdshort/holdshort"
)

// Course says where and how hard scenarios are played.
type Course struct {
	// Bed gives a database for one pass and the tenant that the pass has in it. The course closes it after the pass.
	Bed func() (Bed, holdshort.TenantID, error)
	// Modes of the faults.
	Modes []Mode
	// Share of the points that are taken, by a seeded choice; Still for those at which the engine stands still. Default: all.
	Share, Still float64
	Seed         uint64
	// Twice is how many passes have a second fault, while the engine that came after the first takes up what was left.
	Twice int
	// Whole is how many passes without a fault count the calls of a scenario first. Default: 3.
	Whole int
	// Same also ends the engine after calls that only look: for it, the database and the world that is the same as before them.
	Same bool
	// Beside is how many passes go on at once. Default: 1.
	Beside int
}

// Exhaust plays a scenario without a fault, a few times, then with each mode at each of the calls that it made of the store.
func Exhaust(ctx context.Context, s Scenario, c Course) (*Report, error) {
	report := &Report{}
	play := func(f Fault) (Result, error) {
		bed, tenant, err := c.Bed()
		if err != nil {
			return Result{}, err
		}
		defer bed.Close()
		r, err := Play(ctx, s, bed, tenant, f, report)
		if err != nil {
			return r, fmt.Errorf("%s, %s: %w", s.Name, f, err)
		}
		return r, nil
	}
	least, most := 0, 0 // where people act at the same moment, the number of calls differs a little
	writes := map[int]bool{}
	for n := range cmp.Or(c.Whole, 3) {
		whole, err := play(Fault{})
		if err != nil {
			return report, err
		}
		calls := len(whole.Calls)
		if most = max(most, calls); n == 0 || calls < least {
			least = calls
		}
		for i, call := range whole.Calls {
			writes[i+1] = writes[i+1] || !looks(call)
		}
	}
	if s.Crowded {
		least /= 2
	}
	faults := c.faults(most, func(point int) bool { return c.Same || point > least || writes[point] })
	var err error
	var mu sync.Mutex
	next := 0
	take := func() (f Fault, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(faults) || err != nil {
			return f, false
		}
		next++
		return faults[next-1], true
	}
	var wg sync.WaitGroup
	for range max(c.Beside, 1) {
		wg.Go(func() {
			for f, ok := take(); ok; f, ok = take() {
				r, fault := play(f)
				mu.Lock()
				if fault != nil {
					err = fault
				}
				mu.Unlock()
				line := Line{Points: 1}
				if r.Reached == "" && fault == nil && f.Point <= least {
					line.Unreached = 1
				}
				report.Count(line)
			}
		})
	}
	wg.Wait()
	return report, err
}

// faults lists the passes; differs says of a call whether to die after it is another thing than to die before it.
func (c Course) faults(calls int, differs func(point int) bool) (list []Fault) {
	dice := rand.New(rand.NewPCG(c.Seed, uint64(calls)))
	for point := 1; point <= calls; point++ {
		for _, m := range c.Modes {
			if m == After && !differs(point) {
				continue
			}
			share := c.Share
			if m.frozen() && c.Still > 0 {
				share = c.Still
			}
			if share <= 0 || dice.Float64() < share {
				list = append(list, Fault{Point: point, Mode: m})
			}
		}
	}
	for range c.Twice {
		list = append(list, Fault{Point: 1 + dice.IntN(calls), Mode: c.Modes[dice.IntN(len(c.Modes))], Again: 1 + dice.IntN(calls)})
	}
	return list
}
