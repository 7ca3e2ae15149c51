package sqldb

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

//go:embed migrations
var migrationFiles embed.FS

// Migration is one numbered step of the schema, forward only. A shipped one is frozen: its hash is in the database and in a test.
type Migration struct {
	Number int
	Name   string
	SQL    string
	Hash   string
}

// Migrations gives those of a dialect in order.
func Migrations(d *Dialect) []Migration {
	files, err := fs.ReadDir(migrationFiles, "migrations/"+d.Name)
	if err != nil {
		panic("migrations are not embedded: " + err.Error())
	}
	var out []Migration
	for _, f := range files {
		text, err := migrationFiles.ReadFile("migrations/" + d.Name + "/" + f.Name())
		if err != nil {
			panic("migrations are not embedded: " + err.Error())
		}
		out = append(out, NewMigration(f.Name(), string(text)))
	}
	return out
}

// NewMigration reads number and name from a file name of the form 0001_initial.sql.
func NewMigration(file, text string) Migration {
	number, name, _ := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
	n, err := strconv.Atoi(number)
	if err != nil || len(number) != 4 || name == "" {
		panic("migration file " + file + " is not named like 0001_initial.sql")
	}
	sum := sha256.Sum256([]byte(text))
	return Migration{Number: n, Name: name, SQL: text, Hash: hex.EncodeToString(sum[:])}
}

// Script is a connection that can also run a migration.
type Script interface {
	Conn
	Exec(script string) error
}

var (
	selectMigrations = statement(`SELECT number, name, hash FROM schema_migrations ORDER BY number`)
	insertMigration  = statement(`INSERT INTO schema_migrations (number, name, hash, at) VALUES (?, ?, ?, ?)`)
	migrationsExist  = different(`SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'`,
		`SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'schema_migrations'`)
	schemaObjects = different(`SELECT m.name || '.' || p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
			UNION ALL SELECT 'index ' || name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1`,
		`SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema()
			UNION ALL SELECT 'index ' || indexname FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`)
)

// SchemaState is how far a database's schema has come.
type SchemaState struct {
	Applied []Migration
	Pending []Migration
}

// Version is the number of the last migration that was applied.
func (s SchemaState) Version() int {
	if len(s.Applied) == 0 {
		return 0
	}
	return s.Applied[len(s.Applied)-1].Number
}

// Public gives the state as callers see it.
func (s SchemaState) Public() store.Schema {
	public := func(in []Migration) []store.Migration {
		out := make([]store.Migration, len(in))
		for i, m := range in {
			out[i] = store.Migration{Number: m.Number, Name: m.Name, SQL: m.SQL}
		}
		return out
	}
	return store.Schema{Applied: public(s.Applied), Pending: public(s.Pending)}
}

// CheckSchema compares the database with what this build knows. A newer one is refused, and so is one that is not what its migrations made.
func CheckSchema(conn Conn, known []Migration) (SchemaState, error) {
	q := bare{conn}
	var state SchemaState
	exists, err := readNumber(q, migrationsExist)
	if err != nil {
		return state, err
	}
	if exists > 0 {
		err = q.read(selectMigrations, nil, func(scan func(...any) error) error {
			var m Migration
			if err := scan(&m.Number, &m.Name, &m.Hash); err != nil {
				return err
			}
			state.Applied = append(state.Applied, m)
			return nil
		})
		if err != nil {
			return state, err
		}
	}
	for i, m := range state.Applied {
		if i >= len(known) {
			return state, &holdshort.Error{Code: holdshort.SchemaNewer, Message: fmt.Sprintf("the database has schema %d, this build knows %d", state.Version(), len(known)),
				Hint: "run the release that migrated it, or a newer one"}
		}
		if m.Number != known[i].Number || m.Hash != known[i].Hash {
			return state, &holdshort.Error{Code: holdshort.SchemaCorrupt, Message: fmt.Sprintf("migration %04d_%s in the database is not the one of this build", m.Number, m.Name),
				Hint: "the database was made by a build that was never released, or its notes were changed: restore a backup"}
		}
	}
	state.Pending = known[len(state.Applied):]
	if len(state.Applied) == 0 {
		return state, nil
	}
	return state, checkObjects(q)
}

// checkObjects looks for tables, columns and indexes that were there after the last migration and are gone. More than those is no fault.
func checkObjects(q queryer) error {
	text, err := readMetaText(q, "schema_objects")
	if err != nil {
		return damaged("meta", err)
	}
	var want []string
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		return damaged("meta.schema_objects", err)
	}
	have, err := objects(q)
	if err != nil {
		return err
	}
	for _, name := range want {
		if _, found := slices.BinarySearch(have, name); !found {
			return damaged(name, nil)
		}
	}
	return nil
}

func damaged(what string, err error) error {
	return &holdshort.Error{Code: holdshort.SchemaCorrupt, Message: "the database lacks " + what, Err: err,
		Hint: "somebody changed the schema by hand, or the file is damaged: restore a backup"}
}

func objects(q queryer) ([]string, error) {
	var have []string
	err := q.read(schemaObjects, nil, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		have = append(have, name)
		return err
	})
	slices.Sort(have)
	return have, err
}

// Migrate applies one pending migration inside the caller's transaction and says whether another is left. The caller holds a lock against
// other migrators and calls again, in a new transaction, until none is.
func Migrate(conn Script, known []Migration, now time.Time) (more bool, err error) {
	state, err := CheckSchema(conn, known)
	if err != nil || len(state.Pending) == 0 {
		return false, err
	}
	if len(state.Applied) == 0 {
		if err := conn.Exec(createMigrations); err != nil {
			return false, err
		}
	}
	m := state.Pending[0]
	if err := conn.Exec(m.SQL); err != nil {
		return false, &holdshort.Error{Code: holdshort.SchemaCorrupt, Op: fmt.Sprintf("apply migration %04d_%s", m.Number, m.Name), Err: err,
			Hint: "nothing was changed; restore a backup or report this with the message"}
	}
	have, err := objects(bare{conn})
	if err != nil {
		return false, err
	}
	list, err := json.Marshal(have)
	if err != nil {
		return false, err
	}
	err = conn.Apply([]Write{{Statement: insertMigration, Args: []any{int64(m.Number), m.Name, m.Hash, micros(now)}, Want: 1}, writeMeta("schema_objects", string(list))})
	return len(state.Pending) > 1, err
}

const createMigrations = `CREATE TABLE IF NOT EXISTS schema_migrations (
  number INTEGER PRIMARY KEY,
  name   TEXT NOT NULL,
  hash   TEXT NOT NULL,
  at     BIGINT NOT NULL
)`
