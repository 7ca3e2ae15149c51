package bench

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
)

// Options of a run. The zero value measures a temporary SQLite file for two seconds a row.
type Options struct {
	// Store is "" for a temporary SQLite file, sqlite:PATH or postgres://… It must be empty: the bench fills it.
	Store string
	// Folder for temporary files. Default: the system's; name one on the disk that you want to measure.
	Folder string
	// Duration of each row. Default: 2s.
	Duration time.Duration
	// Callers of the commit table. Default: 1, 16, 64, 256.
	Callers []int
	// Parked runs; 0 leaves that part out.
	Parked int
	// Due is how many requests expire at one moment; 0 leaves that part out.
	Due int
	// Cycle also measures whole lives of runs, through the engine.
	Cycle bool
	// Sleeps of runs on an idle engine; 0 leaves that part out.
	Sleeps int
	// Door also measures the HTTP API: whole lives of runs over it, beside the same in the process.
	Door bool
	// Pollers that wait while the door is measured, and IdleConnections that only wait; 0 leaves that part out.
	Pollers, IdleConnections int
	// Open is how many requests are parked through the HTTP API while starting runs is measured; 0 leaves that part out.
	Open int
	// Agents also measures runs of agents beside runs of flows that do the same.
	Agents bool
	// Steps that a run of an agent has behind it when the time to go on is taken. Default: 200.
	Steps int
	// Rules also measures how long a policy of many rules takes.
	Rules bool
	// Inbox is how many requests are open while people's lists are measured; 0 leaves that part out.
	Inbox int
	// Looks at each of its rows. Default: 300 at the inbox itself, 100 at the others.
	Looks int
	// NoCommits leaves the commit table out.
	NoCommits bool
	// Self is this program, to measure an idle engine in a process of its own. Default: in this process.
	Self string
	// Progress is told what is being measured. Default: nobody.
	Progress func(string)
}

func (o Options) withDefaults() Options {
	if o.Duration <= 0 {
		o.Duration = 2 * time.Second
	}
	if len(o.Callers) == 0 {
		o.Callers = []int{1, 16, 64, 256}
	}
	if o.Steps <= 0 {
		o.Steps = 200
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

// target opens the store under test, again and again, with or without groups.
type target struct {
	folder      string
	name        string // of the files beside the database
	url         string // of PostgreSQL; "" for SQLite
	path        string // of SQLite
	onStatement func(text string)
}

func newTarget(o Options) (*target, error) {
	folder, err := os.MkdirTemp(o.Folder, "holdshort-bench-*")
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.StoreUnavailable, Op: "make a temporary folder", Err: err}
	}
	t := &target{folder: folder, name: "bench", path: filepath.Join(folder, "bench.db")}
	switch {
	case o.Store == "":
	case strings.HasPrefix(o.Store, "postgres://"), strings.HasPrefix(o.Store, "postgresql://"):
		t.url = o.Store
	case strings.HasPrefix(o.Store, "sqlite:"):
		t.path = strings.TrimPrefix(o.Store, "sqlite:")
	default:
		return nil, &holdshort.Error{Code: holdshort.Invalid, Field: "store", Message: "unknown store " + o.Store, Hint: "sqlite:PATH or postgres://…"}
	}
	return t, nil
}

func (t *target) close() { os.RemoveAll(t.folder) }

// fresh gives an empty store beside the first one: a file, or a schema of the same database. drop removes it.
func (t *target) fresh(ctx context.Context, name string) (own *target, drop func(), err error) {
	own = &target{folder: t.folder, name: name, url: t.url, path: filepath.Join(t.folder, name+".db")}
	if t.url == "" {
		return own, func() {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				os.Remove(own.path + suffix)
			}
		}, nil
	}
	schema := "holdshort_bench_" + name
	if own.url, err = withSchema(t.url, schema); err != nil {
		return nil, nil, err
	}
	conn, err := pgx.Connect(ctx, t.url)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE; CREATE SCHEMA "+schema); err != nil {
		return nil, nil, err
	}
	return own, func() {
		if conn, err := pgx.Connect(context.WithoutCancel(ctx), t.url); err == nil {
			conn.Exec(context.WithoutCancel(ctx), "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
			conn.Close(context.WithoutCancel(ctx))
		}
	}, nil
}

func withSchema(raw, schema string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", &holdshort.Error{Code: holdshort.Invalid, Field: "store", Message: "it is not a PostgreSQL URL", Hint: "postgres://user@host:5432/database"}
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// open gives the store with groups of at most maxGroup. Without groups PostgreSQL gets a connection for every caller: that is what it would
// be compared with.
func (t *target) open(ctx context.Context, maxGroup, callers int) (store.Store, error) {
	if t.url == "" {
		s, err := sqlite.Open(ctx, t.path, sqlite.Options{MaxGroup: maxGroup, OnStatement: t.onStatement})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	o := postgres.Options{KeyringFile: filepath.Join(t.folder, t.name+".keys"), MaxGroup: maxGroup, OnStatement: t.onStatement}
	if maxGroup == 1 {
		o.Lanes = min(callers, 64)
	}
	s, err := postgres.Open(ctx, t.url, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// refuseUsed refuses a store that somebody uses.
func (t *target) refuseUsed(ctx context.Context) error {
	tenants, err := int64(0), error(nil)
	if t.url == "" {
		if _, err := os.Stat(t.path); err != nil {
			return nil
		}
		var h store.Health
		if h, err = t.health(ctx); err == nil {
			tenants = h.Tenants
		}
	} else {
		tenants, err = t.countTenants(ctx)
	}
	if err == nil && tenants > 0 {
		err = &holdshort.Error{Code: holdshort.Conflict, Op: "bench", Message: fmt.Sprintf("the store is not empty: it has %d tenants", tenants), Hint: "name an empty one: the bench fills it"}
	}
	return err
}

// countTenants looks without making a store of the database: the bench works in schemas of its own.
func (t *target) countTenants(ctx context.Context) (n int64, err error) {
	conn, err := pgx.Connect(ctx, t.url)
	if err != nil {
		return 0, &holdshort.Error{Code: holdshort.StoreUnavailable, Op: "connect", Err: err, Hint: "check the address of the store"}
	}
	defer conn.Close(ctx)
	var used bool
	if err := conn.QueryRow(ctx, `SELECT to_regclass('tenants') IS NOT NULL`).Scan(&used); err != nil || !used {
		return 0, err
	}
	err = conn.QueryRow(ctx, `SELECT count(*) FROM tenants`).Scan(&n)
	return n, err
}

func (t *target) health(ctx context.Context) (store.Health, error) {
	s, err := t.open(ctx, 256, 1)
	if err != nil {
		return store.Health{}, err
	}
	defer s.Close()
	return s.System().Health(ctx)
}

// Run measures.
func Run(ctx context.Context, options Options) (Report, error) {
	o := options.withDefaults()
	report := newReport()
	t, err := newTarget(o)
	if err != nil {
		return report, err
	}
	defer t.close()
	if err := t.refuseUsed(ctx); err != nil {
		return report, err
	}
	if t.url != "" {
		own, drop, err := t.fresh(ctx, "commits")
		if err != nil {
			return report, err
		}
		defer drop()
		t = own
	}
	h, err := t.health(ctx)
	if err != nil {
		return report, err
	}
	report.Store, report.Server = h.Driver, h.Server
	if t.url == "" {
		if report.Fsync, err = measureFsync(filepath.Dir(t.path)); err != nil {
			return report, err
		}
	}
	for _, part := range []func(context.Context, *target, Options, *Report) error{measureCommits, measureCycle, measureSleeps, measureSweep, measureParked, measureDoor, measureStarts, measureAgents, measureResume, measureRules, measureInbox} {
		if err := part(ctx, t, o, &report); err != nil {
			return report, err
		}
	}
	return report, nil
}

// measureFsync is the median of a small durable write on the same disk.
func measureFsync(folder string) (time.Duration, error) {
	f, err := os.CreateTemp(folder, "fsync-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 4096)
	var times []time.Duration
	for range 200 {
		start := time.Now()
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	return quantile(times, 0.5), nil
}
