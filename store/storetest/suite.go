// Package storetest is the one conformance suite of the stores: every promise of package store, run by each driver's own tests.
// It imports the root package, store and the standard library; a driver's tests hand it their databases.
package storetest

import (
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Driver makes databases of one kind.
type Driver interface {
	// Open gives an empty database with a store open on it. Both are gone when the test ends.
	Open(t testing.TB, o Options) Database
	// Crashes plays the script and ends it before one statement after the other, so that every statement is once the first that did not
	// happen. What is there afterwards is opened again and handed to check with the number of acknowledgements until then.
	Crashes(t *testing.T, play func(s store.Store, acknowledge func()), check func(t *testing.T, s store.Store, acknowledged int))
}

// Options of one database. The zero value is what a user gets.
type Options struct {
	OnStatement func(text string) // told each statement of a write transaction before it runs
	Encrypt     bool
	MaxGroup    int
	Narrow      bool // one connection writes: concurrent transactions share commits for certain
}

// Database is a database with a store open on it.
type Database interface {
	Store() store.Store
	Keyring() *holdshort.Keyring
	// Reopen closes the store and opens the same database again.
	Reopen(t testing.TB)
	// Rotate closes the store, puts a new key in front of the keyring and opens the same database again.
	Rotate(t testing.TB)
	// Crash ends the store without closing it and opens what is there.
	Crash(t testing.TB)
	// Advance moves the store's clock.
	Advance(t testing.TB, d time.Duration)
	// Freeze stops the clock of the process: what the store does now and then it does no more.
	Freeze(t testing.TB)
	// Exec and Rows are what somebody with access to the database can do beside the store; parameters are question marks.
	Exec(t testing.TB, text string, args ...any) int64
	Rows(t testing.TB, text string, args ...any) [][]any
	// Columns gives the columns of every table.
	Columns(t testing.TB) map[string][]string
	// Queued is how many transactions wait for their turn.
	Queued() int
	// Fill leaves room for about so many bytes more; free gives it back.
	Fill(t testing.TB, bytes int) (free func())
}

// Run proves that the driver's stores keep the promises.
func Run(t *testing.T, d Driver) {
	for _, part := range []struct {
		name string
		test func(*testing.T, Driver)
	}{
		{"every field comes back", testRoundTrips},
		{"what was written once stays", testFixedParts},
		{"nothing becomes something", testEmptyFields},
		{"raw arguments come back byte for byte", testRawArguments},
		{"lists", testLists},
		{"compare and set", testCompareAndSet},
		{"one decision wins", testDeciding},
		{"unique keys", testUniqueKeys},
		{"groups", testGroups},
		{"answers", testAnswers},
		{"patience", testPatience},
		{"snapshots", testSnapshots},
		{"transfers", testTransfers},
		{"clocks", testClock},
		{"canceled contexts", testCanceled},
		{"transactions that are over", testEndedTransactions},
		{"ignored errors", testIgnoredErrors},
		{"leases", testLeases},
		{"fences", testFences},
		{"claiming runs", testClaimRuns},
		{"claiming deliveries", testClaimDeliveries},
		{"timers", testTimers},
		{"counters", testCounters},
		{"accepted messages", testUnrouted},
		{"keys", testKeys},
		{"logins", testLogins},
		{"webhooks", testWebhooks},
		{"deliveries by key", testDeliveriesByKey},
		{"fairness", testFairness},
		{"tenants", testIsolation},
		{"event streams", testStreams},
		{"reported events", testReportedEvents},
		{"event positions", testPositions},
		{"event watchers", testWatchers},
		{"seals", testSeals},
		{"tampering", testTampering},
		{"pruned logs", testPrunedLogs},
		{"bodies", testBodies},
		{"export", testExport},
		{"retention", testRetention},
		{"erasure", testErasure},
		{"encryption", testEncryption},
		{"bad input", testBadInput},
		{"bad cursors", testBadCursors},
		{"corrupt rows", testCorruptRows},
		{"a store that stands still", testStall},
		{"a full disk", testFullDisk},
		{"pages of sessions", testSessionList},
		{"the past", testPast},
		{"what stands", testStanding},
		{"what was closed", testClosed},
		{"the tail of the log", testTail},
		{"desks", testDesk},
		{"search", testSearch},
		{"closing", testClose},
		{"hints", testWake},
		{"health", testHealth},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.test(t, d)
		})
	}
}
