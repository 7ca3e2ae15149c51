package main

import (
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort/store"
)

func TestHealthChecks(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		health store.Health
		check  string
		status status
		found  string
	}{
		{"nothing there", store.Health{}, "seals", statusOK, "no seal yet, 0 events since"},
		{"sealed a moment ago", store.Health{SealedAt: now.Add(-time.Minute), Unsealed: 900}, "seals", statusOK, "last 2026-03-01T11:59:00Z, 900 events since"},
		{"sealing stopped", store.Health{SealedAt: now.Add(-time.Hour), Unsealed: 900}, "seals", statusWarn, "last 2026-03-01T11:00:00Z, 900 events since"},
		{"only the seal's own event", store.Health{SealedAt: now.Add(-time.Hour), Unsealed: 1}, "seals", statusOK, "last 2026-03-01T11:00:00Z, 1 event since"},
		{"never sealed", store.Health{Unsealed: 2}, "seals", statusWarn, "no seal yet, 2 events since"},
		{"late by this clock alone", store.Health{SealedAt: now.Add(-time.Hour), Unsealed: 2, ClockSkew: -time.Hour}, "seals", statusOK, "last 2026-03-01T11:00:00Z, 2 events since"},
		{"positions", store.Health{Position: 7}, "log", statusOK, "at position 7"},
		{"some unstamped", store.Health{Position: 7, Unstamped: 1}, "log", statusOK, "at position 7, 1 event without a position"},
		{"many unstamped", store.Health{Position: 7, Unstamped: 10_001}, "log", statusWarn, "at position 7, 10001 events without a position"},
		{"clocks", store.Health{ClockSkew: 12 * time.Millisecond}, "clock", statusOK, "the database's differs by 12ms"},
		{"clocks apart", store.Health{ClockSkew: -7 * time.Second}, "clock", statusWarn, "the database's differs by -7s"},
		{"held", store.Health{Held: 2}, "held", statusWarn, "2 runs held"},
		{"stale", store.Health{StaleRuns: 1}, "leases", statusWarn, "1 run under a lease that ended"},
		{"overdue", store.Health{Overdue: 3}, "timers", statusWarn, "3 timers overdue"},
		{"quarantined", store.Health{Quarantine: "it is a copy"}, "quarantine", statusFail, "it is a copy; nothing runs"},
		{"problems", store.Health{Problems: []string{"fsync is off", "the clock was set back"}}, "problems", statusFail, "fsync is off; the clock was set back"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seen := false
			for _, c := range healthChecks(tt.health, now) {
				if c.Status != statusOK && c.Next == "" {
					t.Errorf("%s is %s and does not say what to do", c.Name, c.Status)
				}
				if c.Name != tt.check {
					continue
				}
				seen = true
				if c.Status != tt.status || c.Found != tt.found {
					t.Errorf("%s %q, want %s %q", c.Status, c.Found, tt.status, tt.found)
				}
			}
			if !seen {
				t.Errorf("no line for %s", tt.check)
			}
		})
	}
}

func TestRunChecks(t *testing.T) {
	whole := runChecks(store.RunsExamined{Runs: 1})
	if len(whole) != 1 || whole[0].Status != statusOK || whole[0].Found != "1 active run examined, no row is damaged" {
		t.Errorf("%+v", whole)
	}
	faults := []store.RunFault{{Tenant: "acme", Run: "run_1", Problem: "its row cannot be read"}, {Tenant: "acme", Run: "run_2", Problem: "its journal cannot be read"}}
	damaged := runChecks(store.RunsExamined{Runs: 9, Faults: faults})
	if len(damaged) != 2 || damaged[0].Status != statusFail || damaged[0].Found != "run_1 of tenant acme: its row cannot be read" || !strings.Contains(damaged[1].Next, "runs cancel run_2") {
		t.Errorf("%+v", damaged)
	}
}

func TestWorst(t *testing.T) {
	ok, warn, fail := check{Status: statusOK}, check{Status: statusWarn}, check{Status: statusFail}
	for _, tt := range []struct {
		checks []check
		want   status
	}{
		{nil, statusOK}, {[]check{ok, ok}, statusOK}, {[]check{warn, ok}, statusWarn}, {[]check{fail, warn, ok}, statusFail}, {[]check{ok, warn, fail}, statusFail},
	} {
		if got := worst(tt.checks); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.checks, got, tt.want)
		}
	}
}

func TestSchemaPending(t *testing.T) {
	got := schemaCheck(store.Health{Schema: 1}, store.Schema{Pending: []store.Migration{{Number: 2, Name: "more"}}})
	if got.Status != statusWarn || !strings.Contains(got.Found, "1 migration pending") || got.Next == "" {
		t.Errorf("%+v", got)
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 30: "5.0 GiB", 3 << 50: "3072.0 TiB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}
