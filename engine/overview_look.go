package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// Periods of an overview.
const (
	overviewLeast = time.Hour
	overviewMost  = 31 * 24 * time.Hour
)

// Overview counts and measures from bounded samples, for those who look after requests: at most MostClosed requests that were closed within
// the time since then. It may be some seconds old, and others have the same one: nobody changes it.
func (e *Engine) Overview(ctx context.Context, tenant holdshort.TenantID, since time.Duration, actor holdshort.Actor) (Overview, error) {
	if !mayOversee(actor) {
		return Overview{}, &holdshort.Error{Code: holdshort.Forbidden, Op: "look at the overview", Message: clip(actor.ID) + " may not do that",
			Hint: "ask for the role reviewer, auditor, operator or admin"}
	}
	if since < overviewLeast || since > overviewMost {
		return Overview{}, &holdshort.Error{Code: holdshort.Invalid, Op: "look at the overview", Field: "since", Message: "the period is too short or too long", Hint: "take an hour to 31 days"}
	}
	return e.overview.get(ctx, overviewKey{tenant, since}, func(ctx context.Context) (Overview, error) {
		return view(ctx, e, tenant, func(tx store.ReadTx) (Overview, error) { return e.overview.of(tx, since) })
	})
}

func mayOversee(actor holdshort.Actor) bool {
	ok, _ := policy.Can(policy.View, actor, policy.Resource{}) // what is nobody's: those who see everything
	return ok || actor.ID != "" && actor.HasRole(policy.Reviewer)
}

func (v *overviews) of(tx store.ReadTx, period time.Duration) (o Overview, err error) {
	o.At, o.Since = tx.Now(), tx.Now().Add(-period)
	s, err := tx.Standing(o.Since, openAges...)
	if err != nil {
		return o, err
	}
	o.Open = OpenNow{Total: s.Open, ByKind: s.ByKind}
	for i, t := range s.ByAge {
		bucket := AgeBucket{Tally: t}
		if i < len(openAges) {
			bucket.Under = openAges[i]
		}
		o.Open.ByAge = append(o.Open.ByAge, bucket)
	}
	o.Unknown = UnknownNow{Total: s.Unknown, Latest: s.Lost}
	o.Runs = RunsNow{Queued: s.Queued, Running: s.Running, Waiting: s.Waiting, Sleeping: s.Sleeping, Held: s.Held, Failed: s.Failed}
	o.Outbox = outboxNow(s.Outbox)
	if o.Outbox.Webhooks, err = failingWebhooks(tx); err != nil {
		return o, err
	}
	sample, err := v.sample(tx)
	if err != nil {
		return o, err
	}
	closed, all := sample.since(o.Since)
	o.Sample = Sample{Looked: len(closed), All: all, From: o.Since}
	if !all {
		o.Sample.From = closed[len(closed)-1].ClosedAt
	}
	o.measure(closed, s.Assigned)
	return o, nil
}

func outboxNow(list []store.OutboxTally) (o OutboxNow) {
	for _, t := range list {
		i := slices.IndexFunc(o.Channels, func(c ChannelFigures) bool { return c.Channel == t.Channel })
		if i < 0 {
			i = len(o.Channels)
			o.Channels = append(o.Channels, ChannelFigures{Channel: t.Channel})
		}
		c := &o.Channels[i]
		total, of := &o.Queued, &c.Queued
		switch t.Status {
		case holdshort.DeliveryParked:
			total, of = &o.Parked, &c.Parked
		case holdshort.DeliveryDead:
			total, of = &o.Dead, &c.Dead
		}
		*of = t.Tally
		*total = together(*total, t.Tally)
	}
	slices.SortFunc(o.Channels, func(a, b ChannelFigures) int { return strings.Compare(a.Channel, b.Channel) })
	return o
}

// together adds two counts; the sum is exact no farther than each of them is.
func together(a, b Tally) Tally {
	a.Count, a.More = a.Count+b.Count, a.More || b.More
	if a.Count > store.MostCounted {
		a.Count, a.More = store.MostCounted, true
	}
	if a.Oldest.IsZero() || !b.Oldest.IsZero() && b.Oldest.Before(a.Oldest) {
		a.Oldest = b.Oldest
	}
	return a
}

const (
	mostEndpoints  = 50
	lastDeliveries = 5
)

// failingWebhooks gives those endpoints that are off, or that did not take one of the last things they were sent.
func failingWebhooks(tx store.ReadTx) (list []WebhookFigures, err error) {
	hooks, err := tx.Webhooks()
	for _, w := range hooks[:min(len(hooks), mostEndpoints)] {
		page, err := tx.Deliveries(store.DeliveryQuery{Prefix: string(w.ID) + ":", Limit: lastDeliveries})
		if err != nil {
			return list, err
		}
		f := WebhookFigures{ID: w.ID, Disabled: w.Disabled, Looked: len(page.Items)}
		for _, d := range page.Items {
			if d.Status != holdshort.DeliverySent && len(d.Log) > 0 {
				f.Wrong++
			}
			if n := len(d.Log); n > 0 && d.Log[n-1].At.After(f.At) {
				f.At, f.Status = d.Log[n-1].At, d.Log[n-1].Status
			}
		}
		if f.Wrong > 0 || f.Disabled != "" {
			list = append(list, f)
		}
	}
	return list, err
}
