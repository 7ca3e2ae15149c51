package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
)

// TestServerTranscripts runs commands against a real server: a process of its own, which ends with the script. Every script has a home of its
// own, so that profiles do not meet.
func TestServerTranscripts(t *testing.T) {
	commands := map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "json": isJSON, "up": up, "request": requestVar, "run": runVar, "quiet": quiet, "profile": profileVars, "sample": sample}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: commands, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true, Setup: func(env *testscript.Env) error {
		env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "home"))
		env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
		return scriptEnv(env)
	}})
}

// safetyLimit ends a wait for another process that never answers. No test passes or fails by how long it takes.
const safetyLimit = 5 * time.Minute

// soon tries until it works: a process comes up, or a run makes progress.
func soon(ts *testscript.TestScript, try func() error) {
	deadline := time.After(safetyLimit)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			ts.Fatalf("it did not happen in %s: %v", safetyLimit, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func scriptProfile(ts *testscript.TestScript) (p profile, err error) {
	raw, err := os.ReadFile(filepath.Join(ts.Getenv("XDG_CONFIG_HOME"), "holdshort", "profile.json"))
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	return p, err
}

// up: waits until the server that was started answers, by the profile that it writes.
func up(ts *testscript.TestScript, neg bool, args []string) {
	soon(ts, func() error {
		p, err := scriptProfile(ts)
		if err == nil && p.URL == "" {
			err = os.ErrNotExist
		}
		if err != nil {
			return err
		}
		answer, err := http.Get(p.URL + "/healthz")
		if err != nil {
			return err
		}
		return answer.Body.Close()
	})
}

// quiet: waits until no profile names a server, which is when a server has ended.
func quiet(ts *testscript.TestScript, neg bool, args []string) {
	soon(ts, func() error {
		if p, err := scriptProfile(ts); err == nil && p.URL != "" {
			return os.ErrExist
		}
		return nil
	})
}

// profile: $URL and $TOKEN are those of the server.
func profileVars(ts *testscript.TestScript, neg bool, args []string) {
	p, err := scriptProfile(ts)
	ts.Check(err)
	ts.Setenv("URL", p.URL)
	ts.Setenv("TOKEN", p.Token)
}

func scriptClient(ts *testscript.TestScript) *client.Client {
	p, err := scriptProfile(ts)
	ts.Check(err)
	c, err := client.New(p.URL, p.Token, client.Options{})
	ts.Check(err)
	return c
}

// request VAR WORDS…: $VAR is the open request whose question holds the words.
func requestVar(ts *testscript.TestScript, neg bool, args []string) {
	c, words := scriptClient(ts), strings.Join(args[1:], " ")
	soon(ts, func() error {
		page, err := c.Requests(context.Background(), client.Find{Status: holdshort.RequestOpen, Limit: 200})
		if err != nil {
			return err
		}
		for _, req := range page.Items {
			if strings.Contains(req.Question, words) {
				ts.Setenv(args[0], string(req.ID))
				ts.Setenv(args[0]+"RUN", string(req.RunID))
				ts.Setenv(args[0]+"TAIL", string(req.ID[len(req.ID)-8:]))
				return nil
			}
		}
		return os.ErrNotExist
	})
}

// run ID STATUS: waits until the run has this status.
func runVar(ts *testscript.TestScript, neg bool, args []string) {
	c := scriptClient(ts)
	soon(ts, func() error {
		run, err := c.Run(context.Background(), holdshort.RunID(args[0]))
		if err == nil && string(run.Status) != args[1] {
			err = &holdshort.Error{Code: holdshort.WrongState, Message: "it is " + string(run.Status)}
		}
		return err
	})
}
