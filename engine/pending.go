package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
)

// pending is what a flow recorded and what is not stored yet.
type pending struct {
	entries []holdshort.JournalEntry
	drafts  []holdshort.Request
	alarms  []alarm
	said    []said
	emitted []emitted
	refused []refusedCall
}

// refusedCall is a call that was not made, and why.
type refusedCall struct {
	operationFact
	code holdshort.Code
}

// alarm is a sleep, or the end of a wait; 0 is never.
type alarm struct {
	key   string
	after time.Duration
}

type said struct {
	key     string
	message holdshort.Message
	note    bool // it is sent to nobody
}

type emitted struct {
	name string
	body json.RawMessage
}

// cut takes everything; putBack returns it in front of what was recorded meanwhile.
func (p *pending) cut() pending {
	batch := *p
	*p = pending{}
	return batch
}

func (p *pending) putBack(batch pending) {
	p.entries = append(batch.entries, p.entries...)
	p.drafts = append(batch.drafts, p.drafts...)
	p.alarms = append(batch.alarms, p.alarms...)
	p.said = append(batch.said, p.said...)
	p.emitted = append(batch.emitted, p.emitted...)
	p.refused = append(batch.refused, p.refused...)
}

// speaks: it touches the session, whose row numbers messages and holds the prompt.
func (p pending) speaks() bool {
	return len(p.said) > 0 || slices.ContainsFunc(p.drafts, func(r holdshort.Request) bool { return r.Prompt })
}

// write stores a batch with its run. The run itself is stored by the caller.
func (p pending) write(c *change, run *holdshort.Run, fresh bool) error {
	for _, s := range p.said {
		utter := c.say
		if s.note {
			utter = c.note
		}
		if err := utter(run, s.key, s.message); err != nil {
			return err
		}
	}
	for _, draft := range p.drafts { // after what was said: whoever asked waits, so the rest came before
		if err := c.raise(run, draft, fresh); err != nil {
			return err
		}
	}
	for _, e := range p.entries {
		e.RunID, e.Attempt = run.ID, run.Attempt
		if err := c.AddJournal(e); err != nil {
			return err
		}
	}
	for _, a := range p.alarms {
		if err := c.setAlarm(run, a); err != nil {
			return err
		}
	}
	for _, r := range p.refused {
		if err := c.event("operation.refused", run, &holdshort.Request{ID: holdshort.RequestID(r.Request)}, "system:worker", r.code, r.operationFact); err != nil {
			return err
		}
	}
	for _, m := range p.emitted {
		digest, err := c.AddBody(run.SessionID, run.ID, m.body)
		if err != nil {
			return err
		}
		if err := c.event("flow.emitted", run, nil, "system:worker", holdshort.Code(m.name), map[string]string{"body": digest}); err != nil {
			return err
		}
	}
	return nil
}

// setAlarm records when a sleep or wait ends, by the time of the commit, and sets the timer.
func (c *change) setAlarm(run *holdshort.Run, a alarm) error {
	var set struct {
		Until time.Time `json:"until,omitzero"`
	}
	if a.after > 0 {
		set.Until = c.now.Add(a.after)
		if err := c.alarm(holdshort.Timer{Kind: holdshort.TimerSleep, Subject: string(run.ID), Key: a.key, DueAt: set.Until}); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(set)
	if err != nil {
		return err
	}
	return c.AddJournal(holdshort.JournalEntry{RunID: run.ID, Key: setKey(a.key), Attempt: run.Attempt, Kind: kindTimer, Outcome: raw, Started: c.now, Ended: c.now})
}
