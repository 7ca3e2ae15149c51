package engine_test

import (
	"slices"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
)

// TestDamagedRunRow: a run whose own row cannot be read is held. It can be seen and canceled, nothing of it runs, and other runs go on.
func TestDamagedRunRow(t *testing.T) {
	for name, statement := range map[string]string{
		"fixed":  "UPDATE runs SET fixed = ? WHERE id = ?",
		"body":   "UPDATE runs SET body = ? WHERE id = ?",
		"both":   "UPDATE runs SET fixed = substr(fixed, 1, 0), body = ? WHERE id = ?",
		"status": "UPDATE runs SET body = ?, status = 'asleep' WHERE id = ?",
	} {
		t.Run(name, func(t *testing.T) {
			onDamagedStores(t, func(e *damageEnv) { testDamagedRunRow(e, statement) })
		})
	}
}

func testDamagedRunRow(e *damageEnv, statement string) {
	s := e.chat()
	id := e.hear(s, "first").Run
	healthy, err := e.Start(e.Context(), tenant, engine.StartInput{Flow: "clerk", User: "carl", Input: []byte(`{"text":"beside"}`)})
	if err != nil {
		e.Fatal(err)
	}
	e.settle()
	e.damage(statement, []byte("{"), string(id))
	e.restart()
	e.wantHeld(id, 2)
	run := e.run(id)
	if run.SessionID != s.ID || run.Flow != "clerk" || run.Held.Since.IsZero() || run.Status != holdshort.RunWaiting {
		e.Errorf("the damaged run reads as %+v", run)
	}
	e.wantListed(id)
	if err := e.approve(id); code(err) != holdshort.Corrupt {
		e.Errorf("approve: %v, want corrupt", err)
	}
	e.request(id) // it is still open
	e.wantHeld(id, 2)
	if n := e.count("SELECT COUNT(*) FROM runs WHERE held_code = 'corrupt' AND id = ?", string(id)); n != 1 {
		e.Error("the hold is not stored")
	}
	if n := e.count("SELECT COUNT(*) FROM events WHERE type = 'run.held' AND stream = ?", string(id)); n != 1 {
		e.Errorf("%d events of the hold, want 1", n)
	}
	if _, err := e.Retry(e.Context(), tenant, id, ops); code(err) != holdshort.Corrupt || holdshort.HintOf(err) == "" {
		e.Errorf("retry: %v, want corrupt with a hint", err)
	}
	if err := e.approve(id); code(err) != holdshort.Corrupt {
		e.Errorf("approve again: %v, want corrupt", err)
	}
	if got := e.hear(s, "second"); got.Outcome != engine.RoutedStart || got.Run == id {
		e.Errorf("a message to the session of the damaged run: %+v", got)
	}
	if _, err := e.Why(e.Context(), tenant, id); err != nil {
		e.Errorf("why: %v", err)
	}
	if _, err := e.Timeline(e.Context(), tenant, id, ops); err != nil {
		e.Errorf("timeline: %v", err)
	}
	e.cancels(id)
	page, err := e.Requests(e.Context(), tenant, engine.RequestQuery{Run: id, Status: holdshort.RequestOpen})
	if err != nil || len(page.Items) > 0 {
		e.Errorf("%d requests of the canceled run are open, %v", len(page.Items), err)
	}
	e.reads.calls = nil
	if err := e.approve(healthy.ID); err != nil {
		e.Error(err)
	}
	if run := e.run(healthy.ID); run.Status != holdshort.RunCompleted {
		e.Errorf("the run beside is %s, held %+v", run.Status, run.Held)
	}
}

func (e *damageEnv) wantListed(id holdshort.RunID) {
	e.Helper()
	page, err := e.RunsFor(e.Context(), tenant, engine.RunQuery{}, ops)
	at := slices.IndexFunc(page.Items, func(r holdshort.Run) bool { return r.ID == id })
	if err != nil || len(page.Items) != 2 || at < 0 || page.Items[at].Held == nil {
		e.Errorf("the list of runs has %+v, %v", page.Items, err)
	}
}

// TestDeleteSessionOfDamagedRun: a session can be deleted although its run cannot be read.
func TestDeleteSessionOfDamagedRun(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		s := e.chat()
		id := e.hear(s, "first").Run
		e.damage("UPDATE runs SET fixed = ? WHERE id = ?", []byte("{"), string(id))
		e.restart()
		if _, err := e.DeleteSession(e.Context(), tenant, s.ID, ops); err != nil {
			e.Fatal(err)
		}
		if run := e.run(id); run.Status != holdshort.RunCanceled {
			e.Errorf("the run is %s", run.Status)
		}
	})
}
