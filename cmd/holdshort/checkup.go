package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/store"
)

// check is one line of a diagnosis.
type check struct {
	Name   string `json:"name"`
	Status status `json:"status"`
	Found  string `json:"found"`
	Next   string `json:"next,omitempty"`
}

const (
	sealingIsLate  = 10 * time.Minute // the sequencer seals each minute
	stampingIsLate = 10_000           // events
	skewIsLarge    = 5 * time.Second
)

func worst(checks []check) status {
	found := statusOK
	for _, c := range checks {
		if c.Status == statusFail || c.Status == statusWarn && found == statusOK {
			found = c.Status
		}
	}
	return found
}

// examine looks at the store from outside to inside and stops where it can get no further: that too is a finding. Its error is of the
// command line or an interrupt.
func (c *doctorCommand) examine(ctx context.Context, l location) ([]check, *store.Health, error) {
	found, h, err := c.examineStore(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	return append(found, c.configChecks()...), h, nil
}

// configFile is the configuration that serve would read here, "" if there is none.
func (c *doctorCommand) configFile() string {
	if c.Config != "" {
		return c.Config
	}
	if _, err := os.Stat(defaultConfig); err != nil {
		return ""
	}
	return defaultConfig
}

// configChecks looks at the configuration that serve would read here.
func (c *doctorCommand) configChecks() []check {
	file := c.configFile()
	if file == "" {
		return nil
	}
	read, _, err := readServable(context.Background(), servable{file: file, embedded: true})
	var checks []check
	for _, f := range config.FaultsOf(err) {
		checks = append(checks, check{"config", statusFail, f.Error(), f.Hint})
	}
	switch unbuilt := read.Unbuilt(); {
	case len(checks) > 0:
		return checks
	case err != nil:
		f := explain(err)
		return []check{{"config", statusFail, f.Message, f.Hint}}
	case len(unbuilt) > 0:
		return []check{{"config", statusWarn, file + " has parts that this build does not run: " + strings.Join(unbuilt, ", "), "serve refuses it without --leave-out " + strings.Join(unbuilt, ",")}}
	}
	if _, _, err := readServable(context.Background(), servable{file: file, ownStore: true}); err != nil {
		f := explain(err)
		return []check{{"config", statusWarn, "serve refuses " + f.Message, f.Hint}}
	}
	return []check{{"config", statusOK, file + " is right", ""}}
}

func (c *doctorCommand) examineStore(ctx context.Context, l location) ([]check, *store.Health, error) {
	schema, err := l.schema(ctx)
	if err != nil {
		return ill(ctx, "store", err)
	}
	if len(schema.Applied) == 0 {
		return []check{{"store", statusFail, "there is no store here yet", "check --store; holdshort migrate makes one"}}, nil, nil
	}
	s, err := c.open(ctx, l, access{})
	if err != nil {
		return ill(ctx, "store", err)
	}
	defer s.Close()
	h, err := s.System().Health(ctx)
	if err != nil {
		return ill(ctx, "store", err)
	}
	checks := []check{{"store", statusOK, h.Driver + ", " + h.Server + ", " + size(h.Bytes), ""}, schemaCheck(h, schema), c.keyringCheck(l, s)}
	checks = append(checks, healthChecks(h, time.Now())...)
	examined, err := s.System().ExamineRuns(ctx, mostExamined)
	if err != nil {
		return ill(ctx, "runs", err)
	}
	checks = append(checks, runChecks(examined)...)
	if c.Pending {
		can, failed, parts, err := c.abilities(ctx, s)
		defer parts.Close()
		if err != nil {
			return nil, nil, err
		}
		checks = append(checks, failed...)
		found, err := pendingChecks(ctx, s, holdshort.TenantID(c.Tenant), can)
		if err != nil {
			return ill(ctx, "pending", err)
		}
		checks = append(checks, found...)
	}
	if c.CheckFile {
		checks = append(checks, fileCheck(ctx, s))
	}
	return checks, &h, ctx.Err()
}

// ill makes a finding of what stopped the examination.
func ill(ctx context.Context, name string, err error) ([]check, *store.Health, error) {
	if _, usage := errors.AsType[*usageError](err); usage || ctx.Err() != nil {
		return nil, nil, err
	}
	f := explain(err)
	if f.exit == exitUsage {
		return nil, nil, err
	}
	return []check{{name, statusFail, f.Message, f.Hint}}, nil, nil
}

func schemaCheck(h store.Health, schema store.Schema) check {
	if n := len(schema.Pending); n > 0 {
		return check{"schema", statusWarn, fmt.Sprintf("%d, %s pending", h.Schema, plural(n, "migration")), "back the store up, then run holdshort migrate"}
	}
	return check{"schema", statusOK, fmt.Sprintf("%d, up to date", h.Schema), ""}
}

func (c *doctorCommand) keyringCheck(l location, s kept) check {
	keyring := s.Keyring()
	if keyring == nil {
		return check{"keyring", statusFail, c.keyringFile(l) + " is missing: no decision and no seal can be verified", "put back the keyring that this store was made with, or name it with --keyring"}
	}
	return check{"keyring", statusOK, fmt.Sprintf("%s, %s, %s signs", c.keyringFile(l), plural(len(keyring.KeyIDs()), "key"), keyring.SigningKeyID()), ""}
}

func fileCheck(ctx context.Context, s kept) check {
	file, ok := s.(interface{ Check(context.Context) error })
	if !ok {
		return check{"file", statusWarn, "this store is no file", ""}
	}
	if err := file.Check(ctx); err != nil {
		return check{"file", statusFail, messageOf(err), holdshort.HintOf(err)}
	}
	return check{"file", statusOK, "read to its end, no damage", ""}
}

// healthChecks judges what the store says of itself.
func healthChecks(h store.Health, now time.Time) []check {
	checks := []check{{"instance", statusOK, h.Instance, ""}}
	if h.Quarantine != "" {
		checks = append(checks, check{"quarantine", statusFail, h.Quarantine + "; nothing runs", "if this is the database that you want, stop the server and run holdshort doctor --accept-restore"})
	} else {
		checks = append(checks, check{"quarantine", statusOK, "none", ""})
	}
	return append(checks,
		logCheck(h), sealCheck(h, now), clockCheck(h),
		check{"work", statusOK, fmt.Sprintf("%s, %s waiting, %s open", plural(h.Tenants, "tenant"), plural(h.Waiting, "run"), plural(h.Open, "request")), ""},
		countCheck("held", h.Held, "run", "held", "look why, then retry or cancel them: nothing of them runs until a person does"),
		countCheck("leases", h.StaleRuns, "run", "under a lease that ended", "a node died or stands still; a running server takes them over by itself"),
		countCheck("timers", h.Overdue, "timer", "overdue", "start the server; if it runs, it is behind"),
		problemsCheck(h))
}

// mostExamined is the number of runs whose rows doctor reads.
const mostExamined = 10_000

// runChecks reports runs whose rows are damaged.
func runChecks(e store.RunsExamined) []check {
	found := plural(e.Runs, "active run") + " examined"
	if e.More {
		found = fmt.Sprintf("the first %d active runs examined", e.Runs)
	}
	if len(e.Faults) == 0 {
		return []check{{"runs", statusOK, found + ", no row is damaged", ""}}
	}
	var checks []check
	for _, f := range e.Faults {
		checks = append(checks, check{"runs", statusFail, fmt.Sprintf("%s of tenant %s: %s", f.Run, f.Tenant, f.Problem),
			"restore it from a backup, then holdshort runs retry " + string(f.Run) + "; or holdshort runs cancel " + string(f.Run)})
	}
	return checks
}

func logCheck(h store.Health) check {
	found := fmt.Sprintf("at position %d", h.Position)
	if h.Unstamped > 0 {
		found += fmt.Sprintf(", %s without a position", plural(h.Unstamped, "event"))
	}
	if h.Unstamped > stampingIsLate {
		return check{"log", statusWarn, found, "start a server: one of its nodes gives positions; if it runs, it is behind"}
	}
	return check{"log", statusOK, found, ""}
}

func sealCheck(h store.Health, now time.Time) check {
	found := "no seal yet"
	if !h.SealedAt.IsZero() {
		found = "last " + h.SealedAt.UTC().Format(time.RFC3339)
	}
	found += fmt.Sprintf(", %s since", plural(h.Unsealed, "event"))
	// A seal leaves an event of its own, which waits for the next one.
	if h.Unsealed > 1 && now.Add(h.ClockSkew).Sub(h.SealedAt) > sealingIsLate {
		return check{"seals", statusWarn, found, "start a server: it seals each minute; until then only chains vouch for these events"}
	}
	return check{"seals", statusOK, found, ""}
}

func clockCheck(h store.Health) check {
	if h.ClockSkew.Abs() > skewIsLarge {
		return check{"clock", statusWarn, "the database's differs by " + h.ClockSkew.String(), "set both clocks by the same time server"}
	}
	return check{"clock", statusOK, "the database's differs by " + h.ClockSkew.String(), ""}
}

func countCheck(name string, n int64, noun, state, next string) check {
	if n == 0 {
		return check{name, statusOK, "no " + noun + " " + state, ""}
	}
	return check{name, statusWarn, plural(n, noun) + " " + state, next}
}

func problemsCheck(h store.Health) check {
	if len(h.Problems) == 0 {
		return check{"problems", statusOK, "none", ""}
	}
	return check{"problems", statusFail, strings.Join(h.Problems, "; "), "the store's guarantees hold only without them"}
}

// size is in the units that people know from their disks.
func size(bytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	n, i := float64(bytes), 0
	for n >= 1024 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", n, units[i])
}
