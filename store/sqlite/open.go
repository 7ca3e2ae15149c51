package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/keyfile"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

// resolve follows links, those of the folder when the file is not there yet.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

func (s *Store) open(ctx context.Context) error {
	// SQLite would make it readable for everybody; its write-ahead log gets the same rights.
	if f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		f.Close()
	}
	conn, err := dial(s.path, s.options, false)
	if err != nil {
		return err
	}
	s.writer = newWriter(s, conn)
	if err := s.migrate(ctx, conn); err != nil {
		return err
	}
	if err := s.unlockKeyring(conn); err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	if err := s.identify(ctx, conn); err != nil {
		return err
	}
	if err := s.fillSeats(conn); err != nil {
		return err
	}
	s.readers = newReaders(s, s.options.Readers)
	s.drafters, s.names, s.db.Heads = newReaders(s, drafters), newNames(), sqldb.NewHeads(false)
	s.writer.start()
	return nil
}

// prepare fills in what both ways of opening share.
func (s *Store) prepare() error {
	o := s.options
	s.db.Dialect, s.db.Migrations, s.db.Clock, s.db.Backend, s.db.Codec = sqldb.SQLite, o.migrations, o.Clock, s, o.Codec
	if o.Encrypt && o.Codec == nil {
		codec, err := store.Sealed(s.db.Keyring)
		if err != nil {
			return err
		}
		s.db.Codec = codec
	}
	mark, err := sqldb.OpenMark(s.path + ".mark")
	s.db.Mark = mark
	return err
}

// migrate brings the schema up to date. The file lock keeps everybody else out.
func (s *Store) migrate(ctx context.Context, conn *conn) error {
	for more := true; more; {
		err := conn.transact(beginWrite, func() error {
			state, err := sqldb.CheckSchema(conn, s.options.migrations)
			if err != nil {
				return err
			}
			if s.options.NoMigrate && len(state.Pending) > 0 {
				return &holdshort.Error{Code: holdshort.SchemaOlder, Op: "open " + s.path, Message: "its schema is older than this build",
					Hint: "back it up, then run holdshort migrate"}
			}
			more, err = sqldb.Migrate(conn, s.options.migrations, s.now())
			return err
		})
		if err != nil {
			return s.explain(err)
		}
	}
	return nil
}

// unlockKeyring reads the keys, or makes them for a new database. A database whose keys are gone is refused: every decision in it would be
// worth nothing, and new keys would hide that.
func (s *Store) unlockKeyring(conn *conn) error {
	known, err := sqldb.KnownKey(conn)
	if err != nil {
		return s.explain(err)
	}
	if known == "" && !keyfile.Exists(s.options.KeyringFile) {
		s.db.Keyring, err = keyfile.Create(s.options.KeyringFile)
	} else {
		s.db.Keyring, err = keyfile.Load(s.options.KeyringFile)
	}
	if err != nil {
		return err
	}
	return conn.transact(beginWrite, func() error { return sqldb.RememberKey(conn, known, s.db.Keyring) })
}

func (s *Store) identify(ctx context.Context, conn *conn) error {
	err := conn.transact(beginWrite, func() error {
		at, err := sqldb.NewestEvent(conn)
		if err != nil {
			return err
		}
		s.clock.Start(at)
		return s.db.Identify(conn, false)
	})
	if err != nil {
		return s.explain(err)
	}
	if reason := s.db.Quarantine(); reason != "" {
		s.options.Logger.Error("store is quarantined: nothing runs", "reason", reason, "hint", "holdshort doctor --accept-restore")
	}
	return s.db.Recognised(s.now())
}

// fillSeats brings what an older release left open to its seats. A quarantined store is left as it is.
func (s *Store) fillSeats(conn *conn) error {
	if s.db.Quarantine() != "" {
		return nil
	}
	for more := true; more; {
		err := conn.transact(beginWrite, func() (err error) {
			more, err = s.db.FillSeats(conn, s.now())
			return err
		})
		if err != nil {
			return s.explain(err)
		}
	}
	s.db.Seat()
	return nil
}

func (s *Store) openReaders(ctx context.Context) error {
	s.readers = newReaders(s, s.options.Readers)
	var err error
	if keyfile.Exists(s.options.KeyringFile) {
		if s.db.Keyring, err = keyfile.Load(s.options.KeyringFile); err != nil {
			return err
		}
	}
	if err := s.prepare(); err != nil {
		return err
	}
	return s.Snapshot(ctx, func(conn sqldb.Conn, _ time.Time) error {
		state, err := sqldb.CheckSchema(conn, s.options.migrations)
		if err == nil && len(state.Applied) == 0 {
			err = &holdshort.Error{Code: holdshort.SchemaOlder, Op: "open " + s.path, Message: "it is not a holdshort database", Hint: "check the path of the store"}
		}
		if err != nil {
			return err
		}
		known, err := sqldb.KnownKey(conn)
		if err == nil && s.db.Keyring != nil {
			err = sqldb.CheckKey(known, s.db.Keyring)
		}
		if err != nil {
			return err
		}
		return s.db.Recognise(conn, false)
	})
}
