package holdshorttest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/holdshorttest"
)

// clocked sleeps in branches and tells when each of them went on.
var clocked = flow.New("clocked", 1, func(c *flow.Context, naps []time.Duration) (string, error) {
	woke, err := flow.Each(c, "nap", naps, time.Duration.String, func(c *flow.Context, d time.Duration) (string, error) {
		flow.Sleep(c, "pause", d)
		return flow.Now(c, "woke").Format("15:04"), nil
	})
	return fmt.Sprint(woke), err
})

func TestAdvanceStopsWhereSomethingIsDue(t *testing.T) {
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{clocked}})
	run := k.Start("clocked", []time.Duration{24 * time.Hour, time.Hour, 90 * time.Minute})
	k.Advance(time.Hour)
	if got := k.Wait(run).Status; got != holdshort.RunWaiting {
		t.Fatalf("%s after an hour", got)
	}
	k.Advance(72 * time.Hour)
	if got := holdshorttest.Result[string](k, run); got != "[09:00 10:00 10:30]" {
		t.Errorf("woke at %s", got)
	}
}

func TestTimersAndPeopleGoInOrder(t *testing.T) {
	var order []string
	note := func(c *flow.Context, what string) {
		_, _ = flow.Step(c, "note "+what, func(context.Context) (int, error) { order = append(order, what); return 0, nil })
	}
	nap := flow.New("nap", 1, func(c *flow.Context, d time.Duration) (int, error) {
		flow.Sleep(c, "pause", d)
		note(c, d.String())
		return 0, nil
	})
	ask := flow.New("ask", 1, func(c *flow.Context, _ int) (int, error) {
		if _, err := flow.Approve(c, "ok", flow.Question{Text: "Go on?"}); err != nil {
			return 0, err
		}
		note(c, "person")
		return 0, nil
	})
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{nap, ask}})
	k.WhenAsked(holdshorttest.Match{Question: "Go on"}).After(2 * time.Minute).Approve()
	for _, m := range []time.Duration{3, 1} {
		k.Start("nap", m*time.Minute)
	}
	k.Start("ask", 0)
	k.Advance(time.Hour)
	if got := fmt.Sprint(order); got != "[1m0s person 3m0s]" {
		t.Errorf("order %s", got)
	}
	if got := k.Now().Sub(holdshorttest.Monday).Round(time.Second); got != time.Hour {
		t.Errorf("the clock moved by %s", got)
	}
}

// mailbox waits for a word, for an hour at most.
var mailbox = flow.New("mailbox", 1, func(c *flow.Context, _ int) (string, error) {
	word, err := flow.Wait[string](c, "word", time.Hour)
	if holdshort.CodeOf(err) == holdshort.TimedOut {
		return "nothing", nil
	}
	return word, err
})

func TestPosts(t *testing.T) {
	tests := []struct {
		name string
		do   func(k *holdshorttest.Kit, run holdshort.RunID)
		want string
	}{
		{"in time", func(k *holdshorttest.Kit, run holdshort.RunID) {
			k.Advance(30 * time.Minute)
			k.Post(run, "word", "hello")
		}, "hello"},
		{"the first of two", func(k *holdshorttest.Kit, run holdshort.RunID) { k.Post(run, "word", "one"); k.Advance(time.Hour) }, "one"},
		{"by an operator", func(k *holdshorttest.Kit, run holdshort.RunID) {
			k.As("olga", "operator").Post(run, "word", "from olga")
		}, "from olga"},
		{"never", func(k *holdshorttest.Kit, run holdshort.RunID) { k.Advance(time.Hour) }, "nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{mailbox}})
			run := k.As("ben").Start("mailbox", 0)
			tt.do(k, run)
			if got := holdshorttest.Result[string](k, run); got != tt.want {
				t.Errorf("result %q, want %q", got, tt.want)
			}
		})
	}
}

func TestStartOfTheClock(t *testing.T) {
	at := time.Date(2031, 12, 24, 18, 0, 0, 0, time.FixedZone("here", 3600))
	now := flow.New("now", 1, func(c *flow.Context, _ int) (time.Time, error) { return flow.Now(c, "now"), nil })
	k := holdshorttest.New(t, holdshorttest.Options{Flows: []flow.Flow{now}, Start: at})
	first := holdshorttest.Result[time.Time](k, k.Start("now", 0))
	k.Advance(time.Minute)
	second := holdshorttest.Result[time.Time](k, k.Start("now", 0))
	if first.Sub(at).Round(time.Second) != 0 || second.Sub(at).Round(time.Second) != time.Minute {
		t.Errorf("flows saw %s and %s", first, second)
	}
}
