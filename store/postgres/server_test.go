package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
)

// TestCrashServer kills the server while many write: what was acknowledged is there when it is back, nothing is there by half, and the node
// goes on by itself.
func TestCrashServer(t *testing.T) {
	t.Parallel()
	server := testpg.Cluster(t)
	d := &database{url: server.URL(), folder: t.TempDir(), options: Options{Logger: quiet, Patience: 10 * time.Second}}
	d.open(t)
	defer d.close(t)
	var mu sync.Mutex
	answers := map[holdshort.RunID]error{}
	for round := range 2 {
		stop := make(chan struct{})
		var wg sync.WaitGroup
		started := make(chan struct{}, 1000)
		for w := range 6 {
			wg.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					id := holdshort.RunID(fmt.Sprintf("run_%d_%d_%d", round, w, n))
					err := d.store.Update(ctx, "acme", func(tx store.Tx) error {
						return errors.Join(tx.PutRun(holdshort.Run{ID: id, Status: holdshort.RunQueued, Flow: "f", CreatedAt: tx.Now()}),
							tx.AddJournal(holdshort.JournalEntry{RunID: id, Key: "k", Kind: "step"}), tx.AddEvent(holdshort.Event{Type: "run.created", Run: id}))
					}, store.RunRow(id))
					mu.Lock()
					answers[id] = err
					mu.Unlock()
					if err == nil {
						select {
						case started <- struct{}{}:
						default:
						}
					}
				}
			})
		}
		for range 60 {
			<-started
		}
		server.Kill()
		close(stop)
		server.Start()
		wg.Wait()
		if err := d.store.Update(ctx, "acme", count(holdshort.RunID(fmt.Sprint("run_after_", round)))); err != nil {
			t.Errorf("after the server was back: %v", err)
		}
		if err := d.store.View(ctx, "acme", func(tx store.ReadTx) error { _, err := tx.Runs(store.RunQuery{}); return err }); err != nil {
			t.Errorf("a view after the server was back: %v", err)
		}
	}
	if d.raw != nil {
		d.raw.Close(ctx)
		d.raw = nil
	}
	there := map[string]int64{}
	for _, row := range d.Rows(t, `SELECT id, (SELECT COUNT(*) FROM journal j WHERE j.run_id = r.id) + (SELECT COUNT(*) FROM events e WHERE e.stream = r.id) FROM runs r`) {
		there[row[0].(string)] = row[1].(int64)
	}
	acknowledged := 0
	for id, err := range answers {
		n, yes := there[string(id)]
		switch {
		case yes && n != 2:
			t.Errorf("%s is there by half", id)
		case err == nil && !yes:
			t.Errorf("%s was acknowledged and is gone", id)
		case err == nil:
			acknowledged++
		case holdshort.CodeOf(err) == holdshort.OutcomeUnknown:
		case holdshort.CodeOf(err) != holdshort.StoreUnavailable:
			t.Errorf("%s: %v", id, err)
		case yes:
			t.Errorf("%s was refused with %v, and is there", id, err)
		}
	}
	if acknowledged < 120 {
		t.Errorf("only %d were acknowledged", acknowledged)
	}
	stamp(t, d.store)
	if v, err := d.store.System().Verify(ctx); err != nil || len(v.Faults) > 0 {
		t.Errorf("verify: %+v (%v)", v, err)
	}
}

// TestRefusals: what can be wrong with the server is told with a code and a hint, and never with the password.
func TestRefusals(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{})
	deny(t, d.store)
	secret := "hunter2-secret"
	withPassword := strings.Replace(d.url, "postgres@", "postgres:"+secret+"@", 1)
	for name, c := range map[string]struct {
		url  string
		code holdshort.Code
	}{
		"no URL":            {"://" + secret, holdshort.Invalid},
		"nobody listens":    {strings.Replace(withPassword, "127.0.0.1:", "127.0.0.1:1", 1), holdshort.Invalid},
		"no such database":  {strings.Replace(withPassword, "holdshort_test_", "nowhere_", 1), holdshort.NotFound},
		"no such user":      {strings.Replace(withPassword, "postgres:"+secret, "nobody_we_know:"+secret, 1), holdshort.Forbidden},
		"a read-only login": {withPassword + "%20-c%20default_transaction_read_only%3Don", holdshort.StoreReadOnly},
		"no schema":         {strings.Replace(withPassword, "public%2Cfake%2Cpg_catalog", "nowhere", 1), holdshort.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			o := d.options
			o.KeyringFile = d.folder + "/keys"
			s, err := Open(ctx, c.url, o)
			if err == nil { // it has nothing to write yet
				err = s.Update(ctx, "acme", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) })
				s.Close()
			}
			if name == "nobody listens" && holdshort.CodeOf(err) == holdshort.StoreUnavailable {
				c.code = holdshort.StoreUnavailable // a port that cannot be, or one where nobody is
			}
			refused(t, err, c.code)
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%v shows the password", err)
			}
		})
	}
	t.Run("a user without rights", func(t *testing.T) {
		d.Exec(t, "CREATE ROLE reader_"+dbName(d.url)+" LOGIN")
		t.Cleanup(func() { d.Exec(t, "DROP ROLE reader_"+dbName(d.url)) })
		o := d.options
		o.KeyringFile = d.folder + "/keys"
		s, err := Open(ctx, strings.Replace(d.url, "postgres@", "reader_"+dbName(d.url)+"@", 1), o)
		if err == nil {
			s.Close()
		}
		refused(t, err, holdshort.Forbidden)
	})
	t.Run("a running node whose database became read-only", func(t *testing.T) {
		d.Exec(t, "ALTER DATABASE "+dbName(d.url)+" SET default_transaction_read_only = on")
		d.raw.Close(ctx)
		d.raw = nil
		d.store.pool.Reset()
		other, err := pgx.Connect(ctx, d.url)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(ctx)
		if _, err := other.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
			t.Fatal(err)
		}
		err = d.store.Update(ctx, "acme", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) })
		refused(t, err, holdshort.StoreReadOnly)
		for _, text := range []string{"SET default_transaction_read_only = off", "ALTER DATABASE " + dbName(d.url) + " SET default_transaction_read_only = off"} {
			if _, err := other.Exec(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := other.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
			t.Fatal(err)
		}
		deny(t, d.store)
	})
}

func dbName(url string) string {
	path, _, _ := strings.Cut(url[strings.LastIndex(url, "/")+1:], "?")
	return path
}

// TestDurability: what is promised rests on these settings, whatever the server's defaults are.
func TestDurability(t *testing.T) {
	t.Parallel()
	d := emptyDatabase(t, Options{})
	d.Exec(t, "ALTER DATABASE "+dbName(d.url)+" SET synchronous_commit = off")
	d.Exec(t, "ALTER DATABASE "+dbName(d.url)+" SET default_transaction_isolation = 'serializable'")
	d.open(t)
	defer d.close(t)
	c, err := d.store.dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for name, want := range map[string]string{"synchronous_commit": "on", "default_transaction_isolation": "read committed", "TimeZone": "UTC"} {
		var got string
		if err := c.pg.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
}

// TestNothingRunsAfterClose looks for goroutines of ours and of the database's.
func TestNothingRunsAfterClose(t *testing.T) {
	for range 2 {
		d := newDatabase(t, Options{})
		deny(t, d.store)
		if err := d.store.View(ctx, "acme", func(store.ReadTx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		d.store.Wake().Ring("x")
		d.Crash(t)
		deny(t, d.store)
		d.close(t)
		short, cancel := context.WithTimeout(ctx, time.Second)
		if _, err := Open(short, strings.Replace(d.url, "holdshort_test_", "nowhere_", 1), Options{KeyringFile: d.folder + "/keys", Logger: quiet}); err == nil {
			t.Error("a database that is not there was opened")
		}
		cancel()
	}
	deadline := time.Now().Add(safetyLimit)
	for {
		var b strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&b, 2); err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, stack := range strings.Split(b.String(), "\n\n") {
			if (strings.Contains(stack, "holdshort/store") || strings.Contains(stack, "pgx")) && !strings.Contains(stack, "testing.tRunner") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
		}
		runtime.Gosched()
	}
}
