package sqldb

import (
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// few counts the rows of a bounded read, and the least of a time in them. Conditions of partial indexes are written out.
func few(column, from string) *Statement {
	return statement(`SELECT COUNT(*), COALESCE(MIN(at), 0) FROM (SELECT ` + column + ` AS at FROM ` + from + ` LIMIT 1001) AS few`)
}

var (
	openOfKind = few("created_at", `requests WHERE tenant = ? AND status = 'open' AND kind <> 'approval' AND kind = ? ORDER BY id`)
	// Nearly everything that is open is an approval: they have no index of their own, so that parking one costs no more. Per urgency, a bounded
	// number of open requests is looked at.
	openApprovals = statement(`SELECT COUNT(*), COALESCE(SUM(CASE WHEN kind = 'approval' THEN 1 ELSE 0 END), 0), COALESCE(MIN(CASE WHEN kind = 'approval' THEN created_at END), 0)
		FROM (SELECT kind, created_at FROM requests WHERE tenant = ? AND status = 'open' AND urgency = ? ORDER BY id LIMIT 1001) AS few`)
	lostSince   = few("closed_at", `requests WHERE tenant = ? AND status IN ('expired', 'canceled') AND status = ? AND closed_at >= ?`)
	waitingRuns = statement(`SELECT COUNT(*), COUNT(DISTINCT run_id) FROM (SELECT run_id FROM requests
		WHERE tenant = ? AND status = 'open' AND run_id <> '' ORDER BY run_id, step LIMIT 1001) AS few`)
	sleepingRuns = few("due_at", `timers WHERE tenant = ? AND kind = 'sleep'`)
	heldRuns     = few("held_since", `runs WHERE tenant = ? AND held_code <> '' AND ended_at = 0 ORDER BY id`)
	failedRuns   = few("ended_at", `runs WHERE tenant = ? AND status = 'failed' AND status <> 'waiting' ORDER BY id DESC`)
	unknownCalls = few("started_at", `operations WHERE tenant = ? AND status = 'unknown' AND settled = 0 ORDER BY id`)
	outboxDepth  = few("created_at", `outbox WHERE tenant = ? AND status IN ('queued', 'sending', 'parked') ORDER BY due_at`)
	// Ids sort by the time they were made: the key of the table is an index by time. The decisions are limited before their requests are looked
	// up, so that no planner joins the whole of both.
	decidedLately = statement(`SELECT d.at, d.vote, d.actor_id, r.created_at, r.id, r.status, r.body FROM
		(SELECT tenant, id, request_id, vote, actor_id, at FROM decisions WHERE tenant = ? AND id >= ? ORDER BY id DESC LIMIT 1001) AS d
		JOIN requests r ON r.tenant = d.tenant AND r.id = d.request_id ORDER BY d.id DESC`)
)

var countedKinds = []holdshort.Kind{holdshort.Clarification, holdshort.Disambiguation, holdshort.Confirmation, holdshort.Escalation, holdshort.Takeover,
	holdshort.Proxy, holdshort.ErrorRecovery, holdshort.Reconcile}

func (tx *Tx) Stats() (s store.Stats, err error) {
	s.At = tx.now
	if err := tx.openStats(&s); err != nil {
		return s, err
	}
	for _, c := range []struct {
		into *store.Tally
		of   *Statement
	}{{&s.Sleeping, sleepingRuns}, {&s.Held, heldRuns}, {&s.Failed, failedRuns}, {&s.Unknown, unknownCalls}, {&s.Outbox, outboxDepth}} {
		if *c.into, err = tx.tally(c.of); err != nil {
			return s, err
		}
	}
	s.Sleeping.Oldest = time.Time{} // when it is due says nothing about how long it has slept
	if err := tx.decidedStats(&s); err != nil {
		return s, err
	}
	for _, p := range []struct {
		*store.Period
		back time.Duration
	}{{&s.Day, day}, {&s.Week, 7 * day}} {
		since := micros(tx.now.Add(-p.back))
		if p.Expired, err = tx.tally(lostSince, string(holdshort.RequestExpired), since); err != nil {
			return s, err
		}
		if p.Canceled, err = tx.tally(lostSince, string(holdshort.RequestCanceled), since); err != nil {
			return s, err
		}
	}
	return s, nil
}

const day = 24 * time.Hour

func (tx *Tx) tally(s *Statement, args ...any) (t store.Tally, err error) {
	err = tx.query(s, append([]any{string(tx.tenant)}, args...), func(scan func(...any) error) error {
		var at int64
		err := scan(&t.Count, &at)
		t.Oldest = fromMicros(at)
		return err
	})
	return capped(t), err
}

func capped(t store.Tally) store.Tally {
	if t.Count > store.MostCounted {
		t.Count, t.More = store.MostCounted, true
	}
	return t
}

func older(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (tx *Tx) openStats(s *store.Stats) error {
	var approvals store.Tally
	for urgency := range urgencies {
		err := tx.query(openApprovals, []any{string(tx.tenant), int64(urgency)}, func(scan func(...any) error) error {
			var rows, n, at int64
			if err := scan(&rows, &n, &at); err != nil {
				return err
			}
			approvals.Count += n
			approvals.More = approvals.More || rows > store.MostCounted
			approvals.Oldest = older(approvals.Oldest, fromMicros(at))
			return nil
		})
		if err != nil {
			return err
		}
	}
	s.ByKind = map[holdshort.Kind]store.Tally{}
	add := func(kind holdshort.Kind, t store.Tally) {
		if t = capped(t); t.Count == 0 && !t.More {
			return
		}
		s.ByKind[kind] = t
		s.Open.Count, s.Open.More, s.Open.Oldest = s.Open.Count+t.Count, s.Open.More || t.More, older(s.Open.Oldest, t.Oldest)
	}
	for _, kind := range countedKinds {
		t, err := tx.tally(openOfKind, string(kind))
		if err != nil {
			return err
		}
		add(kind, t)
	}
	add(holdshort.Approval, approvals)
	s.Open = capped(s.Open)
	return tx.query(waitingRuns, []any{string(tx.tenant)}, func(scan func(...any) error) error {
		var rows, runs int64
		err := scan(&rows, &runs)
		s.Waiting = store.Tally{Count: min(runs, store.MostCounted), More: rows > store.MostCounted}
		return err
	})
}

// decidedStats looks at the latest decisions of the week.
func (tx *Tx) decidedStats(s *store.Stats) error {
	type period struct {
		*store.Period
		since time.Time
		took  []time.Duration
		more  bool
	}
	periods := []*period{{Period: &s.Day, since: tx.now.Add(-day)}, {Period: &s.Week, since: tx.now.Add(-7 * day)}}
	for _, p := range periods {
		p.Outcomes = map[holdshort.Outcome]store.Tally{}
	}
	seen := 0
	err := tx.query(decidedLately, []any{string(tx.tenant), string(holdshort.NewDecisionID(periods[1].since))}, func(scan func(...any) error) error {
		var at, vote, created int64
		var actor, id, status string
		var raw []byte
		if err := scan(&at, &vote, &actor, &created, &id, &status, &raw); err != nil {
			return err
		}
		seen++
		var body requestBody
		if vote != 0 || status != string(holdshort.RequestResolved) || len(raw) == 0 || tx.decode("request", id, raw, &body) != nil {
			return nil // erased, or nobody can read it
		}
		for _, p := range periods {
			switch {
			case fromMicros(at).Before(p.since):
			case seen > store.MostCounted:
				p.more = true
			default:
				t := p.Outcomes[body.Outcome]
				t.Count++
				p.Outcomes[body.Outcome] = t
				if !strings.HasPrefix(actor, "policy:") && !strings.HasPrefix(actor, "system:") { // a rule takes no time
					p.took = append(p.took, time.Duration(at-created)*time.Microsecond)
				}
			}
		}
		return nil
	})
	for _, p := range periods {
		for outcome, t := range p.Outcomes { // any of them may have more
			t.More = p.more
			p.Outcomes[outcome] = t
		}
		if len(p.took) > 0 {
			slices.Sort(p.took)
			p.MedianSeconds = p.took[len(p.took)/2].Seconds()
		}
	}
	return err
}
