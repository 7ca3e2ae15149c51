package postgres

import (
	"context"
	"time"

	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// Schema looks how far a database has come, without a keyring and without changing anything.
func Schema(ctx context.Context, url string) (store.Schema, error) {
	s := &Store{options: Options{}.withDefaults()}
	if err := s.configure(url); err != nil {
		return store.Schema{}, err
	}
	defer s.pool.Close()
	conn, err := s.dial(ctx)
	if err != nil {
		return store.Schema{}, err
	}
	defer conn.close()
	conn.ctx = ctx
	if err := s.greet(conn); err != nil {
		return store.Schema{}, err
	}
	var state sqldb.SchemaState
	err = conn.transact("BEGIN READ ONLY", func(time.Time) (err error) {
		state, err = sqldb.CheckSchema(conn, s.options.migrations)
		return err
	})
	return state.Public(), err
}
