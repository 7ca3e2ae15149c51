package engine_test

import (
	"context"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/tool"
)

// tampering changes a paused run's journal behind the engine's back. Each takes the run's id as often as it has parameters.
var tampering = map[string][]string{
	"a read is deleted":            {"DELETE FROM journal WHERE run_id = ? AND key = 'look'"},
	"everything is deleted":        {"DELETE FROM journal WHERE run_id = ?"},
	"everything and the digest":    {"DELETE FROM journal WHERE run_id = ?", "UPDATE runs SET recorded = '' WHERE id = ?"},
	"everything, digest forged":    {"DELETE FROM journal WHERE run_id = ?", "UPDATE runs SET recorded = 'forged' WHERE id = ?"},
	"the digest of another run":    {"UPDATE runs SET recorded = (SELECT MIN(o.recorded) FROM runs o WHERE o.id <> runs.id) WHERE id = ?"},
	"an outcome is changed":        {"UPDATE journal SET body = (SELECT o.body FROM journal o WHERE o.kind = 'post' ORDER BY key LIMIT 1) WHERE run_id = ? AND key = 'look'"},
	"the order of posts":           {"UPDATE journal SET started_at = started_at - 1 WHERE run_id = ? AND kind = 'post'"},
	"a post is renamed":            {"UPDATE journal SET key = key || 'x' WHERE run_id = ? AND kind = 'post'"},
	"an entry counts twice":        {"INSERT INTO journal (tenant, run_id, key, attempt, kind, hash, started_at, ended_at, body) SELECT tenant, run_id, key, attempt + 1, kind, hash, started_at, ended_at, body FROM journal WHERE run_id = ? AND key = 'look'"},
	"an entry of another run":      {"DELETE FROM journal WHERE run_id = ? AND key = 'look'", "INSERT INTO journal (tenant, run_id, key, attempt, kind, hash, started_at, ended_at, body) SELECT o.tenant, ?, o.key, o.attempt, o.kind, o.hash, o.started_at, o.ended_at, o.body FROM journal o WHERE o.key = 'look' LIMIT 1"},
	"an entry is made up":          {"INSERT INTO journal (tenant, run_id, key, attempt, kind, hash, started_at, ended_at, body) SELECT tenant, run_id, 'pay', attempt, kind, hash, started_at, ended_at, body FROM journal WHERE run_id = ? AND key = 'look'"},
	"a post is deleted":            {"DELETE FROM journal WHERE run_id = ? AND kind = 'post'"},
	"an entry is of an older time": {"UPDATE journal SET attempt = attempt - 1 WHERE run_id = ? AND key = 'look'"},
}

// TestTamperedJournal: whatever is done to the rows of a journal while the run waits, the run is held and nothing runs on the rest.
func TestTamperedJournal(t *testing.T) {
	for name, statements := range tampering {
		t.Run(name, func(t *testing.T) {
			onDamagedStores(t, func(e *damageEnv) {
				other, err := e.Start(e.Context(), tenant, engine.StartInput{Flow: "clerk", User: "carl", Input: []byte(`{"text":"beside"}`)})
				if err != nil {
					e.Fatal(err)
				}
				s := e.chat()
				id := e.hear(s, "first").Run
				e.hear(s, "second")
				for _, statement := range statements {
					e.damage(statement, string(id))
				}
				e.restart()
				if got, err := e.store.System().ExamineRuns(e.Context(), 1000); err != nil || len(got.Faults) != 1 || got.Faults[0].Run != id {
					e.Errorf("the examination found %+v, %v", got.Faults, err)
				}
				if err := e.approve(id); err != nil && code(err) != holdshort.Corrupt {
					e.Fatal(err)
				}
				e.wantHeld(id, 2)
				e.cancels(id)
				e.reads.calls = nil
				if err := e.approve(other.ID); err != nil {
					e.Error(err)
				}
				if run := e.run(other.ID); run.Status != holdshort.RunCompleted {
					e.Errorf("the run beside is %s, held %+v", run.Status, run.Held)
				}
			})
		})
	}
}

// TestTamperedDecision: the decision that a run reads from its journal cannot be taken out of it.
func TestTamperedDecision(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		id := e.hear(e.chat(), "first").Run
		e.restart()
		e.stopWorkers(func() {
			if _, err := e.Decide(e.Context(), tenant, engine.DecideInput{Request: e.request(id).ID, Action: holdshort.Approve, Actor: ana}); err != nil {
				e.Fatal(err)
			}
			e.damage("DELETE FROM journal WHERE run_id = ? AND kind = 'approval'", string(id))
		})
		e.wantHeld(id, 1)
	})
}

// stopWorkers runs do while this node has no flow, so that no run is executed, and starts a node that has it.
func (e *damageEnv) stopWorkers(do func()) {
	e.Helper()
	flows := e.conf.Flows
	e.conf.Flows = nil
	e.restart()
	do()
	e.conf.Flows = flows
	e.restart()
}

// TestRunWithoutDigest: a stored run that has no digest was written behind the engine's back. It is held and can be
// canceled, and the conversation goes on.
func TestRunWithoutDigest(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		s := e.chat()
		id := e.hear(s, "first").Run
		e.damage("UPDATE runs SET recorded = '' WHERE id = ?", string(id))
		e.restart()
		if err := e.approve(id); holdshort.CodeOf(err) != holdshort.Corrupt {
			e.Fatalf("an approval of a run without a digest: %v", err)
		}
		e.wantHeld(id, 1)
		e.cancels(id)
		if got := e.hear(s, "second"); got.Outcome != engine.RoutedStart {
			e.Errorf("the message after the cancellation: %+v", got)
		}
	})
}

// TestQueuedRunWithoutDigest: a run that is queued again behind the engine's back, with its journal and digest removed,
// is held before its first step runs.
func TestQueuedRunWithoutDigest(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		id := e.hear(e.chat(), "first").Run
		e.damage("DELETE FROM journal WHERE run_id = ?", string(id))
		e.damage("UPDATE runs SET recorded = '', status = 'queued' WHERE id = ?", string(id))
		e.restart()
		e.wantHeld(id, 1)
	})
}

// TestSchemaTakenBack: a writer of the database removes the column of digests and its migration, so that the next start
// migrates again. No run is exempt from digests.
func TestSchemaTakenBack(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		id := e.hear(e.chat(), "first").Run
		e.settle()
		if err := e.store.Close(); err != nil {
			e.Fatal(err)
		}
		e.damage("DELETE FROM journal WHERE run_id = ? AND key = 'look'", string(id))
		e.damage("UPDATE meta SET value = REPLACE(value, '\"runs.recorded\",', '') WHERE name = 'schema_objects'")
		e.damage("DELETE FROM schema_migrations WHERE number = 5")
		db, _ := e.beside("")
		defer db.Close()
		if _, err := db.ExecContext(e.Context(), "ALTER TABLE runs DROP COLUMN recorded"); err != nil {
			e.Fatal(err)
		}
		e.attach()
		if err := e.Recover(e.Context()); err != nil {
			e.Fatal(err)
		}
		e.settle()
		if err := e.approve(id); holdshort.CodeOf(err) != holdshort.Corrupt {
			e.Fatalf("an approval of a run whose digest was removed: %v", err)
		}
		e.wantHeld(id, 1)
	})
}

// TestOutcomeOfADamagedRun: the run's row is damaged while its approved call is under way. The ledger says that the call
// took effect, and the run is held.
func TestOutcomeOfADamagedRun(t *testing.T) {
	onDamagedStores(t, func(e *damageEnv) {
		id := e.hear(e.chat(), "first").Run
		for i := range e.conf.Tools {
			if made := &e.conf.Tools[i]; made.Name == "refund" {
				pay := made.Call
				made.Call = func(ctx context.Context, c tool.Call) (tool.Result, error) {
					e.damage("UPDATE runs SET recorded = 'x', revision = revision + 1 WHERE id = ?", string(id))
					return pay(ctx, c)
				}
			}
		}
		e.restart()
		if err := e.approve(id); err != nil {
			e.Fatal(err)
		}
		if n := e.count("SELECT COUNT(*) FROM operations WHERE status = 'done' AND capability = 'refund'"); n != 1 || e.paid.n() != 1 {
			e.Errorf("%d payments were made and the ledger has %d", e.paid.n(), n)
		}
		if run := e.run(id); run.Held == nil || run.Held.Code != holdshort.Corrupt {
			e.Errorf("the run is %s, held %+v", run.Status, run.Held)
		}
	})
}
