package testpg

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// debianServers is where Debian and its descendants put the server programs, one folder per major version, none on PATH.
const debianServers = "/usr/lib/postgresql/*/bin"

var errNoBinaries = errors.New("no PostgreSQL server programs (initdb, postgres) found: install the package postgresql, or run `make test`, which does")

// binaries returns the folder with the newest initdb and postgres of this machine.
// The same places are searched by scripts/postgres.
func binaries(ctx context.Context) (string, error) {
	candidates, _ := filepath.Glob(debianServers)
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		candidates = append(candidates, strings.TrimSpace(string(out)))
	}
	if initdb, err := exec.LookPath("initdb"); err == nil {
		candidates = append(candidates, filepath.Dir(initdb))
	}
	return newest(ctx, candidates)
}

func newest(ctx context.Context, candidates []string) (string, error) {
	best, bestVersion := "", 0.0
	for _, dir := range candidates {
		if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
		if err != nil {
			continue
		}
		if v := version(string(out)); v > bestVersion {
			best, bestVersion = dir, v
		}
	}
	if best == "" {
		return "", errNoBinaries
	}
	return best, nil
}

// version reads "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)" as 15.14 and "19devel" as 19; what it cannot read is 0.
func version(line string) float64 {
	_, rest, _ := strings.Cut(line, "(PostgreSQL) ")
	end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end >= 0 {
		rest = rest[:end]
	}
	major, minor, _ := strings.Cut(rest, ".")
	m, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(minor)
	return float64(m) + float64(n)/1000
}
