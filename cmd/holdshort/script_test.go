package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdshort/holdshort/internal/testpg"
	"github.com/holdshort/holdshort/store"
	"github.com/holdshort/holdshort/store/postgres"
	"github.com/holdshort/holdshort/store/sqlite"
)

var update = flag.Bool("update", false, "write what the commands print now into the transcripts")

func TestMain(m *testing.M) {
	endAtOnce()
	testscript.Main(m, map[string]func(){"holdshort": main})
}

// endAtOnce keeps a binary with the race detector from sleeping for a second before it exits. The tests start
// hundreds of processes.
func endAtOnce() {
	os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
}

// scriptEnv hands the options of the race detector on to the commands of a script, which have an environment of
// their own.
func scriptEnv(env *testscript.Env) error {
	env.Setenv("GORACE", os.Getenv("GORACE"))
	return nil
}

// TestTranscripts runs the binary as people do, on SQLite files in the script's folder.
func TestTranscripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", Cmds: scriptCommands, UpdateScripts: *update,
		RequireExplicitExec: true, RequireUniqueNames: true, Setup: scriptEnv})
}

// TestPostgresTranscripts gives each script an empty database: $PG is its URL, $PGSECRET the same with a password in it.
func TestPostgresTranscripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/postgres", Cmds: scriptCommands, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			address := testpg.URL(env.T().(testing.TB))
			env.Setenv("PG", address)
			env.Setenv("PGSECRET", strings.Replace(address, "@", ":hunter2-secret@", 1))
			return scriptEnv(env)
		}})
}

var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":      exits,
	"sample":     sample,
	"hold":       hold,
	"tamper":     tamper,
	"json":       isJSON,
	"rehash":     rehash,
	"closedpipe": closedPipeTo,
	"damage":     damage,
}

// exits CODE COMMAND…: the command ends with just this code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// closedPipeTo COMMAND…: stdout is a pipe that nobody reads any more. The command must end with 0 and say nothing.
func closedPipeTo(ts *testscript.TestScript, neg bool, args []string) {
	r, w, err := os.Pipe()
	ts.Check(err)
	r.Close()
	defer w.Close()
	cmd := exec.Command(args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), w, &stderr
	if err := cmd.Run(); (err != nil) != neg || stderr.Len() > 0 {
		ts.Fatalf("ended with %v and said %q", err, stderr.String())
	}
}

// isJSON FILE [KEY…]: the file (or stdout, stderr) is one JSON object that has these keys.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: json FILE [KEY…]")
	}
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &object))
	for _, key := range args[1:] {
		if _, found := object[key]; !found {
			ts.Fatalf("no %q in %v", key, object)
		}
	}
}

// address splits what scripts call a store: a path of the script's folder, or a PostgreSQL URL.
func address(ts *testscript.TestScript, text string) (path, url string) {
	if strings.HasPrefix(text, "postgres") {
		return "", text
	}
	return ts.MkAbs(text), ""
}

func openForScript(ts *testscript.TestScript, text string, options sqlite.Options) store.Store {
	path, url := address(ts, text)
	options.Logger = slog.New(slog.DiscardHandler)
	var s store.Store
	var err error
	if url != "" {
		s, err = postgres.Open(context.Background(), url, postgres.Options{KeyringFile: ts.MkAbs("keys"), Logger: options.Logger})
	} else {
		s, err = sqlite.Open(context.Background(), path, options)
	}
	ts.Check(err)
	return s
}

// hold STORE: this process has the store open until the script ends.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	s := openForScript(ts, args[0], sqlite.Options{})
	ts.Defer(func() { ts.Check(s.Close()) })
}

// tamper STORE SQL: what somebody can do who has the database and not the keys.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	ctx := context.Background()
	path, url := address(ts, args[0])
	if url != "" {
		conn, err := pgx.Connect(ctx, url)
		ts.Check(err)
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, args[1])
		ts.Check(err)
		return
	}
	db, err := sql.Open("sqlite", path)
	ts.Check(err)
	defer db.Close()
	result, err := db.ExecContext(ctx, args[1])
	ts.Check(err)
	if n, err := result.RowsAffected(); err != nil || n == 0 && !strings.HasPrefix(args[1], "DROP") {
		ts.Fatalf("%d rows changed, %v", n, err)
	}
}

// damage FILE FROM: a bad disk writes over everything from this byte on.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	from, err := strconv.Atoi(args[1])
	ts.Check(err)
	content := []byte(ts.ReadFile(args[0]))
	for i := from; i < len(content); i++ {
		content[i] = 0xa5
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o600))
}

// rehash FILE: whoever has an export alone can compute every hash of it.
func rehash(ts *testscript.TestScript, neg bool, args []string) {
	events, seals := 0, 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var r store.Record
		ts.Check(json.Unmarshal([]byte(line), &r))
		if r.Seal != nil {
			seals++
			continue
		}
		events++
		if hash := r.Event.Hash(r.Tenant); !bytes.Equal(hash[:], r.Hash) {
			ts.Fatalf("event at position %d: the exported fields do not give the exported hash", r.Event.Position)
		}
	}
	if events == 0 || seals == 0 {
		ts.Fatalf("%d events and %d seals: nothing was proven", events, seals)
	}
}
