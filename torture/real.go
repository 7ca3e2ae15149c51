package torture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
)

// RealOptions of a torture of real processes.
type RealOptions struct {
	// Store is "" for a temporary SQLite file, sqlite:PATH or postgres://… It must be empty: the torture fills it.
	Store string
	// Keyring of the store. Default: beside the SQLite file; on PostgreSQL a file in the torture's own folder.
	Keyring string
	// Duration of the killing. Default: one minute.
	Duration time.Duration
	// Enough, if set, prolongs the killing until it reports true: a slow machine does less in the same time.
	Enough func(Activity) bool
	// Workers is how many processes run the engine. Default: 3 on PostgreSQL; SQLite has one.
	Workers int
	// Clients that start and decide at once. Default: 32.
	Clients int
	// HTTP lets clients speak the public API of the workers, as anybody outside does, and agents outside work at the gate.
	HTTP bool
	// Seed of the moments of killing. Default: a new one.
	Seed uint64
	// Worker and Counter are the commands that call RunWorker and RunCounter.
	Worker, Counter []string
	// Progress is told what goes on. Default: nobody.
	Progress func(string)

	newKeys bool // the keyring is made for this torture: nothing that is in the store was signed with it
}

func (o RealOptions) withDefaults() (RealOptions, error) {
	if o.Duration <= 0 {
		o.Duration = time.Minute
	}
	if o.Clients <= 0 {
		o.Clients = 32
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1 << 32)
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	switch {
	case o.onSQLite() && o.Workers > 1:
		return o, &holdshort.Error{Code: holdshort.Invalid, Op: "torture", Field: "workers", Message: "one process at a time has a SQLite file", Hint: "leave --workers out, or name a PostgreSQL database"}
	case o.onSQLite():
		o.Workers = 1
	case !strings.HasPrefix(o.Store, "postgres://") && !strings.HasPrefix(o.Store, "postgresql://"):
		return o, &holdshort.Error{Code: holdshort.Invalid, Op: "torture", Field: "store", Message: "this is no store", Hint: "write sqlite:PATH or postgres://…"}
	case o.Workers <= 0:
		o.Workers = 3
	}
	return o, nil
}

func (o RealOptions) onSQLite() bool { return o.Store == "" || strings.HasPrefix(o.Store, "sqlite:") }

// patience is how long everything may take to come to its end once nobody is killed any more.
const patience = time.Minute

// Real starts workers and a counter, lets clients work while the workers are killed, frozen and started again, and compares in the end what
// clients were told, what the world saw and what the store holds.
func Real(ctx context.Context, options RealOptions) (out RealReport, err error) {
	o, err := options.withDefaults()
	if err != nil {
		return out, err
	}
	folder, err := os.MkdirTemp("", "holdshort-torture-*")
	if err != nil {
		return out, &holdshort.Error{Code: holdshort.StoreUnavailable, Op: "make a temporary folder", Err: err}
	}
	defer func() {
		if out.Kept == "" {
			os.RemoveAll(folder)
		}
	}()
	if o.Store == "" {
		o.Store = "sqlite:" + filepath.Join(folder, "torture.db")
	}
	if o.Keyring == "" && !o.onSQLite() { // a SQLite file has its own beside it
		o.Keyring, o.newKeys = filepath.Join(folder, "keys"), true
	}
	if out, err = o.look(ctx); err != nil {
		return out, err
	}
	var keys keychain
	if o.HTTP {
		if keys, err = makeKeys(ctx, o); err != nil {
			return out, err
		}
	}
	world, err := startProcess(o.Counter, struct{}{}, filepath.Join(folder, "counter.log"))
	if err != nil {
		return out, err
	}
	defer world.kill()
	t := &trial{RealOptions: o, folder: folder, report: &Report{}, world: newOutside(world.address)}
	t.fleet = newFleet(o.Worker, workerSetup{Store: o.Store, Keyring: o.Keyring, Counter: world.address, HTTP: o.HTTP}, folder, o.Workers, o.onSQLite())
	t.fleet.died = func(err error) { t.report.Violate(Progress, "%v", err) }
	defer t.fleet.killAll()
	if t.hands = t.fleet; o.HTTP {
		t.public = public{newDoor(t.fleet.anyAPI), keys, t.fleet}
		t.hands = t.public
	}
	if err := t.fleet.raiseAll(); err != nil {
		return out, err
	}
	return t.run(ctx, out)
}

// look opens the store once: it makes the keyring, and refuses a store that somebody uses.
func (o RealOptions) look(ctx context.Context) (out RealReport, err error) {
	made, err := o.schema(ctx)
	if err != nil {
		return out, err
	}
	switch used := len(made.Applied) > 0; {
	case used && o.newKeys:
		return out, notEmpty("somebody made a store in this database")
	case used && len(made.Pending) > 0: // opening it would migrate what somebody uses
		return out, notEmpty("it was made by an earlier release")
	}
	s, err := openReal(ctx, o.Store, o.Keyring, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return out, err
	}
	defer s.Close()
	h, err := s.System().Health(ctx)
	if err != nil {
		return out, err
	}
	if h.Tenants > 0 {
		return out, notEmpty(fmt.Sprintf("it has %d tenants", h.Tenants))
	}
	return RealReport{Store: h.Driver, Server: h.Server, Seed: o.Seed, Workers: o.Workers, Clients: o.Clients}, nil
}

func notEmpty(why string) error {
	return &holdshort.Error{Code: holdshort.Conflict, Op: "torture", Message: "the store is not empty: " + why, Hint: "name an empty one: the torture fills it"}
}

func (o RealOptions) schema(ctx context.Context) (store.Schema, error) {
	path, ok := strings.CutPrefix(o.Store, "sqlite:")
	if !ok {
		return postgres.Schema(ctx, o.Store)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return store.Schema{}, nil
	}
	return sqlite.Schema(ctx, path)
}
