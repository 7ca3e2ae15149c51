package postgres

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// greet checks that the server is one that the promises hold on.
func (s *Store) greet(c *conn) error {
	var version int
	var encoding, schema, database string
	err := c.pg.QueryRow(c.ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), coalesce(current_schema(), ''), current_database()`).
		Scan(&version, &encoding, &schema, &database)
	if err != nil {
		return explain("greet the server", err)
	}
	refuse := func(message, hint string) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "open the PostgreSQL store", Message: message, Hint: hint}
	}
	switch {
	case version < 130000:
		return refuse(fmt.Sprintf("the server is version %d", version/10000), "PostgreSQL 13 or newer is needed")
	case encoding != "UTF8":
		return refuse("the database's encoding is "+encoding, "create it with ENCODING 'UTF8'")
	case schema == "":
		return refuse("the search path names no schema", "set search_path to a schema that exists")
	}
	h := fnv.New64a()
	h.Write([]byte("holdshort\x00" + database + "\x00" + schema))
	s.lockBase = h.Sum64()
	return nil
}

// migrate brings the schema up to date, one node at a time: the others wait for the lock and find it done.
func (s *Store) migrate(c *conn) error {
	for more := true; more; {
		err := c.transact("BEGIN", func(now time.Time) error {
			state, err := sqldb.CheckSchema(c, s.options.migrations)
			if err != nil {
				return err
			}
			if len(state.Pending) == 0 {
				more = false
				return nil
			}
			if s.options.NoMigrate {
				return &holdshort.Error{Code: holdshort.SchemaOlder, Op: "open the PostgreSQL store", Message: "its schema is older than this build",
					Hint: "back it up, then run holdshort migrate"}
			}
			if err := c.Exec(fmt.Sprintf("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(%d)", int64(s.lockBase))); err != nil {
				return err
			}
			more, err = sqldb.Migrate(c, s.options.migrations, now)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
