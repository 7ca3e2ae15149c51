package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

type exportCommand struct {
	Out   string `default:"-" placeholder:"FILE" help:"File to write, whole or not at all; - is stdout (default)."`
	Force bool   `help:"Replace FILE if it is there."`
	storeFlags
	JSON bool `name:"json" help:"Print the closing line, and errors, as JSON. The records are JSON anyway."`
}

func (exportCommand) Help() string {
	return `Records come in the order of their positions, each seal behind the last event that it covers. An event holds ids, codes and digests, never text. How many there were is said on stderr at the end.

Examples:

    holdshort audit export --out audit.ndjson
    holdshort audit export | gzip > audit.ndjson.gz`
}

// exported is what the closing line says.
type exported struct {
	Events int64 `json:"events"`
	Seals  int64 `json:"seals"`
	Last   int64 `json:"last_position"`
	// Unstamped have no position yet and were left out: only on PostgreSQL, where a server's sequencer gives positions after the commit.
	Unstamped int64 `json:"unstamped"`
}

func (c *exportCommand) Run(ctx context.Context, out *console) error {
	l, err := c.locate(out)
	if err != nil {
		return err
	}
	toFile := c.Out != "-" && c.Out != ""
	if toFile { // before the work, not after
		if err := c.checkTarget(); err != nil {
			return err
		}
	}
	s, err := c.open(ctx, l, access{})
	if err != nil {
		return err
	}
	defer s.Close()
	var counts exported
	if toFile {
		counts, err = c.exportFile(ctx, s)
	} else {
		counts, err = export(ctx, s, out)
	}
	if err == nil && l.Driver == postgresDriver {
		var h store.Health
		h, err = s.System().Health(ctx)
		counts.Unstamped = h.Unstamped
	}
	if err != nil {
		return err
	}
	if c.JSON {
		line, err := json.Marshal(counts)
		out.notef("%s", string(line))
		return err
	}
	target := ""
	if toFile {
		target = " to " + c.Out
	}
	if counts.Unstamped > 0 {
		target += fmt.Sprintf("; %s have no position yet and are not in it: a running server gives them one", plural(counts.Unstamped, "event"))
	}
	out.notef("exported %s and %s%s", plural(counts.Events, "event"), plural(counts.Seals, "seal"), target)
	return nil
}

// export holds one page of records in memory, however long the log is.
func export(ctx context.Context, s store.Store, w io.Writer) (exported, error) {
	var counts exported
	buffer := bufio.NewWriterSize(w, 64<<10)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false) // hashes are over the bytes that were written
	err := s.System().Export(ctx, func(r store.Record) error {
		if r.Event != nil {
			counts.Events++
			counts.Last = r.Event.Position
		}
		if r.Seal != nil {
			counts.Seals++
		}
		if err := encoder.Encode(r); err != nil {
			return err
		}
		return ctx.Err()
	})
	if err == nil {
		err = buffer.Flush()
	}
	return counts, err
}

func (c *exportCommand) checkTarget() error {
	state, err := os.Stat(c.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !state.Mode().IsRegular():
		return &usageError{Message: "--out: " + c.Out + " is no ordinary file", Hint: "leave --out away and redirect stdout"}
	case !c.Force:
		return c.taken()
	}
	return nil
}

func (c *exportCommand) taken() error {
	return &holdshort.Error{Code: holdshort.Conflict, Op: "write " + c.Out, Message: "the file is there already", Hint: "name another, or replace it with --force"}
}

// exportFile writes beside the target and puts it in place when it is whole.
func (c *exportCommand) exportFile(ctx context.Context, s store.Store) (counts exported, err error) {
	f, err := os.CreateTemp(filepath.Dir(c.Out), "."+filepath.Base(c.Out)+".*") // mode 0600
	if err != nil {
		return counts, err
	}
	defer os.Remove(f.Name()) // gone already if all went well
	counts, err = export(ctx, s, f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return counts, err
	}
	return counts, c.place(f.Name())
}

// place gives the file its name. Without --force that must not hit a file that came meanwhile: a link does not overwrite, a rename would.
func (c *exportCommand) place(from string) error {
	if c.Force {
		return os.Rename(from, c.Out)
	}
	err := os.Link(from, c.Out)
	switch {
	case errors.Is(err, fs.ErrExist):
		return c.taken()
	case err != nil: // a file system without links
		if err := c.checkTarget(); err != nil {
			return err
		}
		return os.Rename(from, c.Out)
	}
	return nil
}
