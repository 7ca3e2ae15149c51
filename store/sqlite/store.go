// Package sqlite keeps everything in one SQLite file: one engine per file, one writer, concurrent transactions in one fsync.
// It may import the root package, store, its internals and the SQLite driver.
package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/keyfile"
	"github.com/holdshort/holdshort/store/internal/sqldb"
	"github.com/holdshort/holdshort/store/internal/wake"
)

var _ store.Store = (*Store)(nil)

// Options of Open. The zero value works.
type Options struct {
	// Codec encodes payloads. Default: none, payloads are stored as they are.
	Codec store.Codec
	// Encrypt seals payloads under the keyring when Codec is nil. Default: false.
	Encrypt bool
	// KeyringFile. Default: the database's path with ".keys"; it is made at first start, readable by its owner only.
	KeyringFile string
	// NoMigrate refuses an older schema instead of migrating it. Default: false.
	NoMigrate bool
	// MaxGroup is how many transactions share a commit at most; 1 means none does. Default: 256.
	MaxGroup int
	// Readers is how many views run at once. Default: 4.
	Readers int
	// Clock is this process's time. Default: time.Now.
	Clock func() time.Time
	// OnStatement is told each statement of a write transaction before it runs: for traces and tests. Default: none.
	OnStatement func(text string)
	// Logger. Default: slog.Default().
	Logger *slog.Logger

	migrations []sqldb.Migration
	relaxed    bool // no fsync: a temporary store
}

func (o Options) withDefaults(path string) Options {
	if o.KeyringFile == "" {
		o.KeyringFile = path + ".keys"
	}
	if o.MaxGroup <= 0 {
		o.MaxGroup = 256
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.migrations == nil {
		o.migrations = sqldb.Migrations(sqldb.SQLite)
	}
	return o
}

// Store is a SQLite file that this process alone writes.
type Store struct {
	db       sqldb.DB
	options  Options
	path     string
	lock     *fileLock
	writer   *writer
	readers  *readers
	hub      wake.Hub
	clock    sqldb.Clock
	readOnly bool
	remove   string // the folder of a temporary store
	closed   atomic.Bool
}

// Open opens the file, or makes it. A second process is refused with StoreLocked.
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, &holdshort.Error{Code: holdshort.StoreReadOnly, Op: "open " + path, Err: err, Hint: "check the folder's rights"}
	}
	path, err := resolve(path) // one file, one lock, whatever it is called
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.StoreReadOnly, Op: "open " + path, Err: err, Hint: "check the path of the store"}
	}
	lock, err := acquireLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	s := &Store{options: options.withDefaults(path), path: path, lock: lock}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// OpenTemporary opens an empty store that is gone when it is closed: Durable is false, and nothing waits for a disk.
func OpenTemporary(ctx context.Context, options Options) (*Store, error) {
	dir, err := os.MkdirTemp("", "holdshort-*")
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.StoreUnavailable, Op: "make a temporary folder", Err: err}
	}
	options.relaxed = true
	s, err := Open(ctx, filepath.Join(dir, "holdshort.db"), options)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	s.remove = dir
	return s, nil
}

// OpenReadOnly looks at a store that another process may have open: views, health, verification and export, no writes.
func OpenReadOnly(ctx context.Context, path string, options Options) (*Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, &holdshort.Error{Code: holdshort.NotFound, Op: "open " + path, Message: "there is no such database", Err: err, Hint: "check the path of the store"}
	}
	path, err := resolve(path)
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.NotFound, Op: "open " + path, Err: err, Hint: "check the path of the store"}
	}
	s := &Store{options: options.withDefaults(path), path: path, readOnly: true}
	if err := s.openReaders(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

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
	conn, err := dial(ctx, s.path, s.options, false)
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
	s.readers = newReaders(s, s.options.Readers)
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

func (s *Store) now() time.Time { return s.clock.Read(s.options.Clock()) }

// System is for the loops.
func (s *Store) System() store.System { return &s.db }

// Wake carries hints within the process: nobody else has the file.
func (s *Store) Wake() store.Wake { return &s.hub }

// Durable is true except for a temporary store.
func (s *Store) Durable() bool { return !s.options.relaxed }

// Keyring signs and verifies decisions.
func (s *Store) Keyring() *holdshort.Keyring { return s.db.Keyring }

// Quarantine is the reason why nothing may run, or "".
func (s *Store) Quarantine() string { return s.db.Quarantine() }

// Close finishes what is under way and lets go of the file.
func (s *Store) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	if s.writer != nil && s.writer.stop() {
		s.saveMark()
	}
	if s.readers != nil {
		s.readers.close()
	}
	var err error
	if s.writer != nil {
		err = s.writer.conn.close()
	}
	if s.lock != nil {
		s.lock.release()
	}
	if s.remove != "" {
		os.RemoveAll(s.remove)
	}
	return err
}

// saveMark reads on the writer's own connection: it must not wait for a view.
func (s *Store) saveMark() {
	if s.db.Quarantine() != "" {
		return
	}
	progress, err := sqldb.ReadProgress(s.writer.conn)
	if err == nil {
		err = s.db.Mark.Advance(progress, s.now())
	}
	if err != nil {
		s.options.Logger.Warn("save the store's mark", "error", err)
	}
}
