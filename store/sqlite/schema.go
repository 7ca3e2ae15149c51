package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// Schema looks how far a database has come; one that is not there has everything pending. Another process may have it open.
func Schema(ctx context.Context, path string) (store.Schema, error) {
	known := sqldb.Migrations(sqldb.SQLite)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return sqldb.SchemaState{Pending: known}.Public(), nil
	}
	conn, err := dial(path, Options{}, true)
	if err != nil {
		return store.Schema{}, err
	}
	defer conn.close()
	var state sqldb.SchemaState
	err = conn.transact(beginRead, func() (err error) {
		state, err = sqldb.CheckSchema(conn, known)
		return err
	})
	return state.Public(), err
}
