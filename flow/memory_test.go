package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// memory is a Recorder over a map: the journal of one run, without an engine. Outcomes that were recorded since the last thing that left the
// run are lost when it crashes, as the engine's are.
type memory struct {
	mu      sync.Mutex
	now     time.Time
	stored  map[string]holdshort.JournalEntry // survives everything
	unsaved map[string]holdshort.JournalEntry // survives all but a crash
	asked   map[string]holdshort.Request
	until   map[string]time.Time // of sleeps and waits
	posts   []post
	history []holdshort.Message
	tools   map[string]func(args json.RawMessage) (any, error)
	parked  map[string]bool // tools whose calls wait for an approval
	batches map[string][]string
	did     map[string]int // what really happened, by key
	lost    map[string]int // of what happened, how often the record was lost
	fault   func(op, key string) error
	busy    int // effects under way
	busiest int
}

type post struct {
	name, body string
	taken      bool
}

func newMemory() *memory {
	return &memory{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), stored: map[string]holdshort.JournalEntry{}, unsaved: map[string]holdshort.JournalEntry{},
		asked: map[string]holdshort.Request{}, until: map[string]time.Time{}, tools: map[string]func(json.RawMessage) (any, error){}, parked: map[string]bool{},
		batches: map[string][]string{}, did: map[string]int{}, lost: map[string]int{}}
}

var errCrash = errors.New("the process died")

// run executes f until it comes to rest. What is recorded is kept, unless it crashed.
func (m *memory) run(f flow.Flow, input string) flow.Ending {
	return m.runIn(context.Background(), f, input)
}

func (m *memory) runIn(ctx context.Context, f flow.Flow, input string) flow.Ending {
	ending := f.Execute(ctx, m, json.RawMessage(input))
	m.mu.Lock()
	defer m.mu.Unlock()
	if ending.State == flow.Abandoned {
		for key := range m.unsaved {
			m.lost[key]++
		}
		clear(m.unsaved)
	}
	m.save()
	return ending
}

func (m *memory) save() {
	maps.Copy(m.stored, m.unsaved)
	clear(m.unsaved)
}

func (m *memory) fails(op, key string) error {
	if m.fault == nil {
		return nil
	}
	return m.fault(op, key)
}

func (m *memory) Busy(more int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy += more
	m.busiest = max(m.busiest, m.busy)
}

func (m *memory) Recorded(key string) (holdshort.JournalEntry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.unsaved[key]; ok {
		return e, true
	}
	e, ok := m.stored[key]
	return e, ok
}

// put keeps an entry as a database would give it back.
func (m *memory) put(entry holdshort.JournalEntry) {
	raw, err := json.Marshal(entry)
	if err != nil {
		panic(err)
	}
	var back holdshort.JournalEntry
	if err := json.Unmarshal(raw, &back); err != nil {
		panic(err)
	}
	m.unsaved[back.Key] = back
}

func (m *memory) Record(_ context.Context, entry holdshort.JournalEntry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.did[entry.Key]++
	if err := m.fails("record", entry.Key); err != nil {
		m.lost[entry.Key]++
		return err
	}
	m.put(entry)
	return m.fails("record done", entry.Key)
}

func (m *memory) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *memory) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

func (m *memory) Ask(_ context.Context, key string, draft holdshort.Request) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails("ask", key); err != nil {
		return err
	}
	if _, ok := m.asked[key]; !ok {
		m.did[key]++
		m.asked[key] = draft
	}
	return m.fails("ask done", key)
}

// answer journals what became of the question at key, as deciding does.
func (m *memory) answer(key string, a flow.Answer) {
	raw, _ := json.Marshal(a)
	m.settle(holdshort.JournalEntry{Key: key, Kind: flow.KindAsk, Outcome: raw})
}

func (m *memory) settle(entry holdshort.JournalEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(entry)
	m.save()
}

func (m *memory) Calls(_ context.Context, key string, calls []flow.Invocation) ([]holdshort.JournalEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails("calls", key); err != nil {
		return nil, err
	}
	for _, call := range calls {
		if m.parked[call.Tool] {
			m.batches[key] = nil
			for _, c := range calls {
				m.batches[key] = append(m.batches[key], c.ID+"="+c.Tool+string(c.Args))
			}
			return nil, flow.Suspend
		}
	}
	entries := make([]holdshort.JournalEntry, len(calls))
	for i, call := range calls {
		if e, ok := m.stored[call.Key]; ok {
			entries[i] = e
			continue
		}
		entry := holdshort.JournalEntry{Key: call.Key, Kind: flow.KindCall, Hash: call.Hash}
		m.did[call.Key]++
		if value, err := m.tools[call.Tool](call.Args); err != nil {
			entry.Error = &holdshort.Failure{Code: holdshort.CodeOf(err), Message: err.Error(), Step: call.Key}
		} else {
			raw, _ := json.Marshal(value)
			entry.Outcome, _ = json.Marshal(flow.CallOutcome{Value: raw})
		}
		m.put(entry)
		m.save()
		if err := m.fails("calls done", key); err != nil {
			return nil, err
		}
		entries[i] = entry
	}
	return entries, nil
}

func (m *memory) Say(_ context.Context, entry holdshort.JournalEntry, said holdshort.Message) error {
	return m.leave("say", entry, said.Parts[0].Text)
}

func (m *memory) Note(_ context.Context, entry holdshort.JournalEntry, note holdshort.Message) error {
	return m.leave("note", entry, string(note.Role))
}

func (m *memory) History(context.Context) ([]holdshort.Message, error) { return m.history, nil }

func (m *memory) Emit(_ context.Context, entry holdshort.JournalEntry, name string, body json.RawMessage) error {
	return m.leave("emit", entry, name+string(body))
}

func (m *memory) leave(op string, entry holdshort.JournalEntry, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails(op, entry.Key); err != nil {
		return err
	}
	m.did[entry.Key]++
	m.put(entry)
	m.save()
	return m.fails(op+" done", entry.Key)
}

func (m *memory) Sleep(_ context.Context, key string, d time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails("sleep", key); err != nil {
		return err
	}
	if _, ok := m.until[key]; !ok {
		m.did[key]++
		m.until[key] = m.now.Add(d)
	}
	if m.now.Before(m.until[key]) {
		return flow.Suspend
	}
	return nil
}

func (m *memory) Wait(_ context.Context, key, name string, timeout time.Duration) (holdshort.JournalEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails("wait", key); err != nil {
		return holdshort.JournalEntry{}, err
	}
	if _, ok := m.until[key]; !ok {
		m.did[key]++
		m.until[key] = m.now.Add(timeout)
	}
	entry := holdshort.JournalEntry{Key: key, Kind: flow.KindWait}
	i := slices.IndexFunc(m.posts, func(p post) bool { return p.name == name && !p.taken })
	switch {
	case i >= 0:
		m.posts[i].taken = true
		entry.Outcome = json.RawMessage(m.posts[i].body)
	case timeout > 0 && !m.now.Before(m.until[key]):
		entry.Error = &holdshort.Failure{Code: holdshort.TimedOut, Message: "nothing came", Step: key}
	default:
		return entry, flow.Suspend
	}
	m.put(entry)
	m.save()
	return entry, m.fails("wait done", key)
}

func (m *memory) Take(_ context.Context, key, name string) (*holdshort.JournalEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails("take", key); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(m.posts, func(p post) bool { return p.name == name && !p.taken })
	if i < 0 {
		return nil, nil
	}
	m.posts[i].taken = true
	m.did[key]++
	entry := holdshort.JournalEntry{Key: key, Kind: flow.KindWait, Outcome: json.RawMessage(m.posts[i].body)}
	m.put(entry)
	m.save()
	return &entry, m.fails("take done", key)
}

func (m *memory) post(name, body string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.posts = append(m.posts, post{name: name, body: body})
}

// keys are the places of the journal, sorted.
func (m *memory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.stored))
}

func (m *memory) times(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.did[key]
}

// What most tests ask of an ending.

func completed(t *testing.T, e flow.Ending, result string) {
	t.Helper()
	if e.State != flow.Completed || string(e.Result) != result {
		t.Fatalf("ended as %s, want completed with %s", show(e), result)
	}
}

func suspended(t *testing.T, e flow.Ending) {
	t.Helper()
	if e.State != flow.Suspended {
		t.Fatalf("ended as %s, want suspended", show(e))
	}
}

func failed(t *testing.T, e flow.Ending, code holdshort.Code) {
	t.Helper()
	if e.State != flow.Failed || e.Failure == nil || e.Failure.Code != code {
		t.Fatalf("ended as %s, want failed with %s", show(e), code)
	}
}

func held(t *testing.T, e flow.Ending, code holdshort.Code) {
	t.Helper()
	if e.State != flow.Held || e.Code != code {
		t.Fatalf("ended as %s, want held with %s", show(e), code)
	}
}

func show(e flow.Ending) string {
	return fmt.Sprintf("%s result=%s failure=%+v code=%s err=%v unwound=%.200s",
		[]string{"completed", "suspended", "failed", "held", "abandoned"}[e.State], e.Result, e.Failure, e.Code, e.Err, e.Unwound)
}

func is[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// step counts how often it is really done.
func step[T any](c *flow.Context, name string, value T, done *int) T {
	v, err := flow.Step(c, name, func(context.Context) (T, error) {
		*done++
		return value, nil
	})
	if err != nil {
		panic(err)
	}
	return v
}

// made makes a flow of a function without input.
func made[Out any](fn func(c *flow.Context) (Out, error)) flow.Flow {
	return flow.New("test", 1, func(c *flow.Context, _ struct{}) (Out, error) { return fn(c) })
}

func yes(key string) flow.Answer {
	return flow.Answer{Request: holdshort.RequestID("req_" + key), Status: holdshort.RequestResolved, Outcome: holdshort.Approved, Action: holdshort.Approve}
}
