package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
)

// storeFlags say which store a command works on.
type storeFlags struct {
	Store   string `env:"HOLDSHORT_STORE" placeholder:"URL" help:"sqlite:PATH (default sqlite:./holdshort.db) or postgres://…"`
	Keyring string `env:"HOLDSHORT_KEYRING" placeholder:"FILE" help:"File with the keys that sign decisions; default for SQLite: PATH.keys, required for PostgreSQL."`
}

// jsonFlag is for commands that print data.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print JSON, errors too."`
}

// kept is what both drivers' stores can do.
type kept interface {
	store.Store
	Keyring() *holdshort.Keyring
	Quarantine() string
}

var (
	_ kept = (*sqlite.Store)(nil)
	_ kept = (*postgres.Store)(nil)
)

// access is what a command is going to do with a store.
type access struct {
	Write   bool // on SQLite: be the one process that has the file
	Migrate bool // bring an older schema up to date instead of refusing it
	Logger  *slog.Logger
}

// locate reads the flags and teaches the console what not to print.
func (f storeFlags) locate(out *console) (location, error) {
	l, err := parseLocation(f.Store)
	out.secrets = l.secrets()
	return l, err
}

// open opens the store. Whoever only looks can do so beside a running server.
func (f storeFlags) open(ctx context.Context, l location, a access) (kept, error) {
	if a.Logger == nil {
		a.Logger = slog.New(slog.DiscardHandler) // a command says itself what it found
	}
	if l.Driver == postgresDriver {
		if f.Keyring == "" {
			return nil, &usageError{Message: "--keyring: PostgreSQL needs a keyring file", Hint: "name the file that every node has, with --keyring or HOLDSHORT_KEYRING; the keys never live in the database"}
		}
		return opened(postgres.Open(ctx, l.URL, postgres.Options{KeyringFile: f.Keyring, NoMigrate: !a.Migrate, Logger: a.Logger}))
	}
	options := sqlite.Options{KeyringFile: f.Keyring, NoMigrate: !a.Migrate, Logger: a.Logger}
	if a.Write {
		return opened(sqlite.Open(ctx, l.Path, options))
	}
	return opened(sqlite.OpenReadOnly(ctx, l.Path, options))
}

// opened keeps a nil *Store from becoming a kept that is not nil.
func opened[S kept](s S, err error) (kept, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// schema looks how far the store has come, without a keyring and without changing anything.
func (l location) schema(ctx context.Context) (store.Schema, error) {
	if l.Driver == postgresDriver {
		return postgres.Schema(ctx, l.URL)
	}
	return sqlite.Schema(ctx, l.Path)
}

// keyringFile is where the keys are: beside the SQLite file itself, not beside a link to it.
func (f storeFlags) keyringFile(l location) string {
	if f.Keyring != "" || l.Driver != sqliteDriver {
		return f.Keyring
	}
	if real, err := filepath.EvalSymlinks(l.Path); err == nil {
		return real + ".keys"
	}
	return l.Path + ".keys"
}
