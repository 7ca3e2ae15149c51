package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

var _ flow.Recorder = (*slice)(nil)

// Recorded gives what the journal has under key.
func (s *slice) Recorded(key string) (holdshort.JournalEntry, bool) {
	s.touch()
	return s.journal.get(key)
}

// Busy counts effects that are under way: a flow that waits for one is not silent.
func (s *slice) Busy(more int) {
	s.mu.Lock()
	s.busy += more
	s.mu.Unlock()
	s.touch()
}

func (s *slice) touch() {
	now := time.Now()
	s.mu.Lock()
	s.active = now
	s.mu.Unlock()
}

// Now is the store's time as far as this slice has seen it, carried on by the process's clock.
func (s *slice) Now() time.Time {
	if s.e.config.Clock != nil {
		return s.e.config.Clock().UTC()
	}
	return s.e.clock.now()
}

// Record keeps an outcome. What is dear is stored at once; the rest when the slice has gone on for a while, or with its next commit.
func (s *slice) Record(ctx context.Context, entry holdshort.JournalEntry) error {
	return s.record(ctx, nil, entry)
}

// record keeps entries and what belongs to them in one piece: no commit may come between, or a crash after it would leave a part of a fact.
func (s *slice) record(ctx context.Context, with func(*pending), entries ...holdshort.JournalEntry) error {
	s.mu.Lock()
	if with != nil {
		with(&s.pending)
	}
	s.pending.entries = append(s.pending.entries, entries...)
	store := time.Since(s.stored) > unsaved
	s.mu.Unlock()
	for _, entry := range entries {
		s.journal.add(entry)
		store = store || entry.Kind == flow.KindModel
	}
	if !store {
		return nil
	}
	return s.save(ctx)
}

// save stores what was recorded so far.
func (s *slice) save(ctx context.Context) error {
	err := s.commit(context.WithoutCancel(ctx), nil)
	if ending, ok := unstorable(err); ok {
		s.forget()
		return &flow.Signal{State: ending.State, Code: ending.Code, Failure: ending.Failure, Err: ending.Err}
	}
	return err
}

// Ask raises the request of a step with the commit in which the run waits.
func (s *slice) Ask(ctx context.Context, key string, draft holdshort.Request) error {
	if err := s.mayPause(key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending.drafts = append(s.pending.drafts, draft)
	return nil
}

func (s *slice) mayPause(key string) error {
	if s.journal.paused() < s.e.config.Limits.Pauses {
		return nil
	}
	return flow.Fail(holdshort.Failure{Code: holdshort.LimitReached, Message: "the run asked people more often than a run may", Step: key})
}

// Say queues a message with the entry that records it.
func (s *slice) Say(ctx context.Context, entry holdshort.JournalEntry, m holdshort.Message) error {
	return s.record(ctx, func(p *pending) { p.said = append(p.said, said{key: entry.Key, message: m}) }, entry)
}

// Note queues a message of the history alone with the entry that records it.
func (s *slice) Note(ctx context.Context, entry holdshort.JournalEntry, m holdshort.Message) error {
	return s.record(ctx, func(p *pending) { p.said = append(p.said, said{key: entry.Key, message: m, note: true}) }, entry)
}

// About says which run it is.
func (s *slice) About() flow.About {
	run := s.snapshot()
	return flow.About{Run: run.ID, Session: run.SessionID, User: run.User, Agent: run.Agent}
}

// History reads what a model may know of the session, up to now.
func (s *slice) History(ctx context.Context) ([]holdshort.Message, error) {
	run := s.snapshot()
	if run.SessionID == "" {
		return nil, nil
	}
	if s.isFresh() {
		run.ID = "" // it begins now
	}
	return s.e.ModelHistory(ctx, s.tenant, run.SessionID, run.ID)
}

// Heard is one message as a model may know it, however old it is; none if it is not of the run's session, or gone.
func (s *slice) Heard(ctx context.Context, id holdshort.MessageID) (holdshort.Message, error) {
	m, err := view(ctx, s.e, s.tenant, func(tx store.ReadTx) (holdshort.Message, error) { return tx.Message(id) })
	if holdshort.CodeOf(err) == holdshort.NotFound || err == nil && (m.SessionID != s.snapshot().SessionID || !m.ModelVisible) {
		return holdshort.Message{}, nil
	}
	if err == nil {
		m.Parts = s.e.redact(ctx, s.tenant, StageModel, m)
	}
	return m, err
}

// Emit queues an event with the entry that records it.
func (s *slice) Emit(ctx context.Context, entry holdshort.JournalEntry, name string, body json.RawMessage) error {
	return s.record(ctx, func(p *pending) { p.emitted = append(p.emitted, emitted{name, body}) }, entry)
}

// alarm sets the timer of a sleep or wait once, and reports whether it has fired.
func (s *slice) alarm(key string, d time.Duration) (fired bool) {
	if _, ok := s.journal.get(firedKey(key)); ok {
		return true
	}
	if _, ok := s.journal.get(setKey(key)); ok {
		return false
	}
	s.journal.add(holdshort.JournalEntry{Key: setKey(key), Kind: kindTimer})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending.alarms = append(s.pending.alarms, alarm{key, d})
	return false
}

// Sleep waits for its timer.
func (s *slice) Sleep(ctx context.Context, key string, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if !s.alarm(key, d) {
		return flow.Suspend
	}
	return nil
}

// post is what the journal keeps of something that was sent to the run.
type post struct {
	Name string          `json:"name"`
	Body json.RawMessage `json:"body,omitempty"`
}

// Wait takes the first post of that name that no other Wait took. A post that is there wins over a timer that fired.
func (s *slice) Wait(ctx context.Context, key, name string, timeout time.Duration) (holdshort.JournalEntry, error) {
	entry := holdshort.JournalEntry{Key: key, Kind: flow.KindWait, Started: s.Now(), Ended: s.Now()}
	if took, body, ok := s.journal.take(name); ok {
		entry.Outcome = body
		return entry, s.record(ctx, nil, entry, tookEntry(key, took, entry.Ended))
	}
	if !s.alarm(key, timeout) {
		return entry, flow.Suspend
	}
	entry.Error = &holdshort.Failure{Code: holdshort.TimedOut, Message: "nothing arrived in time", Step: key}
	return entry, s.Record(ctx, entry)
}

// Take gives a post that is there, as Wait does, and waits for none.
func (s *slice) Take(ctx context.Context, key, name string) (*holdshort.JournalEntry, error) {
	took, body, ok := s.journal.take(name)
	if !ok {
		return nil, nil
	}
	now := s.Now()
	entry := holdshort.JournalEntry{Key: key, Kind: flow.KindWait, Outcome: body, Started: now, Ended: now}
	return &entry, s.record(ctx, nil, entry, tookEntry(key, took, now))
}
