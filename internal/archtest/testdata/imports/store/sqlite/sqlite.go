package sqlite

import (
	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/sqldb"
	"github.com/holdshort/holdshort/store/storetest" // want `is for tests: move the code`
	"github.com/jackc/pgx/v5"                        // want `use the standard library`
	"modernc.org/sqlite"
	"modernc.org/sqlite/lib"
	"modernc.org/sqlitex" // want `use the standard library`
)
