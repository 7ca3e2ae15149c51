package engine

import (
	"context"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// PutRun stores a run with the digest of its journal, which includes the entries that this transaction added. The digest is set in run, so
// that the caller's copy is what is stored.
func (c *change) PutRun(run *holdshort.Run) error {
	if err := c.signJournal(run); err != nil {
		return err
	}
	if c.stored == nil {
		c.stored = map[holdshort.RunID]bool{}
	}
	c.stored[run.ID] = true
	return c.Tx.PutRun(*run)
}

// signJournal extends the run's digest by the entries that were added since it was stored last.
func (c *change) signJournal(run *holdshort.Run) error {
	older := run.Recorded == "" && run.Revision > 0
	if older {
		return c.signWhole(run)
	}
	fresh := c.unsigned(run.ID)
	if len(fresh) == 0 && run.Recorded != "" {
		return nil
	}
	digest, err := c.e.keyring.ExtendJournal(c.Tenant(), run.ID, run.Recorded, fresh...)
	if err != nil {
		c.damaged = heldIfDamaged(*run, err)
		return err
	}
	run.Recorded = digest
	return nil
}

// heldIfDamaged returns the run if its digest is damaged, so that it is held.
func heldIfDamaged(run holdshort.Run, err error) *holdshort.Run {
	if holdshort.CodeOf(err) != holdshort.Corrupt {
		return nil
	}
	return &run
}

// unsigned takes the entries of a run that are in no digest yet.
func (c *change) unsigned(run holdshort.RunID) (fresh []holdshort.JournalEntry) {
	rest := c.added[c.signed:]
	if len(rest) == 0 {
		return nil
	}
	others := rest[:0:0]
	for _, e := range rest {
		if e.RunID == run {
			fresh = append(fresh, e)
		} else {
			others = append(others, e)
		}
	}
	c.added = slices.Concat(c.added[:c.signed], fresh, others)
	c.signed += len(fresh)
	return fresh
}

// allSigned refuses a transaction that adds to a journal and does not store the run: its digest would no longer fit.
func (c *change) allSigned() error {
	if c.signed == len(c.added) {
		return nil
	}
	return &holdshort.Error{Code: holdshort.Internal, Op: "record " + c.added[c.signed].Key, Message: "an entry was added without its run"}
}

// signWhole gives a run from before digests its first one, over everything that stands in its journal.
func (c *change) signWhole(run *holdshort.Run) error {
	if len(c.unsigned(run.ID)) == 0 {
		return nil
	}
	entries, err := c.Journal(run.ID)
	if err == nil {
		err = c.e.verify(c, *run, entries)
	}
	if err == nil {
		run.Recorded, err = c.e.keyring.ExtendJournal(c.Tenant(), run.ID, "", entries...)
	}
	c.damaged = heldIfDamaged(*run, err)
	return err
}

// verify checks a journal against the digest of its run. A run without a digest must be older than digests are.
func (e *Engine) verify(tx store.ReadTx, run holdshort.Run, entries []holdshort.JournalEntry) error {
	if run.Recorded != "" {
		return e.keyring.VerifyJournal(tx.Tenant(), run.ID, run.Recorded, entries)
	}
	until, err := e.store.System().UnsignedUntil(context.Background())
	if err != nil || run.ID.MadeBefore(until) {
		return err
	}
	return &holdshort.Error{Code: holdshort.Corrupt, Op: "verify the journal of " + string(run.ID), Message: "the digest of the journal is missing",
		Hint: "restore the run's row from a backup and retry it, or cancel it"}
}
