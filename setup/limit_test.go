package setup_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/setup"
)

const day = 24 * time.Hour

// Every key of limits and retention arrives in the engine's configuration, and a key that is not written keeps its
// default.
func TestEngineSettingsArrive(t *testing.T) {
	settings := []struct {
		section, key, value string
		get                 func(engine.Config) any
		want, unset         any
	}{
		{"limits", "args", "2048", func(c engine.Config) any { return c.Limits.Args }, 2048, 0},
		{"limits", "text", "3072", func(c engine.Config) any { return c.Limits.Text }, 3072, 0},
		{"limits", "pauses", "7", func(c engine.Config) any { return c.Limits.Pauses }, 7, 0},
		{"limits", "open_requests", "8", func(c engine.Config) any { return c.Limits.OpenRequests }, 8, 0},
		{"limits", "workers", "9", func(c engine.Config) any { return c.Workers }, 9, 0},
		{"limits", "tenant_runs", "10", func(c engine.Config) any { return c.Limits.TenantRuns }, 10, 0},
		{"limits", "claims", "11", func(c engine.Config) any { return c.Limits.Claims }, 11, 0},
		{"limits", "silence", "12m", func(c engine.Config) any { return c.Limits.Silence }, 12 * time.Minute,
			time.Duration(0)},
		{"limits", "call_attempts", "13", func(c engine.Config) any { return c.Limits.Calls }, 13, 0},
		{"limits", "reasks", "14", func(c engine.Config) any { return c.Limits.Reasks }, 14, 0},
		{"retention", "journals", "15d", func(c engine.Config) any { return c.Retention.Journals }, 15 * day, 30 * day},
		{"retention", "records", "100d", func(c engine.Config) any { return c.Retention.Records }, 100 * day, 90 * day},
		{"retention", "replays", "17d", func(c engine.Config) any { return c.Retention.Replays }, 17 * day, 7 * day},
		{"retention", "deliveries", "18d", func(c engine.Config) any { return c.Retention.Deliveries }, 18 * day, 30 * day},
		{"retention", "events", "120d", func(c engine.Config) any { return c.Retention.Events }, 120 * day, time.Duration(0)},
	}
	if n := reflect.TypeFor[config.Limits]().NumField() + reflect.TypeFor[config.Retention]().NumField(); n != len(settings) {
		t.Errorf("%d keys, and %d of them are tested", n, len(settings))
	}
	for _, s := range settings {
		built, err := setup.Build(t.Context(), parse(t, s.section+": {"+s.key+": "+s.value+"}\n", ""),
			setup.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.get(built.Engine(engine.Config{})); got != s.want {
			t.Errorf("%s.%s: %v, want %v", s.section, s.key, got, s.want)
		}
		for _, other := range settings {
			if s.section == "limits" && other.section == "retention" { // the engine's own defaults
				continue
			}
			if got := other.get(built.Engine(engine.Config{})); other.key != s.key && got != other.unset {
				t.Errorf("%s.%s changes %s to %v", s.section, s.key, other.key, got)
			}
		}
	}
	for key, want := range map[string]time.Duration{"records": 0, "events": 0} {
		built, err := setup.Build(t.Context(), parse(t, "retention: {"+key+": never}\n", ""), setup.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		r := built.Engine(engine.Config{}).Retention
		if got := map[string]time.Duration{"records": r.Records, "events": r.Events}[key]; got != want {
			t.Errorf("never is %v for %s", got, key)
		}
	}
	own := engine.Config{Workers: 2, Limits: engine.Limits{Args: 5000}}
	built, err := setup.Build(t.Context(), parse(t, "limits: {workers: 3, args: 4096, text: 4096}\n", ""),
		setup.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got := built.Engine(own); got.Workers != 2 || got.Limits.Args != 5000 || got.Limits.Text != 4096 {
		t.Errorf("what the program set is %d, %+v", got.Workers, got.Limits)
	}
}

// A limit of the file is the limit of the server: a message over it is refused, and one under it is not.
func TestTextLimitOfTheFile(t *testing.T) {
	h := newHouse(t, houseOptions{text: async(desk) + "limits: {text: 1024}\n"})
	session := h.session("refunds")
	_, err := h.as("ben").Send(t.Context(), session, client.Send{Text: strings.Repeat("x", 1025), Wait: 10 * time.Second})
	if holdshort.CodeOf(err) != holdshort.TooLarge {
		t.Errorf("1025 bytes: %v", err)
	}
	if taken := h.says(session, strings.Repeat("x", 1024)); taken.Run == nil {
		t.Errorf("1024 bytes: %+v", taken)
	}
}

// The journal of a run goes at the age that the file says, and its record stays.
func TestRetentionOfTheFile(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "holdshort.db")
	text := async(desk) + "retention: {journals: 7d}\n"
	first := newHouse(t, houseOptions{text: text, path: path, clock: func() time.Time { return start }})
	run := first.end(first.says(first.session("refunds"), "hello").Run.ID)
	if entries, err := first.engine.Journal(t.Context(), "default", run.ID); err != nil || len(entries) == 0 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	first.stop()
	later := newHouse(t, houseOptions{text: text, path: path, clock: func() time.Time { return start.Add(8 * day) }})
	later.log.says(t, "pruned what was old enough")
	entries, err := later.engine.Journal(t.Context(), "default", run.ID)
	if len(entries) != 0 {
		t.Errorf("%d entries are left, %v", len(entries), err)
	}
	if kept, err := later.as("admin").Run(t.Context(), run.ID); err != nil || kept.Status != holdshort.RunCompleted {
		t.Errorf("the run is %s, %v", kept.Status, err)
	}
}
