package sqldb

import (
	"strings"
	"testing"
)

func TestTranslate(t *testing.T) {
	for _, c := range []struct{ text, sqlite, postgres string }{
		{"SELECT 1", "SELECT 1", "SELECT 1"},
		{"WHERE a = ? AND b = ?", "WHERE a = ? AND b = ?", "WHERE a = $1 AND b = $2"},
		{"SELECT 1{for share}", "SELECT 1", "SELECT 1 FOR SHARE"},
		{strings.Repeat("?", 12), strings.Repeat("?", 12), "$1$2$3$4$5$6$7$8$9$10$11$12"},
	} {
		s := statement(c.text)
		if s.Text(SQLite) != c.sqlite || s.Text(Postgres) != c.postgres {
			t.Errorf("%q became %q and %q", c.text, s.Text(SQLite), s.Text(Postgres))
		}
	}
	if n := statement("SELECT 1").Number; n >= Statements() {
		t.Errorf("statement %d of %d", n, Statements())
	}
}

// FuzzCursor: whatever comes in as a cursor is refused or is one that we gave.
func FuzzCursor(f *testing.F) {
	columns := []string{"urgency", "id"}
	f.Add(encodeCursor("requests", []any{int64(2), "req_1"}))
	f.Add(encodeCursor("runs", []any{int64(2), "req_1"}))
	f.Add("WzFd")
	f.Add("")
	f.Fuzz(func(t *testing.T, cursor string) {
		values, err := decodeCursor("requests", cursor, columns)
		if err != nil {
			return
		}
		if encodeCursor("requests", values) != cursor {
			t.Errorf("%q was taken and is not what we give for %v", cursor, values)
		}
		if _, ok := values[0].(int64); !ok {
			t.Errorf("%q gives %T for a number", cursor, values[0])
		}
		if _, ok := values[1].(string); !ok {
			t.Errorf("%q gives %T for an id", cursor, values[1])
		}
	})
}
