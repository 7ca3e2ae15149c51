package sqldb

import "github.com/holdshort/holdshort"

var (
	openOfSession = statement(`SELECT 1 FROM runs WHERE tenant = ? AND session_id = ? AND session_id <> '' AND ended_at = 0 LIMIT 1`)
	openOperation = statement(`SELECT 1 FROM operations WHERE tenant = ? AND status = 'started' AND run_id IN
		(SELECT id FROM runs WHERE tenant = ? AND session_id = ? AND session_id <> '') LIMIT 1`)
	openRequest     = statement(`SELECT 1 FROM requests WHERE tenant = ? AND session_id = ? AND session_id <> '' AND status = 'open' LIMIT 1`)
	eraseMessages   = statement(`DELETE FROM messages WHERE tenant = ? AND session_id = ?`)
	eraseJournals   = statement(`DELETE FROM journal WHERE tenant = ? AND run_id IN (SELECT id FROM runs WHERE tenant = ? AND session_id = ? AND session_id <> '')`)
	eraseRuns       = statement(`UPDATE runs SET fixed = ?, body = ?, pruned = CASE WHEN pruned = 0 THEN 1 ELSE pruned END, revision = revision + 1 WHERE tenant = ? AND session_id = ? AND session_id <> ''`)
	eraseDecisions  = statement(`UPDATE decisions SET body = ? WHERE tenant = ? AND request_id IN (SELECT id FROM requests WHERE tenant = ? AND session_id = ? AND session_id <> '')`)
	eraseRequests   = statement(`UPDATE requests SET fixed = ?, body = ?, revision = revision + 1 WHERE tenant = ? AND session_id = ? AND session_id <> ''`)
	eraseDeliveries = statement(`UPDATE outbox SET body = ?, revision = revision + 1, closed_at = CASE WHEN closed_at = 0 THEN ? ELSE closed_at END,
		status = CASE WHEN status IN ('queued', 'sending', 'parked') THEN 'dropped' ELSE status END WHERE tenant = ? AND session_id = ?`)
	eraseInbound = statement(`UPDATE inbound SET body = ?, revision = revision + 1 WHERE tenant = ? AND session_id = ? AND session_id <> ''`)
	eraseBodies  = statement(`UPDATE bodies SET body = ?, salt = ? WHERE tenant = ? AND session_id = ? AND session_id <> ''`)
	eraseOfRuns  = statement(`UPDATE bodies SET body = ?, salt = ? WHERE tenant = ? AND run_id IN
		(SELECT id FROM runs WHERE tenant = ? AND session_id = ? AND session_id <> '')`)
	eraseSession = statement(`UPDATE sessions SET body = ?, channel = '', address = '', owner = '-', ended_at = CASE WHEN ended_at = 0 THEN ? ELSE ended_at END,
		revision = revision + 1 WHERE tenant = ? AND id = ?`)
)

// EraseSession is one transaction: the guards fail it as a whole while anything of the session is under way.
func (tx *Tx) EraseSession(id holdshort.SessionID, actor string) error {
	if err := tx.required("session", string(id)); err != nil {
		return err
	}
	t, s, gone, now := string(tx.tenant), string(id), []byte{}, micros(tx.now)
	busy := func(what, hint string) error {
		return &holdshort.Error{Code: holdshort.WrongState, Op: "erase session " + s, Message: what, Hint: hint}
	}
	forget, err := tx.db.forget(queries{tx}, tx.conn, tx.now, entriesOfSession, t, s)
	if err != nil {
		return err
	}
	for _, w := range append([]Write{
		{Statement: eraseMessages, Args: []any{t, s}, Want: Any},
		{Statement: eraseJournals, Args: []any{t, t, s}, Want: Any},
		{Statement: eraseOfRuns, Args: []any{gone, gone, t, t, s}, Want: Any},
		{Statement: eraseBodies, Args: []any{gone, gone, t, s}, Want: Any},
		{Statement: eraseRuns, Args: []any{gone, gone, t, s}, Want: Any},
		{Statement: eraseDecisions, Args: []any{gone, t, t, s}, Want: Any},
		{Statement: eraseRequests, Args: []any{gone, gone, t, s}, Want: Any},
		{Statement: eraseDeliveries, Args: []any{gone, now, t, s}, Want: Any},
		{Statement: eraseInbound, Args: []any{gone, t, s}, Want: Any},
		{Statement: eraseSession, Args: []any{gone, now, t, s}, Want: 1, Miss: notFound("session", s)},
		// Last, so that they see whatever the statements above could see: a run that came in between fails the whole.
		{Statement: openOperation, Args: []any{t, t, s}, Selects: true, Want: 0, Miss: busy("an operation of it is under way", "wait until it is closed")},
		{Statement: openOfSession, Args: []any{t, s}, Selects: true, Want: 0, Miss: busy("a run of it has not ended", "cancel it first")},
		{Statement: openRequest, Args: []any{t, s}, Selects: true, Want: 0, Miss: busy("a request of it is open", "cancel it first")},
	}, forget...) {
		if err := tx.write(w); err != nil {
			return err
		}
	}
	return tx.AddEvent(holdshort.Event{Type: "session.erased", Session: id, Actor: actor})
}
