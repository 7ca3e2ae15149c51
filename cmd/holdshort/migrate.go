package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/holdshort/holdshort/store"
)

type migrateCommand struct {
	Print bool `xor:"mode" help:"Print the SQL of the pending migrations and apply nothing."`
	Check bool `xor:"mode" help:"Apply nothing; exit 0 if the schema is up to date, 1 if something is pending, 3 if it is newer than this build or damaged."`
	storeFlags
	jsonFlag
}

func (migrateCommand) Help() string {
	return `Applies pending migrations, each in one transaction, and makes a SQLite store that is not there yet. Migrations go forward only: back the store up first. What --print shows is for reading; applied by hand it would lack the notes that the store keeps of it.

Examples:

    holdshort migrate
    holdshort migrate --check --store sqlite:/var/lib/holdshort/holdshort.db
    holdshort migrate --store postgres://holdshort@db/holdshort --keyring /etc/holdshort/keys`
}

// migrated is the command's JSON.
type migrated struct {
	Store      string            `json:"store"`
	Schema     int               `json:"schema"`
	Applied    []store.Migration `json:"applied"` // by this command
	Pending    []store.Migration `json:"pending"`
	UpToDate   bool              `json:"up_to_date"`
	Keyring    string            `json:"keyring,omitempty"` // made by this command
	Quarantine string            `json:"quarantine,omitempty"`
}

func (c *migrateCommand) Run(ctx context.Context, out *console) error {
	l, err := c.locate(out)
	if err != nil {
		return err
	}
	before, err := l.schema(ctx)
	if err != nil {
		return err
	}
	result := migrated{Store: l.String(), Applied: []store.Migration{}}
	after := before
	if !c.Print && !c.Check && len(before.Pending) > 0 {
		if after, err = c.apply(ctx, l, &result); err != nil {
			return err
		}
		result.Applied = names(before.Pending[:len(before.Pending)-len(after.Pending)])
	}
	result.Schema = number(after.Applied)
	result.Pending, result.UpToDate = after.Pending, len(after.Pending) == 0
	if !c.Print {
		result.Pending = names(after.Pending)
	}
	switch {
	case c.JSON:
		err = out.encode(result)
	case c.Print:
		printSQL(out, result)
	default:
		showMigrated(out, result)
	}
	if err == nil && c.Check && !result.UpToDate {
		return verdict(exitFailed)
	}
	return err
}

// apply opens the store, which migrates it, and looks again.
func (c *migrateCommand) apply(ctx context.Context, l location, result *migrated) (after store.Schema, err error) {
	keyring := c.keyringFile(l)
	_, err = os.Stat(keyring)
	fresh := errors.Is(err, fs.ErrNotExist)
	s, err := c.open(ctx, l, access{Write: true, Migrate: true})
	if err != nil {
		return after, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if fresh {
		result.Keyring = keyring
	}
	result.Quarantine = s.Quarantine()
	return l.schema(ctx)
}

func showMigrated(out *console, result migrated) {
	for _, m := range result.Applied {
		out.printf("applied %s\n", label(m))
	}
	for _, m := range result.Pending {
		out.printf("pending %s\n", label(m))
	}
	if result.Keyring != "" {
		out.printf("made keyring %s: keep a copy, apart from the store's backups\n", result.Keyring)
	}
	if result.UpToDate {
		out.printf("%s is up to date at schema %d\n", result.Store, result.Schema)
	} else {
		out.printf("%s is at schema %d: back it up, then run holdshort migrate\n", result.Store, result.Schema)
	}
	if result.Quarantine != "" {
		out.notef("holdshort: the store is quarantined: %s", result.Quarantine)
		out.notef("hint: look at it with holdshort doctor")
	}
}

// printSQL prints text that a database reads: what is not SQL is a comment.
func printSQL(out *console, result migrated) {
	if result.UpToDate {
		out.printf("-- %s is up to date at schema %d\n", result.Store, result.Schema)
	}
	for i, m := range result.Pending {
		if i > 0 {
			out.printf("\n")
		}
		out.printf("-- migration %s\n", label(m))
		fmt.Fprintln(out, strings.TrimSpace(m.SQL))
	}
}

func label(m store.Migration) string { return fmt.Sprintf("%04d_%s", m.Number, m.Name) }

func number(applied []store.Migration) int {
	if len(applied) == 0 {
		return 0
	}
	return applied[len(applied)-1].Number
}

// names leaves the SQL out.
func names(in []store.Migration) []store.Migration {
	out := make([]store.Migration, len(in))
	for i, m := range in {
		out[i] = store.Migration{Number: m.Number, Name: m.Name}
	}
	return out
}
