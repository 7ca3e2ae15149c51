package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdshort/holdshort/agent"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/holdshorttest"
	"github.com/holdshort/holdshort/setup"
)

// The same agent in YAML does the same: it looks up by itself, asks before it pays, and pays what was approved.
func TestTheSameInYAML(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"holdshort.yaml", "orders.txt"} {
		content, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read, err := config.Read(filepath.Join(dir, "holdshort.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := setup.Build(t.Context(), read, setup.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	if mode := parts.Modes["desk"]; mode != config.Async {
		t.Errorf("its callers wait %s", mode)
	}
	k := holdshorttest.New(t, holdshorttest.Options{Configure: func(c *engine.Config) { *c = parts.Engine(*c) }})
	session := k.Chat("ben", "desk")
	says := func(text string) string {
		return holdshorttest.Result[agent.Result](k, k.As("ben").Say(session, text)).Text
	}
	if got := says("where is order 77?"); got != "Order 77 is a lamp, 320 EUR." {
		t.Errorf("says %q", got)
	}
	if got := says("refund order 78 for 12"); got != "Paid back 12 EUR for order 78.\n" {
		t.Errorf("says %q", got)
	}
	run := k.As("ben").Say(session, "refund order 77 for 100")
	k.Restart()
	k.As("ana", "reviewer").Approve(k.Request(run))
	if got := holdshorttest.Result[agent.Result](k, run).Text; got != "Paid back 100 EUR for order 77.\n" {
		t.Errorf("says %q", got)
	}
	paid, err := os.ReadFile(filepath.Join(dir, "refunds.txt"))
	if lines := strings.Split(strings.TrimSpace(string(paid)), "\n"); err != nil || len(lines) != 2 || !strings.HasSuffix(lines[1], " 77 100") || !strings.Contains(lines[1], string(run)) {
		t.Errorf("paid %q, %v", paid, err)
	}
}
