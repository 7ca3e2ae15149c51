package api_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/holdshort/holdshort"
)

// damage changes rows behind the server's back, while it is stopped, and starts it again.
func (d *door) damage(t *testing.T, statement string, args ...any) *door {
	t.Helper()
	d.stop()
	db, err := sql.Open("sqlite", "file:"+d.path)
	if err != nil {
		t.Fatal(err)
	}
	result, err := db.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%s changed nothing (%v)", statement, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return openHouse(t, d.path)
}

// refusedAsCorrupt checks that a call was refused with the reason and with what to do about it.
func refusedAsCorrupt(t *testing.T, what string, a answer) {
	t.Helper()
	var problem struct {
		Code, Detail, Hint string
	}
	a.into(t, &problem)
	if a.status != http.StatusConflict || problem.Code != string(holdshort.Corrupt) || problem.Detail == "" || problem.Hint == "" {
		t.Errorf("%s: %d %s", what, a.status, a.body)
	}
}

// TestDamagedJournalOverHTTP: callers learn that a run is held and why, and can cancel it.
func TestDamagedJournalOverHTTP(t *testing.T) {
	d := openHouse(t, filepath.Join(t.TempDir(), "house.db"))
	run, id := d.starts(t, "agent.refunds", map[string]string{"text": "refund order 7 for 10"})
	d = d.damage(t, "UPDATE journal SET body = ? WHERE run_id = ? AND kind = 'model'", []byte("{"), string(run.ID))
	a := d.call(t, "ana", "POST", "/v1/resume/"+string(id), `{"action":"approve"}`)
	var got shownResumed
	a.into(t, &got)
	if a.status != http.StatusOK || got.Status != "Paused" || got.Message != "the task is held: corrupt; an operator retries or cancels it" {
		t.Errorf("resume: %d %s %q", a.status, got.Status, got.Message)
	}
	path := "/v1/runs/" + string(run.ID)
	refusedAsCorrupt(t, "execution_state", d.call(t, "ben", "GET", path+"?view=execution_state", nil))
	refusedAsCorrupt(t, "journal", d.call(t, "ben", "GET", path+"/journal", nil))
	if a := d.call(t, "olga", "POST", path+"/cancel", `{}`); a.status != http.StatusOK {
		t.Errorf("cancel: %d %s", a.status, a.body)
	}
	if d.refunds.Load() != 0 {
		t.Error("a refund was made")
	}
}
