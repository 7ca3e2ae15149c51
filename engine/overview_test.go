package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/sqlite"
)

// desk is a store with requests that were closed, and what is known of them beside it.
type desk struct {
	*testing.T
	store  *sqlite.Store
	now    time.Time
	random *rand.Rand
	closed []store.ClosedRequest
}

func newDesk(t *testing.T) *desk {
	d := &desk{T: t, now: time.Date(2026, 3, 2, 9, 17, 0, 0, time.UTC), random: rand.New(rand.NewPCG(1, 2))}
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "h.db"), sqlite.Options{Clock: func() time.Time { return d.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	d.store = s
	return d
}

// add closes n requests within a time before now, at different moments.
func (d *desk) add(n int, within time.Duration) {
	d.Helper()
	kinds := []holdshort.Kind{holdshort.Approval, holdshort.Approval, holdshort.Clarification, holdshort.Disambiguation}
	outcomes := []holdshort.Outcome{holdshort.Approved, holdshort.Approved, holdshort.Rejected, holdshort.Edited, holdshort.Answered, holdshort.Selected}
	err := d.store.Update(d.Context(), "acme", func(tx store.Tx) error {
		for i := range n {
			c := store.ClosedRequest{Kind: kinds[d.random.IntN(4)], Rule: fmt.Sprint("rule ", d.random.IntN(6)), ClosedAt: d.now.Add(-within * time.Duration(i) / time.Duration(n)).Truncate(time.Microsecond)}
			c.CreatedAt = c.ClosedAt.Add(-time.Duration(d.random.Int64N(int64(30*time.Hour)) >> d.random.IntN(16))).Truncate(time.Microsecond)
			switch d.random.IntN(8) {
			case 0:
				c.Status = holdshort.RequestExpired
			case 1:
				c.Status = holdshort.RequestCanceled
			default:
				c.Status, c.Outcome = holdshort.RequestResolved, outcomes[d.random.IntN(6)]
				if c.Rule == "rule 3" {
					c.Outcome = holdshort.Approved
				}
				c.Actor = []string{"ana", "ben", "cleo", "policy:timeout", "system:clock"}[d.random.IntN(5)]
			}
			if c.Rule == "rule 0" {
				c.Rule = ""
			}
			req := holdshort.Request{ID: holdshort.NewRequestID(c.CreatedAt), Version: 1, Kind: c.Kind, Status: c.Status, Outcome: c.Outcome, Rule: c.Rule, Question: "?", Priority: holdshort.PriorityNormal,
				Fingerprint: "f", CreatedAt: c.CreatedAt, ClosedAt: c.ClosedAt}
			if err := tx.PutRequest(req); err != nil {
				return err
			}
			if c.Actor != "" {
				if err := tx.AddDecision(holdshort.Decision{ID: holdshort.NewDecisionID(c.ClosedAt), RequestID: req.ID, Action: holdshort.Approve, Actor: holdshort.Actor{ID: c.Actor}, Nonce: "n", KeyID: "k", MAC: "m", At: c.ClosedAt}); err != nil {
					return err
				}
			}
			d.closed = append(d.closed, c)
		}
		return nil
	})
	if err != nil {
		d.Fatal(err)
	}
	slices.SortStableFunc(d.closed, func(a, b store.ClosedRequest) int { return b.ClosedAt.Compare(a.ClosedAt) })
}

func (d *desk) overview(v *overviews, period time.Duration) (o Overview) {
	d.Helper()
	err := d.store.View(d.Context(), "acme", func(tx store.ReadTx) (err error) {
		o, err = v.of(tx, period)
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return o
}

// TestOverviewFigures: each figure is what one gets by counting, whichever part of the sample was read before.
func TestOverviewFigures(t *testing.T) {
	d := newDesk(t)
	var v overviews
	if o := d.overview(&v, 24*time.Hour); o.Sample.Looked != 0 || !o.Sample.All || o.Closed.Total != 0 || o.Times.P50 != 0 || len(o.Series) != 25 || len(o.ByRule)+len(o.People) != 0 {
		t.Errorf("of nothing: %+v", o)
	}
	periods := []time.Duration{24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour}
	check := func(when string) {
		t.Helper()
		for _, period := range periods {
			d.check(when, d.overview(&v, period), period)
		}
	}
	d.add(900, 40*24*time.Hour)
	check("at first")
	d.now = d.now.Add(20 * time.Second)
	d.add(40, 15*time.Second)
	check("with what was added")
	d.now = d.now.Add(30 * time.Second)
	check("with nothing added")
	d.now = d.now.Add(11 * time.Minute)
	d.add(5, 10*time.Minute)
	check("read anew")
	d.now = d.now.Add(time.Minute)
	d.add(4800, 50*time.Second)
	check("with more than a sample holds")
	if o := d.overview(&v, periods[2]); o.Sample.All || o.Sample.Looked != store.MostClosed {
		t.Errorf("the sample is %+v", o.Sample)
	}
}

func (d *desk) check(when string, o Overview, period time.Duration) {
	d.Helper()
	since := d.now.Add(-period)
	var sample []store.ClosedRequest
	for _, c := range d.closed[:min(len(d.closed), store.MostClosed)] {
		if !c.ClosedAt.Before(since) {
			sample = append(sample, c)
		}
	}
	all := len(d.closed) <= store.MostClosed || d.closed[store.MostClosed].ClosedAt.Before(since)
	if o.Sample.Looked != len(sample) || o.Sample.All != all || all && !o.Sample.From.Equal(since) || !all && !o.Sample.From.Equal(sample[len(sample)-1].ClosedAt) {
		d.Errorf("%s, %s: sample %+v of %d, want %d (all %v)", when, period, o.Sample, len(d.closed), len(sample), all)
	}
	same := func(what string, got, want any) {
		d.Helper()
		if !reflect.DeepEqual(got, want) {
			d.Errorf("%s, %s, %s: got %+v, want %+v", when, period, what, got, want)
		}
	}
	ofThose := func(fits func(store.ClosedRequest) bool) (Closings, Times) {
		var list []store.ClosedRequest
		for _, c := range sample {
			if fits(c) {
				list = append(list, c)
			}
		}
		return tallyUp(list)
	}
	closings, times := ofThose(func(store.ClosedRequest) bool { return true })
	same("closings", o.Closed, closings)
	same("times", o.Times, times)
	kinds, rules, people := map[holdshort.Kind]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range sample {
		kinds[c.Kind] = true
		if c.Rule != "" {
			rules[c.Rule] = true
		}
		if c.Actor != "" && !strings.Contains(c.Actor, ":") {
			people[c.Actor] = true
		}
	}
	same("how many kinds, rules, people", []int{len(o.ByKind), len(o.ByRule), len(o.People)}, []int{len(kinds), len(rules), len(people)})
	for _, f := range o.ByKind {
		closings, times := ofThose(func(c store.ClosedRequest) bool { return c.Kind == f.Kind })
		same(string(f.Kind), f, KindFigures{f.Kind, closings, times})
	}
	for _, f := range o.ByRule {
		closings, times := ofThose(func(c store.ClosedRequest) bool { return c.Rule == f.Rule })
		same(f.Rule, f, RuleFigures{f.Rule, closings, times, f.Rule == "rule 3" && times.N >= 20})
	}
	for _, f := range o.People {
		closings, times := ofThose(func(c store.ClosedRequest) bool { return c.Actor == f.Actor })
		same(f.Actor, f, ReviewerFigures{f.Actor, closings.Total, closings, times, Tally{}})
	}
	total := 0
	for i, step := range o.Series {
		closings, _ := ofThose(func(c store.ClosedRequest) bool {
			return !c.ClosedAt.Before(step.From) && c.ClosedAt.Before(step.From.Add(o.Step))
		})
		same(fmt.Sprint("step ", i), step, StepFigures{step.From, closings, step.From.Before(o.Sample.From)})
		total += closings.Total
	}
	same("what the steps have", total, len(sample))
}

// tallyUp does it the slow way.
func tallyUp(list []store.ClosedRequest) (c Closings, t Times) {
	var took []time.Duration
	into := map[string]*int{"expired": &c.Expired, "canceled": &c.Canceled, "approved": &c.Approved, "rejected": &c.Rejected, "edited": &c.Edited, "answered": &c.Answered, "selected": &c.Selected}
	for _, r := range list {
		c.Total++
		if r.Status == holdshort.RequestResolved {
			*into[string(r.Outcome)]++
		} else {
			*into[string(r.Status)]++
		}
		if r.Actor != "" && !strings.Contains(r.Actor, ":") {
			took = append(took, r.ClosedAt.Sub(r.CreatedAt))
		}
	}
	least := func(percent int) (best time.Duration) {
		for _, value := range took {
			n := 0
			for _, other := range took {
				if other <= value {
					n++
				}
			}
			if n*100 >= percent*len(took) && (best == 0 || value < best) {
				best = value
			}
		}
		return best
	}
	if len(took) > 400 { // the slow way is too slow
		slices.Sort(took)
		least = func(percent int) time.Duration {
			at := len(took) * percent / 100
			if at*100 == len(took)*percent {
				at--
			}
			return took[at]
		}
	}
	t = Times{N: len(took), P50: least(50), P90: least(90)}
	edges := []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour, 24 * time.Hour, 0}
	for i, edge := range edges {
		bucket := TimeBucket{Under: edge}
		for _, d := range took {
			if (edge == 0 || d < edge) && (i == 0 || d >= edges[i-1]) {
				bucket.N++
			}
		}
		t.Histogram = append(t.Histogram, bucket)
	}
	return c, t
}

// TestOverviewKept: those who come together wait for one count, which is good for a while; a failure is not kept.
func TestOverviewKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v overviews
		counts := 0
		count := func(context.Context) (Overview, error) {
			counts++ // one at a time: the race detector would tell
			<-time.After(time.Second)
			return Overview{Sample: Sample{Looked: counts}}, nil
		}
		key := overviewKey{"acme", time.Hour}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if o, err := v.get(t.Context(), key, count); err != nil || o.Sample.Looked != 1 {
					t.Errorf("%+v %v", o.Sample, err)
				}
			})
		}
		wg.Wait()
		looked := func(key overviewKey) int {
			o, err := v.get(t.Context(), key, count)
			if err != nil {
				t.Error(err)
			}
			return o.Sample.Looked
		}
		if got := looked(key); got != 1 {
			t.Errorf("at once it was counted again: %d", got)
		}
		if got := looked(overviewKey{"rival", time.Hour}); got != 2 {
			t.Errorf("another tenant got %d", got)
		}
		<-time.After(overviewFor)
		if got := looked(key); got != 3 {
			t.Errorf("after a while it was not counted again: %d", got)
		}
		<-time.After(overviewFor)
		broken := errors.New("broken")
		if _, err := v.get(t.Context(), key, func(context.Context) (Overview, error) { return Overview{}, broken }); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := v.get(gone, key, count); !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone got %v", err)
		}
		if got := looked(key); got != 4 { // the count did not end with whoever asked for it
			t.Errorf("after a failure: %d", got)
		}
	})
}
