package sqldb

import (
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

var (
	// By the index of the inbox, which has no time; but ids sort by the time they were made.
	openBetween = statement(`SELECT SUM(n) FROM (` + strings.Join([]string{ofUrgency("0"), ofUrgency("1"), ofUrgency("2"), ofUrgency("3")}, " UNION ALL ") + `) AS each_urgency`)
	openOldest  = statement(`SELECT COALESCE(MIN(at), 0) FROM (` + strings.Join([]string{firstOf("0"), firstOf("1"), firstOf("2"), firstOf("3")}, " UNION ALL ") + `) AS each_urgency`)
	openKind    = statement(`SELECT COUNT(*) FROM (SELECT id FROM requests WHERE tenant = ? AND status = 'open' AND kind <> 'approval' AND kind = ? LIMIT 1001) AS few`)
	openUpTo    = statement(`SELECT SUM(n) FROM (` + strings.Join([]string{mostOf("0"), mostOf("1"), mostOf("2"), mostOf("3")}, " UNION ALL ") + `) AS each_urgency`)
	// Nearly everything that is open is an approval: they have no index of their own, so that parking one costs no more.
	someApprovals = statement(`SELECT COUNT(*), COALESCE(SUM(CASE WHEN kind = 'approval' THEN 1 ELSE 0 END), 0), COALESCE(MIN(CASE WHEN kind = 'approval' THEN created_at END), 0)
		FROM (SELECT kind, created_at FROM requests WHERE tenant = ? AND status = 'open' AND urgency = ? ORDER BY id LIMIT ?) AS few`)
	oldestKind = statement(`SELECT created_at FROM requests WHERE tenant = ? AND status = 'open' AND kind <> 'approval' AND kind = ? ORDER BY id LIMIT 1`)
	// One person after the other: the next in the index behind the one before.
	assignedNext = statement(`SELECT assignee, COUNT(*) FROM (SELECT assignee FROM requests WHERE tenant = ? AND status = 'open' AND assignee <> '' AND assignee =
		(SELECT MIN(assignee) FROM requests WHERE tenant = ? AND status = 'open' AND assignee <> '' AND assignee > ?) LIMIT 201) AS few GROUP BY assignee`)
	runsOf       = few("created_at", `runs WHERE tenant = ? AND status <> 'waiting' AND status = ? ORDER BY id`)
	failedLately = statement(`SELECT COUNT(*), COALESCE(SUM(CASE WHEN ended_at >= ? THEN 1 ELSE 0 END), 0) FROM
		(SELECT ended_at FROM runs WHERE tenant = ? AND status = 'failed' AND status <> 'waiting' ORDER BY id DESC LIMIT 1001) AS few`)
	lostCalls  = few("started_at", `operations WHERE tenant = ? AND status = 'unknown' AND settled = 0 ORDER BY started_at`)
	lostLately = statement(`SELECT ` + operationColumns + ` FROM operations WHERE tenant = ? AND status = 'unknown' AND settled = 0
		ORDER BY started_at DESC, id DESC LIMIT 20`)
	outboxQueued = statement(`SELECT channel, status, COUNT(*), MIN(created_at) FROM (SELECT channel, CASE WHEN status = 'parked' THEN status ELSE 'queued' END AS status,
		created_at FROM outbox WHERE tenant = ? AND status IN ('queued', 'sending', 'parked') ORDER BY due_at LIMIT 1001) AS few GROUP BY channel, status ORDER BY channel`)
	// One channel after the other.
	outboxTrouble = statement(`SELECT channel, '', COUNT(*), MIN(created_at) FROM (SELECT channel, created_at FROM outbox WHERE tenant = ? AND status IN ('parked', 'dead')
		AND status = ? AND channel = (SELECT MIN(channel) FROM outbox WHERE tenant = ? AND status IN ('parked', 'dead') AND status = ? AND channel > ?)
		ORDER BY created_at LIMIT 1001) AS few GROUP BY channel`)
)

func ofUrgency(n string) string {
	return `SELECT COUNT(*) AS n FROM (SELECT id FROM requests WHERE tenant = ? AND status = 'open' AND urgency = ` + n + ` AND id >= ? AND id < ? LIMIT 1001) AS few` + n
}

func mostOf(n string) string {
	return `SELECT COUNT(*) AS n FROM (SELECT id FROM requests WHERE tenant = ? AND status = 'open' AND urgency = ` + n + ` LIMIT ?) AS few` + n
}

func firstOf(n string) string {
	return `SELECT at FROM (SELECT created_at AS at FROM requests WHERE tenant = ? AND status = 'open' AND urgency = ` + n + ` ORDER BY id LIMIT 1) AS first` + n
}

const (
	mostAssignees = 50
	mostChannels  = 20
)

// Standing takes many small looks, each bounded by itself.
func (tx *Tx) Standing(since time.Time, ages ...time.Duration) (s store.Standing, err error) {
	s.At = tx.now
	for _, look := range []func(*store.Standing) error{
		func(s *store.Standing) error { return tx.openByAge(s, ages) }, tx.openByKind, tx.assigned,
		func(s *store.Standing) error { return tx.runsStanding(s, since) }, tx.lostStanding, tx.outboxStanding,
	} {
		if err := look(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// openByAge counts between the ids that were made at the edges.
func (tx *Tx) openByAge(s *store.Standing, ages []time.Duration) error {
	young := "req_~" // behind every id
	for i := range len(ages) + 1 {
		old := ""
		if i < len(ages) {
			old = string(holdshort.NewRequestID(tx.now.Add(-ages[i])))
			old = old[:len("req_")+10] // without what is random in it
		}
		args := make([]any, 0, 12)
		for range urgencies {
			args = append(args, string(tx.tenant), old, young)
		}
		n, err := readNumber(tx, openBetween, args...)
		if err != nil {
			return err
		}
		s.ByAge = append(s.ByAge, capped(store.Tally{Count: n}))
		s.Open = capped(store.Tally{Count: s.Open.Count + n, More: s.Open.More})
		young = old
	}
	return tx.oldest(openOldest, &s.Open, string(tx.tenant), string(tx.tenant), string(tx.tenant), string(tx.tenant))
}

// oldest adds to a count when the first of what was counted was made.
func (tx *Tx) oldest(of *Statement, t *store.Tally, args ...any) error {
	at, err := readNumber(tx, of, args...)
	t.Oldest = fromMicros(at)
	return err
}

// openByKind has an index of all kinds but one: nearly everything is an approval. What is open and none of the others is one.
func (tx *Tx) openByKind(s *store.Standing) error {
	s.ByKind = map[holdshort.Kind]store.Tally{}
	others, many := int64(0), false
	for _, kind := range countedKinds {
		n, err := readNumber(tx, openKind, string(tx.tenant), string(kind))
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		t := capped(store.Tally{Count: n})
		others, many = others+n, many || t.More
		if err := tx.oldest(oldestKind, &t, string(tx.tenant), string(kind)); err != nil {
			return err
		}
		s.ByKind[kind] = t
	}
	t, err := tx.lookForApprovals(many)
	if err == nil && !many {
		var open int64
		args := make([]any, 0, 8)
		for range urgencies {
			args = append(args, string(tx.tenant), others+store.MostCounted+1)
		}
		open, err = readNumber(tx, openUpTo, args...)
		t = capped(store.Tally{Count: open - others, Oldest: t.Oldest})
	}
	if t.Count > 0 || t.More {
		s.ByKind[holdshort.Approval] = t
	}
	return err
}

// lookForApprovals looks at so many open requests of each urgency, until it has found more than it counts. A short look is for the oldest.
func (tx *Tx) lookForApprovals(count bool) (t store.Tally, err error) {
	most := int64(20)
	if count {
		most = store.MostCounted + 1
	}
	for _, priority := range []holdshort.Priority{holdshort.PriorityNormal, holdshort.PriorityHigh, holdshort.PriorityCritical, holdshort.PriorityLow} {
		err = tx.query(someApprovals, []any{string(tx.tenant), int64(slices.Index(urgencies, priority)), most}, func(scan func(...any) error) error {
			var rows, n, at int64
			err := scan(&rows, &n, &at)
			t.Count, t.More, t.Oldest = t.Count+n, t.More || rows == most, older(t.Oldest, fromMicros(at))
			return err
		})
		if t = capped(t); err != nil || t.Count == store.MostCounted && t.More {
			break
		}
	}
	return t, err
}

func (tx *Tx) assigned(s *store.Standing) error {
	s.Assigned = map[string]store.Tally{}
	last := ""
	for range mostAssignees {
		found := false
		err := tx.query(assignedNext, []any{string(tx.tenant), string(tx.tenant), last}, func(scan func(...any) error) error {
			var t store.Tally
			err := scan(&last, &t.Count)
			t.Count, t.More = min(t.Count, store.MostAssigned), t.Count > store.MostAssigned
			s.Assigned[last], found = t, true
			return err
		})
		if err != nil || !found {
			return err
		}
	}
	return nil
}

func (tx *Tx) runsStanding(s *store.Standing, since time.Time) (err error) {
	err = tx.query(waitingRuns, []any{string(tx.tenant)}, func(scan func(...any) error) error {
		var rows, runs int64
		err := scan(&rows, &runs)
		s.Waiting = store.Tally{Count: min(runs, store.MostCounted), More: rows > store.MostCounted}
		return err
	})
	if err != nil {
		return err
	}
	if s.Queued, err = tx.tally(runsOf, string(holdshort.RunQueued)); err != nil {
		return err
	}
	if s.Running, err = tx.tally(runsOf, string(holdshort.RunRunning)); err != nil {
		return err
	}
	if s.Sleeping, err = tx.tally(sleepingRuns); err != nil {
		return err
	}
	s.Sleeping.Oldest = time.Time{} // when it is due says nothing about how long it has slept
	if s.Held, err = tx.tally(heldRuns); err != nil {
		return err
	}
	return tx.query(failedLately, []any{micros(since), string(tx.tenant)}, func(scan func(...any) error) error {
		var rows int64
		err := scan(&rows, &s.Failed.Count)
		s.Failed = capped(s.Failed)
		s.Failed.More = rows > store.MostCounted // an older run may have failed lately too
		return err
	})
}

func (tx *Tx) lostStanding(s *store.Standing) (err error) {
	if s.Unknown, err = tx.tally(lostCalls); err != nil || s.Unknown.Count == 0 {
		return err
	}
	s.Lost, err = all(tx, lostLately, []any{string(tx.tenant)}, scanOperation)
	return err
}

func (tx *Tx) outboxStanding(s *store.Standing) error {
	var queued []store.OutboxTally
	looked := int64(0)
	err := tx.query(outboxQueued, []any{string(tx.tenant)}, func(scan func(...any) error) error {
		t, err := scanOutbox(scan)
		if looked += t.Count; t.Status != holdshort.DeliveryParked {
			queued = append(queued, t)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range queued {
		t.More = looked > store.MostCounted // whichever channel they are of
		s.Outbox = append(s.Outbox, t)
	}
	for _, status := range []holdshort.DeliveryStatus{holdshort.DeliveryParked, holdshort.DeliveryDead} {
		if err := tx.outboxTrouble(s, status); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) outboxTrouble(s *store.Standing, status holdshort.DeliveryStatus) error {
	last := ""
	for range mostChannels {
		found := false
		err := tx.query(outboxTrouble, []any{string(tx.tenant), string(status), string(tx.tenant), string(status), last}, func(scan func(...any) error) error {
			t, err := scanOutbox(scan)
			t.Status, last, found = status, t.Channel, true
			s.Outbox = append(s.Outbox, t)
			return err
		})
		if err != nil || !found {
			return err
		}
	}
	return nil
}

func scanOutbox(scan func(...any) error) (t store.OutboxTally, err error) {
	var at int64
	err = scan(&t.Channel, &t.Status, &t.Count, &at)
	t.Oldest = fromMicros(at)
	t.Tally = capped(t.Tally)
	return t, err
}
