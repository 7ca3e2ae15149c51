package main

import (
	"runtime"
	"runtime/debug"
)

type versionCommand struct{ jsonFlag }

func (versionCommand) Help() string {
	return `Examples:

    holdshort version
    holdshort version --json`
}

// build is what the go command wrote into the binary.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from files that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
	SQLite   string `json:"sqlite_driver,omitempty"`
	Postgres string `json:"postgres_driver,omitempty"`
}

func (c *versionCommand) Run(out *console) error {
	b := thisBuild()
	if c.JSON {
		return out.encode(b)
	}
	out.printf("holdshort %s\n", b.Version)
	for _, row := range [][2]string{{"commit", b.Commit}, {"go", b.Go + " " + b.Platform}, {"sqlite", b.SQLite}, {"postgres", b.Postgres}} {
		if row[1] != "" {
			out.printf("%-9s %s\n", row[0], row[1])
		}
	}
	return nil
}

func thisBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	written, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if written.Main.Version != "" {
		b.Version = written.Main.Version
	}
	for _, s := range written.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, d := range written.Deps {
		switch d.Path {
		case "modernc.org/sqlite":
			b.SQLite = d.Path + " " + d.Version
		case "github.com/jackc/pgx/v5":
			b.Postgres = d.Path + " " + d.Version
		}
	}
	return b
}
