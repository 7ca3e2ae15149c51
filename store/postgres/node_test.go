package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// refused wants the code, a message and a hint.
func refused(t *testing.T, err error, code holdshort.Code) {
	t.Helper()
	if holdshort.CodeOf(err) != code {
		t.Fatalf("got %v (%v), want %s", err, holdshort.CodeOf(err), code)
	}
	if holdshort.HintOf(err) == "" {
		t.Errorf("%v does not say what to do", err)
	}
}

// another opens one more node, with files of its own and the same keys.
func (d *database) another(t *testing.T, change func(*Options)) *Store {
	t.Helper()
	folder := t.TempDir()
	keys, err := os.ReadFile(filepath.Join(d.folder, "keys"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "keys"), keys, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := d.options
	o.KeyringFile = filepath.Join(folder, "keys")
	if change != nil {
		change(&o)
	}
	s, err := Open(ctx, d.url, o)
	if err != nil {
		t.Fatalf("open another node: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func deny(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Update(ctx, "acme", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) }); err != nil {
		t.Fatal(err)
	}
}

// TestNodesStartTogether: many nodes meet an empty database and agree on its schema, its instance and its keys.
func TestNodesStartTogether(t *testing.T) {
	t.Parallel()
	d := emptyDatabase(t, Options{})
	const nodes = 6
	stores, errs := make([]*Store, nodes), make([]error, nodes)
	var wg sync.WaitGroup
	for i := range nodes {
		wg.Go(func() { stores[i], errs[i] = d.node(d.folder) })
	}
	wg.Wait()
	instance := ""
	for i, s := range stores {
		if errs[i] != nil {
			t.Errorf("node %d: %v", i, errs[i])
			continue
		}
		defer s.Close()
		h, err := s.System().Health(ctx)
		if err != nil || h.Instance == "" || instance != "" && h.Instance != instance || h.Quarantine != "" {
			t.Errorf("node %d is of instance %q (%v), another one of %q", i, h.Instance, err, instance)
		}
		instance = h.Instance
		deny(t, s)
	}
}

// TestNodesShareWork: several nodes claim, and each run is claimed once; whoever comes back with an old epoch is fenced off, also in the
// moment in which another one claims.
func TestNodesShareWork(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{})
	nodes := []*Store{d.store, d.another(t, nil), d.another(t, nil)}
	const runs = 40
	err := d.store.Update(ctx, "acme", func(tx store.Tx) error {
		for i := range runs {
			if err := tx.PutRun(holdshort.Run{ID: holdshort.RunID(fmt.Sprint("run_", i)), Status: holdshort.RunQueued, Flow: "refund", FlowVersion: 1, CreatedAt: tx.Now()}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	owners := map[holdshort.RunID]int{}
	claimed := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(owners)
	}
	var wg sync.WaitGroup
	for i, s := range nodes {
		wg.Go(func() {
			for claimed() < runs {
				var got []holdshort.RunID
				_, err := s.System().ClaimRuns(ctx, store.RunClaim{Flows: []store.FlowVersion{{Flow: "refund", Version: 1}}, Limit: 3}, func(tx store.Tx, r holdshort.Run) error {
					if len(got) == 3 {
						got = nil // again from the start
					}
					got = append(got, r.ID)
					r, err := r.Apply(holdshort.RunClaim, tx.Now())
					r.Lease.Owner, r.Lease.Until = fmt.Sprint(i), tx.Now().Add(time.Minute)
					return errors.Join(err, tx.PutRun(r))
				})
				if err != nil {
					t.Errorf("node %d: %v", i, err)
					return
				}
				mu.Lock()
				for _, id := range got {
					owners[id]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for id, n := range owners {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
	if rows := d.Rows(t, "SELECT COUNT(*) FROM runs WHERE epoch = 1 AND status = 'running'"); rows[0][0].(int64) != runs {
		t.Errorf("%v of %d runs have their first epoch", rows[0][0], runs)
	}
}

// TestFenceHoldsTheRun: between the fence and the commit nobody else gets the run.
func TestFenceHoldsTheRun(t *testing.T) {
	t.Parallel()
	reached, passed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	armed := make(chan bool, 1)
	d := newDatabase(t, Options{Lanes: 1, OnStatement: func(text string) {
		if text != "COMMIT" {
			return
		}
		select {
		case <-armed:
			once.Do(func() { close(reached); <-passed })
		default:
		}
	}})
	other := d.another(t, func(o *Options) { o.OnStatement = nil })
	run := holdshort.Run{ID: "run_1", Status: holdshort.RunRunning, Flow: "refund", FlowVersion: 1, Lease: holdshort.Lease{Owner: "a", Epoch: 1, Until: time.UnixMicro(1)}}
	if err := d.store.Update(ctx, "acme", func(tx store.Tx) error { return tx.PutRun(run) }); err != nil {
		t.Fatal(err)
	}
	armed <- true
	fenced := make(chan error, 1)
	go func() {
		fenced <- d.store.Update(ctx, "acme", func(tx store.Tx) error {
			if err := errors.Join(tx.FenceRun("run_1", 1), tx.AddJournal(holdshort.JournalEntry{RunID: "run_1", Key: "k", Kind: "step"})); err != nil {
				return err
			}
			_, err := tx.Run("run_1") // the fence goes out first: else it would go with the COMMIT
			return err
		})
	}()
	<-reached
	claim := func() int {
		n, err := other.System().ClaimRuns(ctx, store.RunClaim{Flows: []store.FlowVersion{{Flow: "refund", Version: 1}}}, func(tx store.Tx, r holdshort.Run) error {
			r.Lease = holdshort.Lease{Owner: "b", Epoch: r.Lease.Epoch + 1, Until: tx.Now().Add(time.Minute)}
			return tx.PutRun(r)
		})
		if err != nil {
			t.Errorf("claim: %v", err)
		}
		return n
	}
	if n := claim(); n != 0 {
		t.Error("the run was claimed while its owner was committing")
	}
	close(passed)
	if err := <-fenced; err != nil {
		t.Errorf("the owner's commit: %v", err)
	}
	if n := claim(); n != 1 {
		t.Error("the run could not be claimed afterwards")
	}
	err := d.store.Update(ctx, "acme", func(tx store.Tx) error {
		return errors.Join(tx.FenceRun("run_1", 1), tx.AddJournal(holdshort.JournalEntry{RunID: "run_1", Key: "late", Kind: "step"}))
	})
	if holdshort.CodeOf(err) != holdshort.LeaseLost {
		t.Errorf("the old owner: %v", err)
	}
}

// TestNodesWake: a hint of one node reaches the others, and whoever lost the connection is woken to look.
func TestNodesWake(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{})
	other := d.another(t, nil)
	hint, end := other.Wake().Subscribe("runs")
	defer end()
	wait := func(what string) {
		t.Helper()
		select {
		case <-hint:
		case <-time.After(safetyLimit):
			t.Fatalf("no hint: %s", what)
		}
	}
	ring := func(what string) { // until it is heard: hints may be lost
		t.Helper()
		deadline := time.Now().Add(safetyLimit)
		for {
			d.store.Wake().Ring("runs", "timers")
			select {
			case <-hint:
				return
			case <-time.After(50 * time.Millisecond):
			}
			if time.Now().After(deadline) {
				t.Fatalf("no hint: %s", what)
			}
		}
	}
	ring("from another node")
	for len(hint) > 0 {
		<-hint
	}
	d.sever(t)
	wait("after the connection broke")
	ring("from another node after the connection broke")
	long := make([]string, 400)
	for i := range long {
		long[i] = fmt.Sprintf("topic-with-a-long-name-%040d", i)
	}
	for len(hint) > 0 {
		<-hint
	}
	d.store.Wake().Ring(append(long, "runs")...) // more than one NOTIFY can carry
	wait("among many topics")
}

func next(sql string) []sqldb.Migration {
	return append(sqldb.Migrations(sqldb.Postgres), sqldb.NewMigration("9001_next.sql", sql))
}

const harmless = "ALTER TABLE runs ADD COLUMN mood TEXT NOT NULL DEFAULT ''; CREATE INDEX runs_mood ON runs (mood); CREATE TABLE moods (name TEXT PRIMARY KEY);"

// TestTwoReleases: a node of the release before goes on while another one migrates, and afterwards; started anew it is refused.
func TestTwoReleases(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{})
	deny(t, d.store)
	newer := func(o *Options) { o.migrations = next(harmless) }

	stop, done := make(chan struct{}), make(chan error, 1)
	go func() { // the old one works all the while
		for n := 0; ; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			id := holdshort.RunID(fmt.Sprint("run_", n))
			if err := d.store.Update(ctx, "acme", count(id), store.RunRow(id)); err != nil {
				done <- err
				return
			}
		}
	}()
	o := d.options
	o.KeyringFile, o.NoMigrate = filepath.Join(d.folder, "keys"), true
	newer(&o)
	_, err := Open(ctx, d.url, o)
	refused(t, err, holdshort.SchemaOlder)
	s := d.another(t, newer)
	for i := range 20 {
		if err := s.Update(ctx, "acme", count(holdshort.RunID(fmt.Sprint("run_new_", i)))); err != nil {
			t.Errorf("the new one: %v", err)
		}
		deny(t, d.store)
	}
	close(stop)
	if err := <-done; err != nil {
		t.Errorf("the old one: %v", err)
	}
	if err := d.store.View(ctx, "acme", func(tx store.ReadTx) error { _, err := tx.Run("run_new_3"); return err }); err != nil {
		t.Errorf("the old one reads what the new one wrote: %v", err)
	}
	if err := s.View(ctx, "acme", func(tx store.ReadTx) error { _, err := tx.Run("run_0"); return err }); err != nil {
		t.Errorf("the new one reads what the old one wrote: %v", err)
	}
	if h, err := d.store.System().Health(ctx); err != nil {
		t.Errorf("the old one's health: %+v (%v)", h, err)
	}
	_, err = d.node(d.folder)
	refused(t, err, holdshort.SchemaNewer)
	d.options.migrations = next(harmless)
	d.Reopen(t)
	deny(t, d.store)
}

func TestDamagedSchema(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"a changed hash":         "UPDATE schema_migrations SET hash = 'x'",
		"a missing table":        "DROP TABLE decision_uses",
		"a missing column":       "ALTER TABLE operations DROP COLUMN result_hash",
		"a missing index":        "DROP INDEX decisions_one",
		"missing notes":          "DROP TABLE meta",
		"garbage in its notes":   "UPDATE meta SET value = 'garbage' WHERE name = 'schema_objects'",
		"forgotten migrations":   "DELETE FROM schema_migrations",
		"a table of their stead": "DROP TABLE schema_migrations; CREATE TABLE schema_migrations (x TEXT)",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDatabase(t, Options{})
			deny(t, d.store)
			d.Exec(t, damage)
			_, err := d.node(d.folder)
			refused(t, err, holdshort.SchemaCorrupt)
		})
	}
	t.Run("a migration that fails", func(t *testing.T) {
		d := newDatabase(t, Options{})
		d.options.migrations = next(harmless + "INSERT INTO no_such_table VALUES (1);")
		_, err := d.node(d.folder)
		refused(t, err, holdshort.SchemaCorrupt)
		if d.Columns(t)["moods"] != nil {
			t.Error("half of the migration is there")
		}
		d.options.migrations = nil
		d.Reopen(t)
		deny(t, d.store)
	})
}

// TestMigratedEqualsFresh: a database that came through every release has the schema of a new one.
func TestMigratedEqualsFresh(t *testing.T) {
	t.Parallel()
	all := next(harmless)
	schema := func(d *database) string {
		return fmt.Sprint(d.Rows(t, `SELECT table_name::text, column_name::text, data_type::text, is_nullable::text, coalesce(column_default, '')::text, coalesce(collation_name, '')::text
			FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`), d.Rows(t, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"))
	}
	want := schema(newDatabase(t, Options{migrations: all}))
	for from := 1; from <= len(all); from++ {
		d := newDatabase(t, Options{migrations: all[:1]})
		for to := from; to <= len(all); to++ {
			deny(t, d.store)
			d.options.migrations = all[:to]
			d.Reopen(t)
		}
		if got := schema(d); got != want {
			t.Errorf("from %d on:\n%s\na new one:\n%s", from, got, want)
		}
	}
}

// TestNodesQueueForRows: whoever names a row waits for the one who has it, on whichever node; nobody who read it has to read it again.
func TestNodesQueueForRows(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{})
	nodes := []*Store{d.store, d.another(t, nil)}
	if err := d.store.Update(ctx, "acme", count("run_1"), store.RunRow("run_1")); err != nil {
		t.Fatal(err)
	}
	const each = 25
	var wg sync.WaitGroup
	for _, s := range nodes {
		for range 2 {
			wg.Go(func() {
				for range each {
					if err := s.Update(ctx, "acme", count("run_1"), store.RunRow("run_1")); err != nil {
						t.Errorf("got %v", err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	if wake, events := d.counted(t, "run_1"); wake != 4*each+1 || events != wake {
		t.Errorf("%d updates took effect %d times, with %d events", 4*each+1, wake, events)
	}
}

// TestSchema looks how far databases have come, without changing them.
func TestSchema(t *testing.T) {
	t.Parallel()
	known := len(sqldb.Migrations(sqldb.Postgres))
	d := emptyDatabase(t, Options{})
	none, err := Schema(ctx, d.url)
	if err != nil || len(none.Applied) != 0 || len(none.Pending) != known || len(d.Columns(t)) != 0 {
		t.Errorf("an empty database: %d applied, %d pending (%v)", len(none.Applied), len(none.Pending), err)
	}
	d.open(t)
	defer d.close(t)
	whole, err := Schema(ctx, d.url)
	if err != nil || len(whole.Applied) != known || len(whole.Pending) != 0 || whole.Applied[0].Name != "initial" {
		t.Errorf("a new one: %+v (%v)", whole, err)
	}
	d.another(t, func(o *Options) { o.migrations = next(harmless) })
	if _, err := Schema(ctx, d.url); holdshort.CodeOf(err) != holdshort.SchemaNewer {
		t.Errorf("a newer one: %v", err)
	}
}
