package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// TestSchema looks how far databases have come, without changing them.
func TestSchema(t *testing.T) {
	known := len(sqldb.Migrations(sqldb.SQLite))
	none, err := Schema(context.Background(), filepath.Join(t.TempDir(), "none.db"))
	if err != nil || len(none.Applied) != 0 || len(none.Pending) != known {
		t.Errorf("no database: %d applied, %d pending (%v)", len(none.Applied), len(none.Pending), err)
	}
	f := newFile(t, Options{})
	whole, err := Schema(context.Background(), f.path) // while another one has it open
	if err != nil || len(whole.Applied) != known || len(whole.Pending) != 0 || whole.Applied[0].Name != "initial" {
		t.Errorf("a new one: %+v (%v)", whole, err)
	}
	f.close(t)
	f.options.migrations = next(harmless)
	f.open(t)
	if _, err := Schema(context.Background(), f.path); holdshort.CodeOf(err) != holdshort.SchemaNewer {
		t.Errorf("a newer one: %v", err)
	}
}
