//go:build unix

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store/postgres"
)

// TestInterrupt stops commands that wait for a lock which nobody gives back: they can only end because they were asked to.
func TestInterrupt(t *testing.T) {
	address, dir := testpg.URL(t), t.TempDir()
	keyring := filepath.Join(dir, "keys")
	s, err := postgres.Open(t.Context(), address, postgres.Options{KeyringFile: keyring})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE events IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	watch, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close(t.Context())

	for _, tt := range []struct {
		signal syscall.Signal
		args   []string
	}{
		{syscall.SIGINT, []string{"audit", "verify"}},
		{syscall.SIGTERM, []string{"audit", "export", "--out", filepath.Join(dir, "audit.ndjson")}},
		{syscall.SIGINT, []string{"doctor"}},
	} {
		t.Run(strings.Join(tt.args[:min(2, len(tt.args))], " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), "holdshort", append(tt.args, "--store", address, "--keyring", keyring)...)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for len(waiting(t, watch)) == 0 {
			}
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the exit code below says it
			if cmd.ProcessState.ExitCode() != exitFailed || stderr.String() != "holdshort: interrupted\n" || stdout.Len() > 0 {
				t.Errorf("%v, stdout %q, stderr %q", cmd.ProcessState, stdout.String(), stderr.String())
			}
			// The server does not notice that its client is gone while it waits for a lock.
			for pids := waiting(t, watch); len(pids) > 0; pids = waiting(t, watch) {
				if _, err := watch.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid", pids); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, "*audit*"))
	if err != nil || len(left) > 0 {
		t.Errorf("an interrupted export left %v, %v", left, err)
	}
}

// waiting gives the backends that wait for a lock on the log.
func waiting(t *testing.T, watch *pgx.Conn) []int32 {
	t.Helper()
	rows, err := watch.Query(t.Context(), "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'events'::regclass")
	if err != nil {
		t.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		t.Fatal(err)
	}
	return pids
}
