// Package postgres keeps everything in PostgreSQL, for many nodes at once: row locks by name, leases with fencing, grouped commits.
// It may import the root package, store, its internals and the PostgreSQL driver.
package postgres

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/internal/keyfile"
	"github.com/holdshort/holdshort/store/internal/sqldb"
)

var _ store.Store = (*Store)(nil)

// Options of Open. KeyringFile is required: the keys live outside the database, and every node has the same.
type Options struct {
	// KeyringFile is made at first start if it is not there, readable by its owner only.
	KeyringFile string
	// MarkFile remembers how far the database had come. Default: the keyring's path with ".mark".
	MarkFile string
	// Codec encodes payloads. Default: none, payloads are stored as they are.
	Codec store.Codec
	// Encrypt seals payloads under the keyring when Codec is nil. Default: false.
	Encrypt bool
	// NoMigrate refuses an older schema instead of migrating it. Default: false.
	NoMigrate bool
	// MaxGroup is how many transactions share a commit at most; 1 means none does. Default: 256.
	MaxGroup int
	// Lanes is how many connections commit at once. More than one hides the way to the server; fewer share more. Default: 4, or 2 where there are
	// no more processors.
	Lanes int
	// Readers is how many views run at once. Default: 4.
	Readers int
	// Patience is how long a transaction may take before the database counts as gone. Default: 30s.
	Patience time.Duration
	// Clock is this process's time, for the skew that Health shows. Transactions have the database's. Default: time.Now.
	Clock func() time.Time
	// OnStatement is told each statement of a write transaction before it is sent: for traces and tests. Default: none.
	OnStatement func(text string)
	// Logger. Default: slog.Default().
	Logger *slog.Logger

	migrations []sqldb.Migration
}

func (o Options) withDefaults() Options {
	if o.MarkFile == "" {
		o.MarkFile = o.KeyringFile + ".mark"
	}
	if o.MaxGroup <= 0 {
		o.MaxGroup = 256
	}
	if o.Lanes <= 0 {
		o.Lanes = min(4, max(2, runtime.NumCPU()))
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.migrations == nil {
		o.migrations = sqldb.Migrations(sqldb.Postgres)
	}
	return o
}

// Store is one node's view of the database.
type Store struct {
	db       sqldb.DB
	options  Options
	config   *pgx.ConnConfig
	pool     *pgxpool.Pool // views
	lanes    *lanes        // writes
	bell     *bell
	clock    sqldb.Clock
	lockBase uint64 // so that two schemas of one database do not share lock numbers
	marking  sync.WaitGroup
	closed   atomic.Bool
}

// Open connects, migrates, and checks that this is the database that the mark knows.
func Open(ctx context.Context, url string, options Options) (*Store, error) {
	if options.KeyringFile == "" {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "keyring", Op: "open the PostgreSQL store", Message: "no keyring is configured",
			Hint: "name a keyring file outside the database; the same one on every node"}
	}
	s := &Store{options: options.withDefaults()}
	if err := s.configure(url); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// configure takes the settings that the promises need, whatever the server's defaults are.
func (s *Store) configure(url string) error {
	config, err := parseURL(url)
	if err != nil {
		return err
	}
	config.MaxConns = int32(s.options.Readers)
	config.ConnConfig.ConnectTimeout = 10 * time.Second
	for name, value := range map[string]string{
		"application_name":                    "holdshort",
		"synchronous_commit":                  "on",
		"default_transaction_isolation":       "read committed",
		"timezone":                            "UTC",
		"jit":                                 "off", // compiling takes longer than anything that is asked here
		"statement_timeout":                   milliseconds(s.options.Patience),
		"lock_timeout":                        milliseconds(s.options.Patience * 2 / 3),
		"idle_in_transaction_session_timeout": milliseconds(2 * s.options.Patience),
		// A wire that dies in the middle of a batch leaves a backend that waits for the rest, with all its locks: only TCP ends it.
		"tcp_keepalives_idle":     "10",
		"tcp_keepalives_interval": "5",
		"tcp_keepalives_count":    "3",
		"tcp_user_timeout":        milliseconds(s.options.Patience),
	} {
		config.ConnConfig.RuntimeParams[name] = value
	}
	s.config = config.ConnConfig.Copy()
	// Those who write find rows by their keys, however small a table was when the server made its plan, or however large it thinks a group is: so
	// one plan is good for ever, and need not be made again for every group.
	s.config.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	for _, way := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin"} {
		s.config.RuntimeParams[way] = "off"
	}
	s.pool, err = pgxpool.NewWithConfig(context.Background(), config)
	return err
}

func (s *Store) open(ctx context.Context) error {
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.close()
	conn.ctx = ctx // nobody shares what is said here
	if err := s.greet(conn); err != nil {
		return err
	}
	if err := s.migrate(conn); err != nil {
		return err
	}
	if err := s.unlockKeyring(conn); err != nil {
		return err
	}
	o := s.options
	s.db.Dialect, s.db.Migrations, s.db.Clock, s.db.Backend, s.db.Codec = sqldb.Postgres, o.migrations, o.Clock, s, o.Codec
	if o.Encrypt && o.Codec == nil {
		if s.db.Codec, err = store.Sealed(s.db.Keyring); err != nil {
			return err
		}
	}
	if s.db.Mark, err = sqldb.OpenMark(o.MarkFile); err != nil {
		return err
	}
	if err := s.identify(conn); err != nil {
		return err
	}
	if err := s.fillSeats(conn); err != nil {
		return err
	}
	s.db.Heads = sqldb.NewHeads(true)
	s.bell = newBell(s)
	s.bell.start()
	s.lanes = newLanes(s)
	s.lanes.start()
	return nil
}

const lockMeta = "LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE"

func (s *Store) unlockKeyring(conn *conn) error {
	return conn.transact("BEGIN", func(time.Time) error {
		if err := conn.Exec(lockMeta); err != nil { // two nodes that start a new database at once must not each make a key
			return err
		}
		known, err := sqldb.KnownKey(conn)
		if err != nil {
			return err
		}
		if known == "" && !keyfile.Exists(s.options.KeyringFile) {
			s.db.Keyring, err = keyfile.Create(s.options.KeyringFile)
		} else {
			s.db.Keyring, err = keyfile.Load(s.options.KeyringFile)
		}
		if err != nil {
			return err
		}
		return sqldb.RememberKey(conn, known, s.db.Keyring)
	})
}

func (s *Store) identify(conn *conn) error {
	err := conn.transact("BEGIN", func(time.Time) error {
		if err := conn.Exec(lockMeta); err != nil { // and they must agree on the instance
			return err
		}
		return s.db.Identify(conn, true)
	})
	if err != nil {
		return err
	}
	if reason := s.db.Quarantine(); reason != "" {
		s.options.Logger.Error("store is quarantined: nothing runs", "reason", reason, "hint", "holdshort doctor --accept-restore")
	}
	return s.db.Recognised(s.options.Clock())
}

// fillSeats brings what an older release left open to its seats, one node after the other. A quarantined store is left as it is.
func (s *Store) fillSeats(conn *conn) error {
	if s.db.Quarantine() != "" {
		return nil
	}
	for more := true; more; {
		err := conn.transact("BEGIN", func(now time.Time) (err error) {
			if err := conn.Exec(lockMeta); err != nil {
				return err
			}
			more, err = s.db.FillSeats(conn, now)
			return err
		})
		if err != nil {
			return err
		}
	}
	s.db.Seat()
	return nil
}

// System is for the loops.
func (s *Store) System() store.System { return &s.db }

// Wake carries hints between nodes.
func (s *Store) Wake() store.Wake { return s.bell }

// Durable is true: every commit waits for the write-ahead log.
func (s *Store) Durable() bool { return true }

// Exclusive is false: many nodes share the database.
func (s *Store) Exclusive() bool { return false }

// Keyring signs and verifies decisions.
func (s *Store) Keyring() *holdshort.Keyring { return s.db.Keyring }

// Quarantine is the reason why nothing may run, or "".
func (s *Store) Quarantine() string { return s.db.Quarantine() }

// Close finishes what is under way and lets go of the connections.
func (s *Store) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	if s.lanes != nil {
		s.lanes.stop()
		s.saveMark()
	}
	s.marking.Wait()
	if s.bell != nil {
		s.bell.stop()
	}
	s.pool.Close()
	return nil
}

func (s *Store) saveMark() {
	if s.db.Quarantine() != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), min(s.options.Patience, 2*time.Second)) // it may lag: nobody waits long for it
	defer cancel()
	progress, err := s.db.Progress(ctx)
	if err == nil {
		err = s.db.Mark.Advance(progress, s.options.Clock())
	}
	if err != nil {
		s.options.Logger.Warn("save the store's mark", "error", err)
	}
}
