package sqldb

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// frozen holds the hash of every migration that was shipped. A shipped one never changes: databases out there have this hash in them.
// A change of the schema is a new file, in both dialects, and a new line here.
var frozen = map[string]map[string]string{
	"sqlite": {
		"0001_initial":        "68c8145d5aeaeff21c01037f413b7d602a6a231c70f368dcd20b662601dac11a",
		"0002_door":           "16d740e4c93a3f6267fe16c0459f1d5964fb3a0165c1bbbde0a98a29df47799b",
		"0003_desk":           "0ab8793c7df0613d8eeac1d05b573a092d3bde1ccd0b18532db01df814c96289",
		"0004_pages":          "1f928a4738f0f7b5cd0347d7ba7a9a869cbbd55c9c99a5c9940f90b2298b92f9",
		"0005_journal_digest": "fbbf0f6cb9e567b3800ab7468bf2338dfdcaa51291ebea543138c26e7830a673",
	},
	"postgres": {
		"0001_initial":        "4a9d64b1cefefc69da7df2e4c8ef8c499d99819dd8c8826f9a2532221b34b0a1",
		"0002_door":           "71c049fa941668aacb4e5f56e862474973523e2f1ef348e0ed7c0b73e76e9367",
		"0003_desk":           "5a66b94d01b9e7b4747be2611740fa2cefcc11948e5458618f44be8d0f82f377",
		"0004_pages":          "7b4a13fca962137c95d1ad656939842b0cee7964a5f383e0b06566f4d441b237",
		"0005_journal_digest": "fbbf0f6cb9e567b3800ab7468bf2338dfdcaa51291ebea543138c26e7830a673",
	},
}

func TestMigrationsAreFrozen(t *testing.T) {
	for _, d := range []*Dialect{SQLite, Postgres} {
		found := Migrations(d)
		if len(found) != len(frozen[d.Name]) {
			t.Errorf("%s has %d migrations, %d are noted here", d.Name, len(found), len(frozen[d.Name]))
		}
		for i, m := range found {
			file := strings.TrimSuffix(fileOf(m), ".sql")
			if m.Number != i+1 {
				t.Errorf("%s: %s is the %dth: numbers have no holes", d.Name, file, i+1)
			}
			if m.Hash != frozen[d.Name][file] {
				t.Errorf("%s/%s.sql has hash %s. If it was shipped, put it back and write a new migration; if not, note the hash here", d.Name, file, m.Hash)
			}
		}
	}
}

func fileOf(m Migration) string {
	digits := "0000"
	for n, i := m.Number, 3; n > 0; n, i = n/10, i-1 {
		digits = digits[:i] + string(rune('0'+n%10)) + digits[i+1:]
	}
	return digits + "_" + m.Name + ".sql"
}

// TestDialectsMatch: the same migrations make the same tables, columns and indexes, but for what one database needs alone.
func TestDialectsMatch(t *testing.T) {
	lite, post := Migrations(SQLite), Migrations(Postgres)
	if len(lite) != len(post) {
		t.Fatalf("%d migrations for SQLite, %d for PostgreSQL", len(lite), len(post))
	}
	own := []string{"events.ins", "events_pos", "events_unstamped"} // PostgreSQL's, as are the tables commits and documents
	for i := range lite {
		if lite[i].Number != post[i].Number || lite[i].Name != post[i].Name {
			t.Errorf("migration %s of SQLite is %s on PostgreSQL", fileOf(lite[i]), fileOf(post[i]))
		}
		a := things(lite[i].SQL)
		b := slices.DeleteFunc(things(post[i].SQL), func(name string) bool {
			return slices.Contains(own, name) || strings.HasPrefix(name, "commits") || strings.HasPrefix(name, "documents")
		})
		for _, name := range a {
			if !slices.Contains(b, name) {
				t.Errorf("%s: PostgreSQL has no %s", fileOf(lite[i]), name)
			}
		}
		for _, name := range b {
			if !slices.Contains(a, name) {
				t.Errorf("%s: SQLite has no %s", fileOf(lite[i]), name)
			}
		}
		if len(a) < 50 && i == 0 {
			t.Errorf("only %d names were found: the test does not read the file", len(a))
		}
	}
}

var (
	table  = regexp.MustCompile(`(?s)CREATE TABLE (\w+) \((.*?)\n\)`)
	column = regexp.MustCompile(`(?m)^  ([a-z_]+)\s+(TEXT|INTEGER|BIGINT|BLOB|BYTEA)`)
	index  = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (\w+)`)
)

// things names the tables, columns and indexes that a text makes.
func things(text string) []string {
	var out []string
	for _, m := range table.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
		for _, c := range column.FindAllStringSubmatch(m[2], -1) {
			out = append(out, m[1]+"."+c[1])
		}
	}
	for _, m := range index.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

func TestMigrationNames(t *testing.T) {
	for _, name := range []string{"1_initial.sql", "0001.sql", "0001_.sql", "initial.sql", "00001_initial.sql", "abcd_initial.sql"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken as the name of a migration", name)
				}
			}()
			NewMigration(name, "")
		}()
	}
	if m := NewMigration("0042_add_mood.sql", "x"); m.Number != 42 || m.Name != "add_mood" || len(m.Hash) != 64 {
		t.Errorf("got %+v", m)
	}
}
