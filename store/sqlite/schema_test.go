package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/sqldb"
	"github.com/holdshort/holdshort/store/storetest"
)

// next is a release with one more migration.
func next(sql string) []sqldb.Migration {
	return append(sqldb.Migrations(sqldb.SQLite), sqldb.NewMigration("9001_next.sql", sql))
}

const harmless = "ALTER TABLE runs ADD COLUMN mood TEXT NOT NULL DEFAULT ''; CREATE INDEX runs_mood ON runs (mood); CREATE TABLE moods (name TEXT PRIMARY KEY) STRICT;"

func TestOlderSchema(t *testing.T) {
	t.Parallel()
	f := newFile(t, Options{})
	f.deny(t)
	f.close(t)
	f.options.migrations = next(harmless)
	f.options.NoMigrate = true
	before := contents(t, f.path)
	f.reopenFails(t, holdshort.SchemaOlder)
	if after := contents(t, f.path); after != before {
		t.Error("a store that was refused was changed")
	}
	f.options.NoMigrate = false
	f.open(t)
	f.deny(t)
	if columns := f.Columns(t); !strings.Contains(strings.Join(columns["runs"], " "), "mood") || columns["moods"] == nil {
		t.Errorf("the migration made %v", columns)
	}
	if n := f.Rows(t, "SELECT COUNT(*) FROM schema_migrations")[0][0].(int64); n != int64(len(f.options.migrations)) {
		t.Errorf("%d migrations are noted", n)
	}
	f.options.NoMigrate = true
	f.Reopen(t)
	f.close(t)
	f.options.migrations = nil // back to the old release
	f.reopenFails(t, holdshort.SchemaNewer)
	_, err := OpenReadOnly(context.Background(), f.path, f.options)
	refused(t, err, holdshort.SchemaNewer)
	f.options.migrations = next(harmless)
	f.open(t)
}

// TestFailedMigration: nothing of it is left, and the old release still runs.
func TestFailedMigration(t *testing.T) {
	t.Parallel()
	f := newFile(t, Options{})
	f.deny(t)
	f.close(t)
	f.options.migrations = next(harmless + "INSERT INTO no_such_table VALUES (1);")
	f.reopenFails(t, holdshort.SchemaCorrupt)
	f.options.migrations = nil
	f.open(t)
	if columns := f.Columns(t); columns["moods"] != nil {
		t.Error("half of the migration is there")
	}
	f.deny(t)
}

// TestCrashInMigration: killed before any statement of the first start or of a migration, the next start finishes it.
func TestCrashInMigration(t *testing.T) {
	t.Parallel()
	var copies []string
	path := filepath.Join(t.TempDir(), "holdshort.db")
	o := Options{Logger: quiet, OnStatement: func(string) {
		dir := t.TempDir()
		copies = append(copies, copyTo(t, path, dir, "", "-wal", ".keys", ".mark"))
	}}
	for _, migrations := range [][]sqldb.Migration{nil, next(harmless)} {
		o.migrations = migrations
		s, err := Open(context.Background(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(copies) < 10 {
		t.Fatalf("only %d statements were seen", len(copies))
	}
	for i, left := range copies {
		if i%storetest.Every(4) != 0 {
			continue
		}
		s, err := Open(context.Background(), left, Options{Logger: quiet, migrations: next(harmless), relaxed: true})
		if err != nil {
			t.Fatalf("open after crash %d: %v", i, err)
		}
		if s.Quarantine() != "" {
			t.Errorf("crash %d: quarantined: %s", i, s.Quarantine())
		}
		if err := s.Update(context.Background(), "acme", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) }); err != nil {
			t.Errorf("crash %d: %v", i, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDamagedSchema(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"a changed hash":         "UPDATE schema_migrations SET hash = 'x'",
		"a changed number":       "UPDATE schema_migrations SET number = 7 WHERE number = 1",
		"a missing table":        "DROP TABLE decision_uses",
		"a missing column":       "ALTER TABLE operations DROP COLUMN result_hash",
		"a missing index":        "DROP INDEX decisions_one",
		"missing notes":          "DROP TABLE meta",
		"emptied notes":          "DELETE FROM meta WHERE name = 'schema_objects'",
		"garbage in its notes":   "UPDATE meta SET value = 'garbage' WHERE name = 'schema_objects'",
		"garbage for a number":   "UPDATE meta SET value = 'garbage' WHERE name = 'generation'",
		"forgotten migrations":   "DELETE FROM schema_migrations",
		"a table of their stead": "DROP TABLE schema_migrations; CREATE TABLE schema_migrations (x TEXT)",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t, Options{})
			f.deny(t)
			f.close(t)
			f.Exec(t, damage)
			f.raw.Close()
			f.raw = nil
			s, err := Open(context.Background(), f.path, f.options)
			if err == nil {
				s.Close()
			}
			refused(t, err, holdshort.SchemaCorrupt)
			_, err = OpenReadOnly(context.Background(), f.path, f.options)
			if err == nil && name != "garbage for a number" {
				t.Error("opened for reading only all the same")
			}
		})
	}
	t.Run("more than we need", func(t *testing.T) {
		f := newFile(t, Options{})
		f.Exec(t, "CREATE TABLE theirs (x TEXT)")
		f.Exec(t, "CREATE INDEX theirs_too ON runs (agent)")
		f.Exec(t, "ALTER TABLE runs ADD COLUMN theirs TEXT")
		f.Reopen(t)
		f.deny(t)
	})
}

func TestDamagedFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(content []byte) []byte
		code   holdshort.Code
	}{
		"garbage":        {func(c []byte) []byte { return []byte(strings.Repeat("garbage ", 1000)) }, holdshort.SchemaCorrupt},
		"a text":         {func(c []byte) []byte { return []byte("notes\n") }, holdshort.SchemaCorrupt},
		"a cut header":   {func(c []byte) []byte { return c[:50] }, holdshort.SchemaCorrupt},
		"one page":       {func(c []byte) []byte { return c[:4096] }, holdshort.SchemaCorrupt},
		"half":           {func(c []byte) []byte { return c[:len(c)/2] }, holdshort.SchemaCorrupt},
		"an odd half":    {func(c []byte) []byte { return c[:len(c)/2+100] }, holdshort.SchemaCorrupt},
		"a wiped schema": {func(c []byte) []byte { clear(c[100:4096]); return c }, holdshort.SchemaCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t, Options{})
			for range 50 {
				f.deny(t)
			}
			f.close(t)
			content, err := os.ReadFile(f.path)
			if err == nil {
				err = errors.Join(os.WriteFile(f.path, c.damage(content), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(context.Background(), f.path, f.options)
			if err == nil {
				err = s.Check(context.Background())
				s.Close()
				t.Logf("it opens; the check says %v", err)
			}
			refused(t, err, c.code)
			s, err = OpenReadOnly(context.Background(), f.path, f.options)
			if err == nil {
				err = s.Check(context.Background())
				s.Close()
			}
			if err == nil {
				t.Error("opened for reading only, and its check finds nothing")
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		_, err := Open(context.Background(), t.TempDir(), Options{Logger: quiet})
		if err == nil || holdshort.HintOf(err) == "" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a whole one", func(t *testing.T) {
		f := newFile(t, Options{})
		f.deny(t)
		if err := f.store.Check(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Run("not there", func(t *testing.T) {
		_, err := OpenReadOnly(context.Background(), filepath.Join(t.TempDir(), "none.db"), Options{Logger: quiet})
		refused(t, err, holdshort.NotFound)
	})
}

// TestMigratedEqualsFresh: a database that came through every release has the schema of a new one.
func TestMigratedEqualsFresh(t *testing.T) {
	t.Parallel()
	all := next(harmless)
	schema := func(f *file) string {
		var lines []string
		for _, row := range f.Rows(t, "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name") {
			lines = append(lines, fmt.Sprintf("%s %s %s %s", row...))
		}
		return strings.Join(lines, "\n")
	}
	fresh := newFile(t, Options{migrations: all})
	want := schema(fresh)
	for from := 1; from <= len(all); from++ {
		f := newFile(t, Options{migrations: all[:1]})
		for to := from; to <= len(all); to++ {
			f.deny(t)
			f.close(t)
			f.options.migrations = all[:to]
			f.open(t)
		}
		if got := schema(f); got != want {
			t.Errorf("from %d on:\n%s\na new one:\n%s", from, got, want)
		}
	}
}
