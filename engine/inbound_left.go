package engine

import (
	"encoding/json"
	"strings"

	"github.com/holdshort/holdshort"
)

// leave notes that a run of a session is over. Messages that it was handed and did not take must not end with it. A session that cannot be
// read keeps no run from ending.
func (c *change) leave(run holdshort.Run) error {
	if run.SessionID == "" {
		return nil
	}
	t, err := c.chat(run.SessionID)
	if holdshort.CodeOf(err) == holdshort.Corrupt {
		return nil
	}
	if err == nil && t != nil && t.session.ActiveRun == run.ID {
		t.left = run.ID
	}
	return err
}

// handOver gives what an ended run did not take to a new run of the session's flow: the oldest is its input, the others are posted to it. It
// comes at the end of the transaction, when the journal has everything.
func (c *change) handOver(t *chat) error {
	left := t.left
	t.left = ""
	if t.session.ActiveRun != left || t.session.Flow == "" || t.session.Mode != holdshort.ModeAI {
		return nil
	}
	entries, err := c.soundJournal(left)
	if err != nil {
		if holdshort.CodeOf(err) != holdshort.Corrupt {
			return err
		}
		// It cannot be told which messages the run took: one that is handed on could be carried out twice. The history has them all.
		c.logs = append(c.logs, func() {
			c.e.log.Error("messages of a damaged run are not handed on", "run_id", left, "session_id", t.session.ID, "error", err)
		})
		return nil
	}
	waiting := newJournal(entries).untaken(messagePost)
	if len(waiting) == 0 {
		return nil
	}
	var first post
	if err := json.Unmarshal(waiting[0].Outcome, &first); err != nil {
		return err
	}
	_, err = c.begin(t, first.Body, strings.TrimPrefix(waiting[0].Key, postKey("")), holdshort.Actor{ID: t.session.User}, nil, waiting[1:]...)
	if holdshort.CodeOf(err) == holdshort.FlowUnknown {
		return nil // the history has them
	}
	return err
}

// soundJournal gives the journal of a run if it is what the run recorded.
func (c *change) soundJournal(id holdshort.RunID) ([]holdshort.JournalEntry, error) {
	entries, err := c.Journal(id)
	if err != nil {
		return nil, err
	}
	run, err := c.Tx.Run(id)
	if err != nil {
		return nil, err
	}
	return entries, c.e.verify(c, run, entries)
}

// untaken gives the posts of a name that no Wait took, in the order in which they came.
func (j *journal) untaken(name string) []holdshort.JournalEntry {
	var list []holdshort.JournalEntry
	for _, e := range j.posts {
		var p post
		if _, gone := j.entries[tookKey(e.Key)]; !gone && json.Unmarshal(e.Outcome, &p) == nil && p.Name == name {
			list = append(list, e)
		}
	}
	return list
}
