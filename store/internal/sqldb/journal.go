package sqldb

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/holdshort/holdshort"
)

type journalBody struct {
	Outcome json.RawMessage    `json:"o,omitempty"`
	Error   *holdshort.Failure `json:"e,omitempty"`
}

var (
	insertJournal = inserts("journal", []string{"tenant", "run_id", "key", "attempt", "kind", "hash", "started_at", "ended_at", "body"}, "", "", "")
	selectJournal = point(`SELECT run_id, key, attempt, kind, hash, started_at, ended_at, body FROM journal WHERE tenant = ? AND run_id = ?
		ORDER BY started_at, key, attempt`)
)

func (tx *Tx) Journal(run holdshort.RunID) ([]holdshort.JournalEntry, error) {
	var unreadable error
	entries, err := all(tx, selectJournal, []any{string(tx.tenant), string(run)}, func(scan func(...any) error) (e holdshort.JournalEntry, id string, err error) {
		var started, ended int64
		var body []byte
		if err = scan(&e.RunID, &e.Key, &e.Attempt, &e.Kind, &e.Hash, &started, &ended, &body); err != nil {
			return e, "", err
		}
		e.Started, e.Ended = fromMicros(started), fromMicros(ended)
		var b journalBody
		if err := tx.decode("journal", journalPlace(e), body, &b); err == nil {
			e.Outcome, e.Error = b.Outcome, b.Error
		} else if unreadable == nil {
			unreadable = err
		}
		return e, string(e.RunID), nil
	})
	return entries, cmp.Or(err, unreadable)
}

func journalPlace(e holdshort.JournalEntry) string {
	return string(e.RunID) + "/" + strconv.Itoa(e.Attempt) + "/" + e.Key
}

func (tx *Tx) AddJournal(e holdshort.JournalEntry) error {
	if err := tx.required("journal entry", string(e.RunID), e.Key, e.Kind); err != nil {
		return err
	}
	if err := tx.texts("journal entry", e.Hash); err != nil {
		return err
	}
	place := journalPlace(e)
	body, err := tx.encode("journal", place, journalBody{Outcome: e.Outcome, Error: e.Error})
	if err != nil {
		return err
	}
	return tx.write(Write{Statement: insertJournal, Want: 1, Noun: "journal entry", ID: place, Args: []any{string(tx.tenant), string(e.RunID), e.Key,
		int64(e.Attempt), e.Kind, e.Hash, micros(e.Started), micros(e.Ended), body}})
}
