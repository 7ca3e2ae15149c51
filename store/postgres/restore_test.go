package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
)

// stamp gives events their positions, as the node with the sequencer's lease does.
func stamp(t *testing.T, s *Store) {
	t.Helper()
	lease, err := s.System().Acquire(ctx, store.SequencerLease, "test", time.Hour)
	if err == nil {
		_, err = s.System().Stamp(ctx, lease, 1000)
	}
	if err != nil {
		t.Fatalf("stamp: %v", err)
	}
}

// backup copies the database as it is; nobody may be connected to it meanwhile.
func (d *database) backup(t *testing.T) (url string) {
	t.Helper()
	d.close(t)
	copied := testpg.URL(t)
	name := func(u string) string {
		path, _, _ := strings.Cut(u[strings.LastIndex(u, "/")+1:], "?")
		return path
	}
	admin := &database{url: os.Getenv("HOLDSHORT_TEST_POSTGRES")}
	admin.Exec(t, "DROP DATABASE "+name(copied))
	admin.Exec(t, "CREATE DATABASE "+name(copied)+" TEMPLATE "+name(d.url))
	admin.raw.Close(ctx)
	d.open(t)
	return strings.Replace(d.url, name(d.url), name(copied), 1)
}

func quarantined(t *testing.T, s *Store) {
	t.Helper()
	if s.Quarantine() == "" {
		t.Fatal("it is not quarantined")
	}
	refused(t, s.Update(ctx, "acme", func(store.Tx) error { t.Error("the function ran"); return nil }), holdshort.Quarantined)
	_, err := s.System().ClaimRuns(ctx, store.RunClaim{Flows: []store.FlowVersion{{Flow: "f", Version: 1}}}, nil)
	refused(t, err, holdshort.Quarantined)
	if err := s.View(ctx, "acme", func(tx store.ReadTx) error { _, err := tx.Runs(store.RunQuery{}); return err }); err != nil {
		t.Errorf("looking at it: %v", err)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	accept := func(t *testing.T, s *Store) {
		t.Helper()
		if err := s.System().AcceptRestore(ctx, holdshort.Actor{ID: "ann", Kind: holdshort.Person}); err != nil {
			t.Fatalf("accept: %v", err)
		}
		deny(t, s)
		stamp(t, s)
		err := s.View(ctx, holdshort.SystemTenant, func(tx store.ReadTx) error {
			events, err := tx.Events(store.EventQuery{Types: []string{"store.restore_accepted"}})
			if err == nil && (len(events.Items) != 1 || events.Items[0].Actor != "ann") {
				t.Errorf("the log says %+v", events.Items)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if v, err := s.System().Verify(ctx); err != nil || len(v.Faults) > 0 {
			t.Errorf("verify: %+v (%v)", v, err)
		}
	}
	t.Run("an older backup", func(t *testing.T) {
		d := newDatabase(t, Options{})
		deny(t, d.store)
		stamp(t, d.store)
		backup := d.backup(t)
		deny(t, d.store)
		stamp(t, d.store)
		other := d.files(t) // a second node, whose mark is as far
		d.Reopen(t)
		if d.store.Quarantine() != "" {
			t.Fatalf("quarantined without a reason: %s", d.store.Quarantine())
		}
		other = d.files(t)
		d.close(t)
		d.url = backup
		d.open(t)
		quarantined(t, d.store)
		d.Reopen(t)
		quarantined(t, d.store)
		accept(t, d.store)
		d.Reopen(t)
		if d.store.Quarantine() != "" {
			t.Errorf("quarantined again: %s", d.store.Quarantine())
		}
		s, err := d.node(other)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if s.Quarantine() != "" {
			t.Errorf("another node asks for the same acceptance once more: %s", s.Quarantine())
		}
		deny(t, s)
	})
	t.Run("another database", func(t *testing.T) {
		d, other := newDatabase(t, Options{}), newDatabase(t, Options{})
		for range 3 {
			deny(t, other.store)
		}
		deny(t, d.store)
		stamp(t, d.store)
		d.close(t)
		keys, err := os.ReadFile(filepath.Join(other.folder, "keys"))
		if err == nil {
			err = os.WriteFile(filepath.Join(d.folder, "keys"), keys, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		d.url = other.url
		d.open(t)
		quarantined(t, d.store)
		accept(t, d.store)
	})
	t.Run("a new node has no mark", func(t *testing.T) {
		d := newDatabase(t, Options{})
		deny(t, d.store)
		stamp(t, d.store)
		s := d.another(t, nil)
		if s.Quarantine() != "" {
			t.Errorf("quarantined: %s", s.Quarantine())
		}
		deny(t, s)
	})
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, Options{})
	deny(t, d.store)
	_, err := Open(ctx, d.url, Options{Logger: quiet})
	refused(t, err, holdshort.Invalid)
	state, err := os.Stat(filepath.Join(d.folder, "keys"))
	if err != nil || state.Mode().Perm() != 0o600 {
		t.Errorf("the keyring was made with %v (%v)", state, err)
	}
	_, err = d.node(t.TempDir())
	refused(t, err, holdshort.KeyUnknown)
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "keys"), holdshort.NewKeyring().Marshal(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = d.node(foreign)
	refused(t, err, holdshort.KeyUnknown)
	open := d.files(t)
	if err := os.Chmod(filepath.Join(open, "keys"), 0o640); err != nil {
		t.Fatal(err)
	}
	_, err = d.node(open)
	refused(t, err, holdshort.Forbidden)
	old := d.files(t)
	d.Rotate(t)
	deny(t, d.store)
	_, err = d.node(old) // a node that was not given the new key
	refused(t, err, holdshort.KeyUnknown)
}
