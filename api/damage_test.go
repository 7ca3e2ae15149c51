package api_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
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

// TestDamagedRunOverHTTP: a run whose row cannot be read is shown as held, refuses what it cannot do with the reason, and can be canceled.
func TestDamagedRunOverHTTP(t *testing.T) {
	d := openHouse(t, filepath.Join(t.TempDir(), "house.db"))
	run, id := d.starts(t, "refund", refund{"1", 10})
	d = d.damage(t, "UPDATE runs SET body = ? WHERE id = ?", []byte("{"), string(run.ID))
	path := "/v1/runs/" + string(run.ID)
	var got struct {
		Status holdshort.RunStatus `json:"status"`
		Held   *holdshort.Hold     `json:"held"`
	}
	a := d.call(t, "ben", "GET", path, nil)
	a.into(t, &got)
	if a.status != http.StatusOK || got.Status != holdshort.RunWaiting || got.Held == nil || got.Held.Code != holdshort.Corrupt {
		t.Errorf("read: %d %s", a.status, a.body)
	}
	if a := d.call(t, "olga", "GET", "/v1/runs", nil); a.status != http.StatusOK || !strings.Contains(string(a.body), string(run.ID)) {
		t.Errorf("list: %d %s", a.status, a.body)
	}
	decision := "/v1/requests/" + string(id) + "/decision"
	refusedAsCorrupt(t, "decide", d.call(t, "ana", "POST", decision, `{"action":"approve"}`))
	refusedAsCorrupt(t, "resume", d.call(t, "ana", "POST", "/v1/resume/"+string(id), `{"action":"approve"}`))
	refusedAsCorrupt(t, "retry", d.call(t, "olga", "POST", path+"/retry", `{}`))
	if a := d.call(t, "eve", "POST", decision, `{"action":"approve"}`); a.status != http.StatusNotFound {
		t.Errorf("a stranger decides: %d %s", a.status, a.body)
	}
	if a := d.call(t, "eve", "POST", path+"/cancel", `{}`); a.status != http.StatusNotFound && a.status != http.StatusForbidden {
		t.Errorf("a stranger cancels: %d %s", a.status, a.body)
	}
	if d.status(t, id) != holdshort.RequestOpen || d.refunds.Load() != 0 {
		t.Errorf("the request is %s after %d refunds", d.status(t, id), d.refunds.Load())
	}
	if a := d.call(t, "olga", "POST", path+"/cancel", `{}`); a.status != http.StatusOK {
		t.Errorf("cancel: %d %s", a.status, a.body)
	}
}
