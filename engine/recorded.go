package engine

import (
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
	fresh := c.unsigned(run.ID)
	isNew := run.Revision == 0
	if len(fresh) == 0 && !isNew {
		return nil
	}
	digest, err := c.e.extendJournal(c.Tenant(), run, fresh)
	if err != nil {
		c.damaged = heldIfDamaged(*run, err)
		return err
	}
	run.Recorded = digest
	return nil
}

// extendJournal returns the digest of a run's journal with more entries. Only a new run begins without a digest: a stored
// run that has none was written behind the engine's back.
func (e *Engine) extendJournal(tenant holdshort.TenantID, run *holdshort.Run, fresh []holdshort.JournalEntry) (string, error) {
	if run.Recorded == "" && run.Revision > 0 {
		return "", errNoDigest(run.ID)
	}
	return e.keyring.ExtendJournal(tenant, run.ID, run.Recorded, fresh...)
}

func errNoDigest(run holdshort.RunID) error {
	return &holdshort.Error{Code: holdshort.Corrupt, Op: "verify the journal of " + string(run),
		Message: "the digest of the journal is missing", Hint: "restore the run's row from a backup and retry it, or cancel it"}
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

// verify checks a journal against the digest of its run.
func (e *Engine) verify(tx store.ReadTx, run holdshort.Run, entries []holdshort.JournalEntry) error {
	if run.Recorded == "" {
		return errNoDigest(run.ID)
	}
	return e.keyring.VerifyJournal(tx.Tenant(), run.ID, run.Recorded, entries)
}
