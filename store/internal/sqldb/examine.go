package sqldb

import (
	"context"
	"errors"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

const (
	examinedAtOnce = 100 // runs read in one snapshot
	mostRunFaults  = 100
)

var selectActiveRuns = statement(`SELECT tenant, ` + runColumns + ` FROM runs WHERE ended_at = 0 AND (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`)

// ExamineRuns reads the rows of runs that have not ended and reports the damaged ones.
func (db *DB) ExamineRuns(ctx context.Context, limit int) (out store.RunsExamined, err error) {
	var tenant holdshort.TenantID
	var last holdshort.RunID
	for more := true; more && len(out.Faults) < mostRunFaults; {
		if out.Runs >= int64(limit) {
			out.More = true
			break
		}
		err := db.Backend.Snapshot(ctx, func(conn Conn, now time.Time) error {
			runs, err := db.activeRuns(conn, now, tenant, last)
			if err != nil {
				return err
			}
			more = len(runs) == examinedAtOnce
			for _, r := range runs {
				tenant, last = r.tx.tenant, r.run.ID
				out.Runs++
				if problem := r.problem(); problem != "" {
					out.Faults = append(out.Faults, store.RunFault{Tenant: tenant, Run: last, Problem: problem})
				}
			}
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// examined is one run that was read for an examination.
type examined struct {
	tx     *Tx // of the run's tenant
	run    holdshort.Run
	damage error
}

func (db *DB) activeRuns(conn Conn, now time.Time, tenant holdshort.TenantID, after holdshort.RunID) (runs []examined, err error) {
	err = conn.Query(selectActiveRuns, []any{string(tenant), string(after), int64(examinedAtOnce)}, func(scan func(...any) error) error {
		r := examined{tx: db.NewView(conn, "", now)}
		r.run, _, r.damage = r.tx.scanRun(func(dest ...any) error { return scan(append([]any{&r.tx.tenant}, dest...)...) })
		if r.damage != nil && !errors.Is(r.damage, holdshort.Corrupt) {
			return r.damage
		}
		runs = append(runs, r)
		return nil
	})
	return runs, err
}

func (r examined) problem() string {
	if r.damage != nil {
		return "its row cannot be read"
	}
	entries, err := r.tx.Journal(r.run.ID)
	if err != nil {
		return "its journal cannot be read"
	}
	if r.tx.db.Keyring == nil {
		return ""
	}
	err = r.tx.db.Keyring.VerifyJournal(r.tx.tenant, r.run.ID, r.run.Recorded, entries)
	switch holdshort.CodeOf(err) {
	case "":
		return ""
	case holdshort.KeyUnknown:
		return "the key that signed its journal is not in the keyring"
	}
	return "its journal is not what it recorded"
}
