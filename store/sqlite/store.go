// Package sqlite keeps everything in one SQLite file: one engine per file, one writer, concurrent transactions in one fsync.
// It may import the root package, store, its internals and the SQLite driver.
package sqlite

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
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
	// OnSteps is called after each statement, including reads, with the number of steps that SQLite's virtual machine
	// took. Tests use it to measure the cost of a call without a clock. Many goroutines may call it at once. Default: none.
	OnSteps func(text string, steps int)
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
	readers  *readers // views
	drafters *readers // the functions of transactions
	names    *names
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

func (s *Store) now() time.Time { return s.clock.Read(s.options.Clock()) }

// System is for the loops.
func (s *Store) System() store.System { return &s.db }

// Wake carries hints within the process: nobody else has the file.
func (s *Store) Wake() store.Wake { return &s.hub }

// Durable is true except for a temporary store.
func (s *Store) Durable() bool { return !s.options.relaxed }

// Exclusive is true for whoever holds the file lock; a store that was opened for reading does not.
func (s *Store) Exclusive() bool { return !s.readOnly }

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
	for _, r := range []*readers{s.readers, s.drafters} {
		if r != nil {
			r.close()
		}
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
