package api

import (
	"encoding/json"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// Names under which pieces of a text in the making are told. They are no facts: they have no position, nobody can ask for them again, and the
// whole text comes as a message.
const (
	deltaEvent = "message.delta"
	resetEvent = "message.reset" // what came of the message so far counts for nothing
)

// wantsDeltas reports whether a listener hears pieces of texts: of one session or one run, unless it wants only other events.
func (s selection) wantsDeltas() bool {
	return (s.session != "" || s.run != "") && (holdshort.MatchEvent(deltaEvent, s.types) || holdshort.MatchEvent(resetEvent, s.types))
}

// delta tells a piece of a text to whoever may still see its session.
func (s *eventStream) delta(d engine.Delta) error {
	if time.Since(s.checked) >= checkAgain {
		if err := s.check(); err != nil {
			return err
		}
	}
	if ok, err := s.hears(d); err != nil || !ok {
		return err
	}
	return s.piece(d)
}

// hears reports whether whoever listens may see what a run says: the session's owner and those who see everything do, whoever is merely
// asked something about the run does not.
func (s *eventStream) hears(d engine.Delta) (bool, error) {
	if s.all {
		return true, nil
	}
	about, err := s.sights.of(s.ctx, s.who.Tenant, holdshort.Event{Session: d.Session, Run: d.Run})
	if err != nil {
		return false, err
	}
	if d.Session != "" {
		ok, _ := policy.Can(policy.View, s.who.Actor, policy.Resource{Owner: about.owner})
		return ok && about.owner != "", nil
	}
	return about.run != nil && s.engine.Visible(s.who.Actor, nil, about.run), nil
}

// piece writes one, without an id: a reader that resumes goes on after the last fact.
func (s *eventStream) piece(d engine.Delta) error {
	name := deltaEvent
	if d.Reset {
		name = resetEvent
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	s.write("event: " + name + "\ndata: " + string(raw) + "\n\n")
	if s.buffer.Len() > largestBatch {
		return s.flush()
	}
	return nil
}
