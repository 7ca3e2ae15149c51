package storetest

import (
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Lookup is a list query about one subject. Its cost must not depend on how many other rows the tenant has.
type Lookup struct {
	Name string
	Read func(store.ReadTx) error
	Uses []string // the indexes that may answer it
}

// Lookups returns the list queries that the engine, the API and the inbox make about one run, session, request
// or person.
func (c Crowd) Lookups() []Lookup {
	all := c.requestLookups()
	for name, q := range map[string]store.RunQuery{
		"session":                     {Session: c.Session},
		"session and waiting":         {Session: c.Session, Status: holdshort.RunWaiting},
		"session and completed":       {Session: c.Session, Status: holdshort.RunCompleted},
		"session and queued and held": {Session: c.Session, Status: holdshort.RunQueued, Held: true},
		"session, flow and agent":     {Session: c.Session, Flow: "refund", Agent: "desk"},
	} {
		all = append(all, runLookup("runs by "+name, q, "runs_session"))
	}
	for name, q := range map[string]store.RunQuery{
		"queued": {Status: holdshort.RunQueued}, "running": {Status: holdshort.RunRunning},
		"failed":    {Status: holdshort.RunFailed},
		"completed": {Status: holdshort.RunCompleted}, "canceled": {Status: holdshort.RunCanceled},
	} {
		all = append(all, runLookup("runs that are "+name, q, "runs_status", "runs_ready"))
	}
	for name, q := range map[string]store.SessionQuery{
		"owner":          {Owner: "ben"},
		"owner and mode": {Owner: "ben", Mode: holdshort.ModeProxy},
		"mode":           {Mode: holdshort.ModeProxy},
	} {
		all = append(all, lookup("sessions by "+name, func(tx store.ReadTx) (store.Page[holdshort.Session], error) {
			return tx.Sessions(q)
		}, "sessions_owner", "sessions_manned"))
	}
	return append(all,
		runLookup("held runs", store.RunQuery{Held: true}, "runs_held"),
		lookup("events of a run", func(tx store.ReadTx) (store.Events, error) {
			return tx.Events(store.EventQuery{Run: c.Run})
		}, "events_stream"),
		lookup("events of a run after a position", func(tx store.ReadTx) (store.Events, error) {
			return tx.Events(store.EventQuery{Run: c.Run, After: 3})
		}, "events_stream"),
		lookup("events of a session", func(tx store.ReadTx) (store.Events, error) {
			return tx.Events(store.EventQuery{Session: c.Session, After: 3})
		}, "events_session"),
		lookup("past of a run", func(tx store.ReadTx) (store.Past, error) {
			return tx.Past(store.PastQuery{Run: c.Run})
		}, "events_stream"),
		lookup("past of a session", func(tx store.ReadTx) (store.Past, error) {
			return tx.Past(store.PastQuery{Session: c.Session, Actor: "ann"})
		}, "events_session"),
		lookup("messages of a session", func(tx store.ReadTx) (store.Page[holdshort.Message], error) {
			return tx.Messages(store.MessageQuery{Session: c.Session, Since: birth.Add(10 * time.Minute)})
		}, "messages_time", "messages_pinned", "messages_order"),
		lookup("operations of a run", func(tx store.ReadTx) ([]holdshort.Operation, error) {
			return tx.Operations(c.Run)
		}, "operations_run"),
		lookup("journal of a run", func(tx store.ReadTx) ([]holdshort.JournalEntry, error) {
			return tx.Journal(c.Run)
		}, "journal", "PRIMARY KEY"),
		lookup("votes on a request", func(tx store.ReadTx) ([]holdshort.Vote, error) {
			return tx.Votes(c.Request)
		}, "decisions_vote"),
		lookup("decision on a request", func(tx store.ReadTx) (holdshort.Decision, error) {
			return tx.Decision(c.Request)
		}, "decisions_one"),
		lookup("comments on a request", func(tx store.ReadTx) ([]holdshort.Event, error) {
			return tx.Comments(c.Request)
		}, "events_comments"),
		lookup("decisions of a person", func(tx store.ReadTx) (store.Page[holdshort.Request], error) {
			return tx.Decided(store.DecidedQuery{By: c.Assignee})
		}, "decisions_actor", "decisions_one", "requests", "autoindex"),
		lookup("pending deliveries of a session", func(tx store.ReadTx) ([]holdshort.Delivery, error) {
			return tx.PendingDeliveries(c.Session)
		}, "outbox_order"),
		lookup("deliveries by key", func(tx store.ReadTx) (store.Page[holdshort.Delivery], error) {
			return tx.Deliveries(store.DeliveryQuery{Prefix: "hook:"})
		}, "outbox_key"))
}

func runLookup(name string, q store.RunQuery, uses ...string) Lookup {
	return lookup(name, func(tx store.ReadTx) (store.Page[holdshort.Run], error) { return tx.Runs(q) }, uses...)
}

func lookup[T any](name string, read func(store.ReadTx) (T, error), uses ...string) Lookup {
	return Lookup{Name: name, Uses: uses, Read: func(tx store.ReadTx) error {
		_, err := read(tx)
		return err
	}}
}
