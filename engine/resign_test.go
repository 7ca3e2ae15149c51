package engine

import (
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// ResignJournal signs the journal of a run as it is stored now.
func ResignJournal(t testing.TB, e *Engine, tenant holdshort.TenantID, id holdshort.RunID) {
	t.Helper()
	err := e.store.Update(t.Context(), tenant, func(tx store.Tx) error {
		run, err := tx.Run(id)
		if err != nil {
			return err
		}
		entries, err := tx.Journal(id)
		if err != nil {
			return err
		}
		if run.Recorded, err = e.keyring.ExtendJournal(tenant, id, "", entries...); err != nil {
			return err
		}
		return tx.PutRun(run)
	})
	if err != nil {
		t.Fatal(err)
	}
}
