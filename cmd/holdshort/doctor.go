package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/user"
	"strings"
	"unicode"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

type doctorCommand struct {
	AcceptRestore bool   `help:"End the quarantine of a store that was restored from a backup: from here on it is what it is. Stop the server first."`
	By            string `placeholder:"NAME" help:"Who accepts the restore; goes into the audit log as cli:NAME. Default: the user of this machine."`
	CheckFile     bool   `help:"Also read the whole SQLite file and look for damage. It takes as long as the file is large."`
	Config        string `placeholder:"FILE" env:"HOLDSHORT_CONFIG" help:"Also check this configuration. Default: holdshort.yaml, if it is there."`
	Pending       bool   `help:"Also say which open requests this build, its flows and its rules could not carry on."`
	Tenant        string `default:"default" help:"With --pending: whose requests."`
	storeFlags
	jsonFlag
}

func (doctorCommand) Help() string {
	return `Looks at the store without changing it, also beside a running server: each line is ok, warn or FAIL and says what to do next. Exit 0 if nothing is wrong (warnings are not), 1 if something is.

A store that has come less far than the mark beside its keyring was restored from a backup. It does not know what was done since, so nothing runs until a person has looked and typed --accept-restore.

Examples:

    holdshort doctor
    holdshort doctor --check-file --store sqlite:/var/lib/holdshort/holdshort.db
    holdshort doctor --pending
    holdshort doctor --accept-restore --by ana`
}

// diagnosis is the command's JSON.
type diagnosis struct {
	Store    string        `json:"store"`
	OK       bool          `json:"ok"`
	Accepted *acceptance   `json:"accepted_restore,omitempty"`
	Checks   []check       `json:"checks"`
	Health   *store.Health `json:"health,omitempty"`
}

// acceptance is a quarantine that this command ended.
type acceptance struct {
	By     string `json:"by"`
	Reason string `json:"reason"` // what the quarantine was for
}

func (c *doctorCommand) Run(ctx context.Context, out *console) error {
	l, err := c.locate(out)
	if err != nil {
		return err
	}
	switch {
	case c.By != "" && !c.AcceptRestore:
		return &usageError{Message: "--by: nothing is accepted", Hint: "type --accept-restore too"}
	case c.CheckFile && l.Driver != sqliteDriver:
		return &usageError{Message: "--check-file: only SQLite stores are files", Hint: "leave it away; for PostgreSQL there is pg_amcheck"}
	}
	d := diagnosis{Store: l.String()}
	if c.AcceptRestore {
		if d.Accepted, err = c.accept(ctx, l); err != nil {
			return err
		}
	}
	if d.Checks, d.Health, err = c.examine(ctx, l); err != nil {
		return err
	}
	d.OK = worst(d.Checks) != statusFail
	if c.JSON {
		err = out.encode(d)
	} else {
		showDiagnosis(out, d)
	}
	if !d.OK {
		return verdict(exitFailed)
	}
	return err
}

// accept ends the quarantine in the name of a person.
func (c *doctorCommand) accept(ctx context.Context, l location) (done *acceptance, err error) {
	by, err := c.person()
	if err != nil {
		return nil, err
	}
	if l.Driver == sqliteDriver {
		if _, err := os.Stat(l.Path); err != nil { // opening for writing would make it
			return nil, &holdshort.Error{Code: holdshort.NotFound, Op: "open " + l.Path, Message: "there is no such database", Hint: "check --store"}
		}
	}
	s, err := c.open(ctx, l, access{Write: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	reason := s.Quarantine()
	if err := s.System().AcceptRestore(ctx, by); err != nil {
		return nil, err
	}
	return &acceptance{By: by.ID, Reason: reason}, nil
}

// person is who sits at the keyboard, by his own word or the machine's.
func (c *doctorCommand) person() (holdshort.Actor, error) {
	name := strings.TrimSpace(c.By)
	if name == "" {
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
		name = cmp.Or(name, os.Getenv("USER"), os.Getenv("USERNAME"))
	}
	switch {
	case name == "":
		return holdshort.Actor{}, &usageError{Message: "--by: this machine does not say who you are", Hint: "add --by NAME: it goes into the audit log"}
	case len(name) > 200 || strings.ContainsFunc(name, unicode.IsControl):
		return holdshort.Actor{}, &usageError{Message: "--by: this is no name", Hint: "use 200 bytes at most and no control characters"}
	}
	return holdshort.Actor{ID: "cli:" + name, Kind: holdshort.Person, Name: name, Assurance: holdshort.AssuranceNone}, nil
}

func showDiagnosis(out *console, d diagnosis) {
	out.printf("%s\n", d.Store)
	if d.Accepted != nil {
		out.printf("%s  %-10s  accepted by %s: %s\n", out.status(statusOK), "restore", d.Accepted.By, d.Accepted.Reason)
	}
	for _, c := range d.Checks {
		out.printf("%s  %-10s  %s\n", out.status(c.Status), c.Name, c.Found)
		if c.Next != "" {
			out.printf("                  next: %s\n", c.Next)
		}
	}
}
