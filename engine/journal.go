package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// Kinds of the journal's entries that the kernel itself writes. Its keys have a "!", which no author's name can have.
const (
	kindApproval = "approval" // the decision on the request that a call raised
	kindStarted  = "started"  // a call went out
	kindTimer    = "timer"    // a sleep or wait that was set, or fired
	kindPost     = "post"     // something that was sent to the run
	kindTaken    = "taken"    // which Wait took it
	kindRetry    = "retry"    // a person had a failed step tried again
)

// approvalKey orders the decisions on what a step asked: each wakes the run, so the later one has the higher count, also while the clock
// stands still.
func approvalKey(step string, wake int64, id holdshort.RequestID) string {
	return fmt.Sprintf("%s!approval!%012d!%s", step, wake, id)
}

func setKey(step string) string   { return step + "!set" }
func firedKey(step string) string { return step + "!fired" }

// postKey begins with what no step's key can begin with, so that a retry of a step called "post" leaves posts alone; an id that a stranger
// chose cannot name anything but itself.
func postKey(id string) string {
	return "!post!" + strings.NewReplacer("%", "%25", "!", "%21").Replace(id)
}

// journal is what a run remembers, ready for replay.
type journal struct {
	mu       sync.RWMutex
	entries  map[string]holdshort.JournalEntry
	approved map[string][]holdshort.JournalEntry // by step: decisions, oldest first
	voided   map[string]int                      // steps that a person had tried again, and the attempt from which outcomes count
	posts    []holdshort.JournalEntry            // in the order in which they came
	pauses   int
}

// retried is what a retry leaves in the journal: outcomes of the step from earlier attempts no longer count.
type retried struct {
	Steps []string `json:"steps"`
}

func newJournal(entries []holdshort.JournalEntry) *journal {
	j := &journal{entries: make(map[string]holdshort.JournalEntry, len(entries)), approved: map[string][]holdshort.JournalEntry{}, voided: map[string]int{}}
	for _, e := range entries {
		if e.Kind == kindRetry {
			var r retried
			if json.Unmarshal(e.Outcome, &r) != nil {
				continue
			}
			for _, step := range r.Steps {
				j.voided[step] = max(j.voided[step], e.Attempt)
			}
		}
	}
	for _, e := range entries {
		step, _, _ := strings.Cut(e.Key, "!")
		if n, ok := j.voided[step]; ok && e.Attempt < n {
			continue
		}
		j.put(e)
	}
	return j
}

func (j *journal) put(e holdshort.JournalEntry) {
	if old, ok := j.entries[e.Key]; ok && old.Attempt > e.Attempt {
		return
	}
	j.entries[e.Key] = e
	switch e.Kind {
	case kindApproval:
		j.pauses++
		step, _, _ := strings.Cut(e.Key, "!")
		at, _ := slices.BinarySearchFunc(j.approved[step], e, func(a, b holdshort.JournalEntry) int { return strings.Compare(a.Key, b.Key) })
		j.approved[step] = slices.Insert(j.approved[step], at, e)
	case kindPost:
		at, _ := slices.BinarySearchFunc(j.posts, e, func(a, b holdshort.JournalEntry) int {
			return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.Key, b.Key))
		})
		j.posts = slices.Insert(j.posts, at, e)
	case "ask":
		j.pauses++
	}
}

func (j *journal) add(e holdshort.JournalEntry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.put(e)
}

func (j *journal) get(key string) (holdshort.JournalEntry, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	e, ok := j.entries[key]
	return e, ok
}

// approvals gives the decisions on what a step asked, oldest first.
func (j *journal) approvals(step string) []holdshort.JournalEntry {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.approved[step]
}

func (j *journal) paused() int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.pauses
}

// take gives the first post of that name that no Wait took, by the order in which they came.
func (j *journal) take(name string) (key string, body json.RawMessage, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.posts {
		var p post
		if gone := j.entries[tookKey(e.Key)].Kind == kindTaken; gone || json.Unmarshal(e.Outcome, &p) != nil || p.Name != name {
			continue
		}
		j.entries[tookKey(e.Key)] = holdshort.JournalEntry{Key: tookKey(e.Key), Kind: kindTaken} // before it is stored: a branch beside must not take it too
		return e.Key, p.Body, true
	}
	return "", nil, false
}

func tookKey(post string) string { return post + "!took" }

// tookEntry says which Wait took a post.
func tookEntry(wait, post string, at time.Time) holdshort.JournalEntry {
	raw, _ := json.Marshal(map[string]string{"wait": wait})
	return holdshort.JournalEntry{Key: tookKey(post), Kind: kindTaken, Outcome: raw, Started: at, Ended: at}
}
