package engine

import (
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
	"github.com/holdshort/holdshort/store"
)

// Delta is a piece of a text that a run is making. It is heard on the node that makes it, by whoever listens then, and stored nowhere: the
// whole text comes as a message.
type Delta struct {
	Session holdshort.SessionID `json:"session_id,omitempty"`
	Run     holdshort.RunID     `json:"run_id"`
	Message holdshort.MessageID `json:"message_id"`
	Attempt int                 `json:"attempt"` // of the text; a new one begins it again
	Seq     int                 `json:"seq"`     // from 1 in each attempt
	Text    string              `json:"text,omitempty"`
	Reset   bool                `json:"-"` // what came of the message so far counts for nothing
}

// deltas hands pieces of text to listeners. A listener that falls behind loses the rest of the message, never a piece in its middle.
type deltas struct {
	mu        sync.Mutex
	listeners map[spot]map[*listener]bool
	muted     map[sessionKey]time.Time
}

type sessionKey struct {
	tenant  holdshort.TenantID
	session holdshort.SessionID
}

// spot is where somebody listens: at a session, or at a run.
type spot struct {
	tenant holdshort.TenantID
	id     string
}

type listener struct {
	pieces chan Delta
	lost   holdshort.MessageID // it fell behind in this one
}

const deltaRoom = 64

// Listen gives the pieces of texts that runs of a session, or one run, are making on this node, until stop is called.
func (e *Engine) Listen(tenant holdshort.TenantID, session holdshort.SessionID, run holdshort.RunID) (pieces <-chan Delta, stop func()) {
	l := &listener{pieces: make(chan Delta, deltaRoom)}
	at := spot{tenant, string(session)}
	if session == "" {
		at.id = string(run)
	}
	d := &e.deltas
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listeners == nil {
		d.listeners = map[spot]map[*listener]bool{}
	}
	if d.listeners[at] == nil {
		d.listeners[at] = map[*listener]bool{}
	}
	d.listeners[at][l] = true
	return l.pieces, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.listeners[at], l)
		if len(d.listeners[at]) == 0 {
			delete(d.listeners, at)
		}
	}
}

// heard reports whether anybody listens.
func (d *deltas) heard(tenant holdshort.TenantID, run holdshort.Run) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.listeners[spot{tenant, string(run.ID)}]) > 0 || run.SessionID != "" && len(d.listeners[spot{tenant, string(run.SessionID)}]) > 0
}

func (d *deltas) send(tenant holdshort.TenantID, piece Delta, began time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at, ok := d.muted[sessionKey{tenant, piece.Session}]; ok && !at.Before(began) {
		return
	}
	for _, id := range []string{string(piece.Run), string(piece.Session)} {
		if id == "" {
			continue
		}
		for l := range d.listeners[spot{tenant, id}] {
			if l.lost == piece.Message {
				continue
			}
			select {
			case l.pieces <- piece:
			default:
				l.lost = piece.Message
			}
		}
	}
}

// mute ends the streams of a session that a person has taken over.
func (d *deltas) mute(tenant holdshort.TenantID, session holdshort.SessionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if d.muted == nil {
		d.muted = map[sessionKey]time.Time{}
	}
	for key, at := range d.muted { // no answer of a model takes that long
		if now.Sub(at) > time.Hour {
			delete(d.muted, key)
		}
	}
	d.muted[sessionKey{tenant, session}] = now
}

// stream is one text in the making.
type stream struct {
	s     *slice
	began time.Time
	piece Delta
}

// Stream gives where the text of a Model effect goes, nil if nobody listens or may: while a person has the session the AI is silent, and what a
// hook may have to take out of a text is not shown before it had a look.
func (s *slice) Stream(key string) flow.Stream {
	run := s.snapshot()
	if s.e.config.Redact != nil || !s.e.deltas.heard(s.tenant, run) {
		return nil
	}
	now := time.Now() // a takeover after this ends the stream, one before it is seen below
	if run.SessionID != "" {
		session, err := view(s.ctx, s.e, s.tenant, func(tx store.ReadTx) (holdshort.Session, error) { return tx.Session(run.SessionID) })
		if err != nil || session.Mode == holdshort.ModeTakeover {
			return nil
		}
	}
	return &stream{s: s, began: now, piece: Delta{Session: run.SessionID, Run: run.ID, Message: holdshort.NewMessageID(now), Attempt: 1}}
}

func (t *stream) Text(piece string) {
	if piece == "" {
		return
	}
	t.piece.Seq++
	next := t.piece
	next.Text = piece
	t.s.e.deltas.send(t.s.tenant, next, t.began)
}

func (t *stream) Restart() {
	t.piece.Attempt++
	t.piece.Seq = 0
	next := t.piece
	next.Reset = true
	t.s.e.deltas.send(t.s.tenant, next, t.began)
}

func (t *stream) Message() holdshort.MessageID { return t.piece.Message }
