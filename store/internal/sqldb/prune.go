package sqldb

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Rows are locked as they are chosen, so that nobody revives one meanwhile. What is pending never goes: runs that have not ended, operations that nobody has settled, requests that are open, deliveries that wait.
var (
	endedRuns = statement(`SELECT r.tenant, r.id FROM runs r WHERE r.pruned = ? AND r.ended_at > 0 AND r.ended_at <= ? AND NOT EXISTS
		(SELECT 1 FROM operations o WHERE o.tenant = r.tenant AND o.run_id = r.id AND (o.status = 'started' OR o.status = 'unknown' AND o.settled = 0))
		AND NOT EXISTS (SELECT 1 FROM requests q WHERE q.tenant = r.tenant AND q.run_id = r.id AND q.run_id <> '' AND q.status = 'open')
		ORDER BY r.ended_at LIMIT ?{skip locked}`)
	pruneJournal   = statement(`DELETE FROM journal WHERE tenant = ? AND run_id = ?`)
	markPruned     = statement(`UPDATE runs SET pruned = 1, revision = revision + 1 WHERE tenant = ? AND id = ? AND pruned = 0 AND ended_at > 0`)
	pruneUses      = statement(`DELETE FROM decision_uses WHERE tenant = ? AND decision_id IN (SELECT id FROM decisions WHERE tenant = ? AND request_id IN (SELECT id FROM requests WHERE tenant = ? AND run_id = ? AND run_id <> ''))`)
	pruneDecisions = statement(`DELETE FROM decisions WHERE tenant = ? AND request_id IN (SELECT id FROM requests WHERE tenant = ? AND run_id = ? AND run_id <> '')`)
	pruneRequests  = statement(`DELETE FROM requests WHERE tenant = ? AND run_id = ? AND run_id <> '' AND status <> 'open'`)
	pruneLedger    = statement(`DELETE FROM operations WHERE tenant = ? AND run_id = ?`)
	pruneRun       = statement(`DELETE FROM runs WHERE tenant = ? AND id = ? AND ended_at > 0`)
	countLedger    = statement(`SELECT COUNT(*) FROM operations WHERE tenant = ? AND run_id = ?`)
	countDecisions = statement(`SELECT COUNT(*) FROM decisions WHERE tenant = ? AND request_id IN (SELECT id FROM requests WHERE tenant = ? AND run_id = ? AND run_id <> '')`)
	countJournal   = statement(`SELECT COUNT(*) FROM journal WHERE tenant = ? AND run_id = ?`)

	closedRequests = statement(`SELECT q.tenant, q.id FROM requests q WHERE q.run_id = '' AND q.closed_at > 0 AND q.closed_at <= ? AND NOT EXISTS
		(SELECT 1 FROM operations o WHERE o.tenant = q.tenant AND o.request_id = q.id AND o.run_id = '' AND (o.status = 'started' OR o.status = 'unknown' AND o.settled = 0))
		ORDER BY q.closed_at LIMIT ?{skip locked}`)
	pruneUsesOf      = statement(`DELETE FROM decision_uses WHERE tenant = ? AND decision_id IN (SELECT id FROM decisions WHERE tenant = ? AND request_id = ?)`)
	pruneDecisionsOf = statement(`DELETE FROM decisions WHERE tenant = ? AND request_id = ?`)
	pruneLedgerOf    = statement(`DELETE FROM operations WHERE tenant = ? AND request_id = ? AND run_id = ''`)
	pruneRequest     = statement(`DELETE FROM requests WHERE tenant = ? AND id = ? AND closed_at > 0`)
	countLedgerOf    = statement(`SELECT COUNT(*) FROM operations WHERE tenant = ? AND request_id = ? AND run_id = ''`)
	countDecisionsOf = statement(`SELECT COUNT(*) FROM decisions WHERE tenant = ? AND request_id = ?`)
	eraseBodiesOf    = statement(`UPDATE bodies SET body = ?, salt = ? WHERE tenant = ? AND run_id = ? AND run_id <> ''`)
	pruneBodiesOf    = statement(`DELETE FROM bodies WHERE tenant = ? AND run_id = ? AND run_id <> ''`)

	oldMessages = statement(`SELECT m.tenant, m.id FROM messages m WHERE m.created_at <= ? AND m.pinned = 0 AND NOT EXISTS
		(SELECT 1 FROM runs r WHERE r.tenant = m.tenant AND r.session_id = m.session_id AND r.session_id <> '' AND (r.ended_at = 0 OR r.ended_at > ?))
		ORDER BY m.created_at LIMIT ?{skip locked}`)
	pruneMessage = statement(`DELETE FROM messages WHERE tenant = ? AND id = ? AND pinned = 0`)
	oldReplays   = statement(`SELECT tenant, scope, key FROM replays WHERE at <= ? ORDER BY at LIMIT ?{skip locked}`)
	pruneReplay  = statement(`DELETE FROM replays WHERE tenant = ? AND scope = ? AND key = ?`)
	oldInbound   = statement(`SELECT i.tenant, i.id FROM inbound i WHERE i.routed = 1 AND i.at <= ? AND NOT EXISTS
		(SELECT 1 FROM runs r WHERE r.tenant = i.tenant AND r.session_id = i.session_id AND r.session_id <> '' AND (r.ended_at = 0 OR r.ended_at > ?))
		ORDER BY i.at LIMIT ?{skip locked}`)
	pruneInbound  = statement(`DELETE FROM inbound WHERE tenant = ? AND id = ? AND routed = 1`)
	oldDeliveries = statement(`SELECT tenant, id FROM outbox WHERE closed_at > 0 AND closed_at <= ? ORDER BY closed_at LIMIT ?{skip locked}`)
	pruneDelivery = statement(`DELETE FROM outbox WHERE tenant = ? AND id = ? AND closed_at > 0`)

	oldSeal     = statement(`SELECT number, from_pos, to_pos, root, prev, at, key_id, signature FROM seals WHERE at <= ? ORDER BY number DESC LIMIT 1`)
	pruneEvents = statement(`DELETE FROM events WHERE pos <= ?`)
	pruneSeals  = statement(`DELETE FROM seals WHERE number < ?`)
	countEvents = statement(`SELECT COUNT(*) FROM events WHERE pos <= ?`)
)

// Prune takes one bite of what may go; call it until it finds nothing.
func (db *DB) Prune(ctx context.Context, keep store.Retention) (store.Pruned, error) {
	var out store.Pruned
	if err := db.Admit(); err != nil {
		return out, err
	}
	if keep.Limit <= 0 {
		keep.Limit = 1000
	}
	var log eventLog
	events := func(conn Conn, now, before time.Time, limit int, out *store.Pruned) error {
		return db.pruneEvents(conn, now, before, limit, out, &log)
	}
	for _, step := range []struct {
		age   time.Duration
		prune func(conn Conn, now, before time.Time, limit int, out *store.Pruned) error
	}{{keep.Journals, pruneJournals}, {keep.Journals, pruneMessages}, {keep.Records, db.pruneRecords}, {keep.Records, db.pruneGate}, {keep.Records, pruneInbounds}, {keep.Replays, pruneReplays}, {keep.Replays, pruneLogins},
		{keep.Deliveries, pruneDeliveries}, {keep.Events, events}} {
		if step.age <= 0 {
			continue
		}
		var bite store.Pruned
		err := db.transact(ctx, &log, func(conn Conn, now time.Time) error {
			bite = out
			return step.prune(conn, now, now.Add(-step.age), keep.Limit, &bite)
		})
		if err != nil {
			return out, err
		}
		out = bite
	}
	return out, nil
}

// mostForgotten is how many runs or requests go in one transaction: taking a request's words out of the index takes a millisecond.
const mostForgotten = 100

// names reads rows of text.
func names(conn Conn, s *Statement, columns int, args ...any) ([][]any, error) {
	var out [][]any
	err := conn.Query(s, args, func(scan func(...any) error) error {
		texts := make([]string, columns)
		dest := make([]any, columns)
		for i := range dest {
			dest[i] = &texts[i]
		}
		if err := scan(dest...); err != nil {
			return err
		}
		row := make([]any, columns)
		for i := range row {
			row[i] = texts[i]
		}
		out = append(out, row)
		return nil
	})
	return out, err
}

func pruneJournals(conn Conn, _, before time.Time, limit int, out *store.Pruned) error {
	runs, err := names(conn, endedRuns, 2, int64(0), micros(before), int64(limit))
	if err != nil {
		return err
	}
	for _, r := range runs {
		n, err := readNumber(bare{conn}, countJournal, r...)
		if err != nil {
			return err
		}
		if err := conn.Apply([]Write{{Statement: pruneJournal, Args: r, Want: Any}, {Statement: markPruned, Args: r, Want: Any},
			{Statement: eraseBodiesOf, Args: []any{[]byte{}, []byte{}, r[0], r[1]}, Want: Any}}); err != nil {
			return err
		}
		out.Journals += n
	}
	return nil
}

func (db *DB) pruneRecords(conn Conn, now, before time.Time, limit int, out *store.Pruned) error {
	limit = min(limit, mostForgotten)
	for _, stage := range []int64{0, 1} {
		runs, err := names(conn, endedRuns, 2, stage, micros(before), int64(limit))
		if err != nil {
			return err
		}
		for _, r := range runs {
			t, id := r[0], r[1]
			operations, err := readNumber(bare{conn}, countLedger, t, id)
			if err != nil {
				return err
			}
			decisions, err := readNumber(bare{conn}, countDecisions, t, t, id)
			if err != nil {
				return err
			}
			forget, err := db.forget(bare{conn}, conn, now, entriesOfRun, t, id)
			if err != nil {
				return err
			}
			err = conn.Apply(append([]Write{
				{Statement: pruneJournal, Args: r, Want: Any},
				{Statement: pruneUses, Args: []any{t, t, t, id}, Want: Any},
				{Statement: pruneDecisions, Args: []any{t, t, id}, Want: Any},
				{Statement: pruneRequests, Args: r, Want: Any},
				{Statement: pruneLedger, Args: r, Want: Any},
				{Statement: pruneBodiesOf, Args: r, Want: Any},
				{Statement: pruneRun, Args: r, Want: 1},
			}, forget...))
			if err != nil {
				return err
			}
			out.Operations += operations
			out.Decisions += decisions
		}
	}
	return db.lowerMark(conn)
}

// pruneGate drops requests that were raised from outside and belong to no run, with their decisions and operations.
func (db *DB) pruneGate(conn Conn, now, before time.Time, limit int, out *store.Pruned) error {
	requests, err := names(conn, closedRequests, 2, micros(before), int64(min(limit, mostForgotten)))
	if err != nil {
		return err
	}
	for _, r := range requests {
		operations, err := readNumber(bare{conn}, countLedgerOf, r...)
		if err != nil {
			return err
		}
		decisions, err := readNumber(bare{conn}, countDecisionsOf, r...)
		if err != nil {
			return err
		}
		forget, err := db.forget(bare{conn}, conn, now, entryOf, r...)
		if err != nil {
			return err
		}
		err = conn.Apply(append([]Write{
			{Statement: pruneUsesOf, Args: []any{r[0], r[0], r[1]}, Want: Any},
			{Statement: pruneDecisionsOf, Args: r, Want: Any},
			{Statement: pruneLedgerOf, Args: r, Want: Any},
			{Statement: pruneRequest, Args: r, Want: 1},
		}, forget...))
		if err != nil {
			return err
		}
		out.Operations += operations
		out.Decisions += decisions
	}
	return db.lowerMark(conn)
}

// pruneRows drops what find gives; find takes the moment as often as it names it, then the limit.
func pruneRows(conn Conn, find, drop *Statement, columns, moments int, before time.Time, limit int, count *int64) error {
	args := []any{micros(before), micros(before)}[:moments]
	rows, err := names(conn, find, columns, append(args, int64(limit))...)
	if err != nil {
		return err
	}
	writes := make([]Write, len(rows))
	for i, r := range rows {
		writes[i] = Write{Statement: drop, Args: r, Want: Any}
	}
	*count += int64(len(rows))
	return conn.Apply(writes)
}

func pruneMessages(conn Conn, _, before time.Time, limit int, out *store.Pruned) error {
	return pruneRows(conn, oldMessages, pruneMessage, 2, 2, before, limit, &out.Messages)
}

func pruneInbounds(conn Conn, _, before time.Time, limit int, out *store.Pruned) error {
	return pruneRows(conn, oldInbound, pruneInbound, 2, 2, before, limit, &out.Inbound)
}

func pruneReplays(conn Conn, _, before time.Time, limit int, out *store.Pruned) error {
	return pruneRows(conn, oldReplays, pruneReplay, 3, 1, before, limit, &out.Replays)
}

func pruneLogins(conn Conn, _, before time.Time, limit int, out *store.Pruned) error {
	return pruneRows(conn, oldLogins, pruneLogin, 2, 1, before, limit, &out.Logins)
}

func pruneDeliveries(conn Conn, _, before time.Time, limit int, out *store.Pruned) error {
	return pruneRows(conn, oldDeliveries, pruneDelivery, 2, 1, before, limit, &out.Deliveries)
}

// pruneEvents cuts whole sealed stretches and signs a note of it. The last seal of what is cut stays: the next one continues it.
func (db *DB) pruneEvents(conn Conn, now, before time.Time, _ int, out *store.Pruned, log *eventLog) error {
	if db.Keyring == nil {
		return &holdshort.Error{Code: holdshort.KeyUnknown, Op: "prune events", Message: "the store was opened without a keyring", Hint: "configure the keyring file"}
	}
	// One at a time, on PostgreSQL: a second one would choose an older cut.
	if err := conn.Query(lockStream, []any{"prune events"}, func(func(...any) error) error { return nil }); err != nil {
		return err
	}
	var seal holdshort.Seal
	err := conn.Query(oldSeal, []any{micros(before)}, func(scan func(...any) error) (err error) {
		seal, err = scanSeal(scan)
		return err
	})
	if err != nil || seal.Number == 0 {
		return err
	}
	cut, err := readMeta(bare{conn}, "pruned_to")
	if err != nil || seal.To <= cut {
		return err
	}
	gone, err := readNumber(bare{conn}, countEvents, seal.To)
	if err != nil {
		return err
	}
	note := pruning{Through: seal.To, Seal: seal.Number, SealHash: seal.Hash(), KeyID: db.Keyring.SigningKeyID()}
	_, note.Signature = db.Keyring.SignSeal(note.message())
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	tx := db.NewTx(conn, holdshort.SystemTenant, now)
	if err := tx.AddEvent(holdshort.Event{Type: "audit.pruned", Actor: "system:retention", Data: data}); err != nil {
		return err
	}
	writes, err := log.finish(tx)
	if err != nil {
		return err
	}
	out.Events += gone
	return conn.Apply(append(writes, Write{Statement: pruneEvents, Args: []any{seal.To}, Want: Any}, Write{Statement: pruneSeals, Args: []any{seal.Number}, Want: Any},
		writeMeta("pruned_to", strconv.FormatInt(seal.To, 10))))
}
