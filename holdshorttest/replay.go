package holdshorttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// Replay lets the present code of a flow go through a journal that Golden kept, as it would with a run that was waiting when the code was
// deployed. It must come to the same end, or ask the same, and must not do anything that the journal does not have.
func (k *Kit) Replay(file string) holdshort.Run {
	k.t.Helper()
	raw, err := os.ReadFile(file)
	k.must("read a recorded journal", err)
	var was recording
	if err := json.Unmarshal(raw, &was); err != nil || was.Flow == "" {
		k.t.Fatalf("holdshorttest: %s is no journal that Golden wrote: %v", file, err)
	}
	id := k.revive(was)
	k.Settle()
	run := k.Run(id)
	fail := func(format string, args ...any) {
		k.t.Helper()
		k.t.Fatalf("holdshorttest: replay %s: "+format+"\nRuns that wait now have such journals: leave %s@%d as it was and give the changed flow the next version", append(append([]any{file}, args...), was.Flow, was.Version)...)
	}
	switch {
	case run.Status == holdshort.RunQueued && run.Held == nil:
		k.t.Fatalf("holdshorttest: replay %s: the kit cannot run %s@%d: put that version and its tools into Options", file, was.Flow, was.Version)
	case run.Held != nil:
		fail("the run is held: %s", run.Held.Code)
	}
	if added := k.added(id, was); len(added) > 0 {
		fail("the code does what the journal does not have: %s", strings.Join(added, ", "))
	}
	if open := k.questions(id); !reflect.DeepEqual(open, was.Open) {
		fail("it asks %+v, and asked %+v", open, was.Open)
	}
	if run.Status != was.Status || !sameJSON(run.Result, was.Result) || !sameFailure(run.Error, was.Error) {
		fail("it was %s %s%s, and now %s", was.Status, was.Result, failure(was.Error), k.Why(id))
	}
	return run
}

// revive stores a recorded run as one that has just been woken.
func (k *Kit) revive(was recording) holdshort.RunID {
	k.t.Helper()
	k.clock.nudge()
	now := k.Now()
	run := holdshort.Run{ID: holdshort.NewRunID(now), Status: holdshort.RunQueued, Flow: was.Flow, FlowVersion: was.Version, User: was.User, Input: was.Input,
		Attempt: max(was.Attempt, 1), CreatedAt: now, UpdatedAt: now}
	run.TraceID = string(run.ID)
	err := k.store.Update(context.Background(), k.Tenant(), func(tx store.Tx) error {
		for _, entry := range was.Journal {
			entry.RunID = run.ID
			if err := tx.AddJournal(entry); err != nil {
				return err
			}
		}
		digest, err := k.store.Keyring().ExtendJournal(k.Tenant(), run.ID, "", was.Journal...)
		if err != nil {
			return err
		}
		run.Recorded = digest
		return tx.PutRun(run)
	}, store.RunRow(run.ID))
	k.must("store the recorded run", err)
	return run.ID
}

// added names what a replay recorded on top.
func (k *Kit) added(id holdshort.RunID, was recording) (keys []string) {
	type name struct {
		key     string
		attempt int
	}
	known := map[name]bool{}
	for _, e := range was.Journal {
		known[name{e.Key, e.Attempt}] = true
	}
	for _, e := range k.Journal(id) {
		if !known[name{e.Key, e.Attempt}] {
			keys = append(keys, fmt.Sprintf("%s %q", e.Kind, e.Key))
		}
	}
	return keys
}

func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func sameFailure(a, b *holdshort.Failure) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Code == b.Code && a.Step == b.Step && a.Message == b.Message
}
