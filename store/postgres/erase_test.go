package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// TestEraseMeetsNewRun: a run begins in a session while that is being erased. It keeps its input, and the erasing is refused.
func TestEraseMeetsNewRun(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{})
	err := d.store.Update(ctx, "acme", func(tx store.Tx) error {
		return errors.Join(
			tx.PutSession(holdshort.Session{ID: "ses_1", Channel: "web", Mode: holdshort.ModeAI, CreatedAt: longAgo, UpdatedAt: longAgo}),
			tx.PutMessage(holdshort.Message{ID: "msg_1", SessionID: "ses_1", Role: "user", CreatedAt: longAgo, Seq: 1}))
	})
	if err != nil {
		t.Fatal(err)
	}
	holder, err := pgx.Connect(ctx, d.url)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(ctx)
	if _, err := holder.Exec(ctx, "BEGIN; SELECT 1 FROM messages FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	var erased error
	done := make(chan struct{})
	go func() {
		defer close(done)
		erased = d.store.Update(ctx, "acme", func(tx store.Tx) error { return tx.EraseSession("ses_1", "ana") }, store.SessionRow("ses_1"))
	}()
	if err := d.blocked(done); err != nil {
		t.Fatal(err)
	}
	err = d.store.Update(ctx, "acme", func(tx store.Tx) error {
		return tx.PutRun(holdshort.Run{ID: "run_1", SessionID: "ses_1", Status: holdshort.RunQueued, Flow: "refund", Input: []byte(`"hello"`), CreatedAt: tx.Now()})
	}, store.RunRow("run_1"))
	if err != nil {
		t.Errorf("begin a run: %v", err)
	}
	if _, err := holder.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	<-done
	refused(t, erased, holdshort.WrongState)
	err = d.store.View(ctx, "acme", func(tx store.ReadTx) error {
		run, err := tx.Run("run_1")
		if err == nil && string(run.Input) != `"hello"` {
			t.Errorf("the run's input is %q (erase: %v)", run.Input, erased)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
