package inbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
)

// glimpse is a request that something happened to, read and drawn once for everybody who looks.
type glimpse struct {
	id       holdshort.RequestID
	position int64
	fresh    bool               // it was asked just now: it was not counted before
	old      bool               // it is told again, to a page that may have heard newer things already
	by       string             // who decided it
	assigned bool               // it was given to somebody, or to nobody
	now      *holdshort.Request // as far as lists and rights need it; nil: it is no more
	before   *holdshort.Request // as it was when it was last seen; nil: that is forgotten
	counted  *holdshort.Request // as it was counted until now, as far as can be told; nil: it was not
	sure     bool               // so it was, and not only as far as can be told
	since    time.Time          // of the first event of it
	rights   *holdshort.Request // the same as if it were open: by it is decided who may be told; nil: nobody
	row      []byte             // {"id":…,"html":…}
}

var errNoRequest = errors.New("there is no such request any more")

// read looks a request up for everybody in the room, and remembers how it was.
func (r *room) read(ctx context.Context, s *glimpse) error {
	if err := r.peek(ctx, s); err != nil {
		return err
	}
	r.memory.put(s.now)
	return nil
}

// peek looks a request up and draws it. What one page is told by it the room has still to tell the others, so nothing is remembered.
func (r *room) peek(ctx context.Context, s *glimpse) error {
	s.before = r.memory.get(s.id)
	req, err := r.hub.in.engine.RequestByID(ctx, r.tenant, s.id)
	if holdshort.CodeOf(err) == holdshort.NotFound {
		s.rights, s.counted, s.sure = asOpen(s.before), s.before, true
		return errNoRequest
	}
	if err != nil {
		return err
	}
	if s.row, err = drawRow(r.hub.in.looks, req); err != nil {
		return err
	}
	s.now = slim(req)
	s.rights = asOpen(s.now)
	s.guess()
	return nil
}

// guess finds out what a request was counted as before. What was closed by these events was open before them; what is open still was open then,
// and nothing but its assignee can have changed. Who that was before is not known.
func (s *glimpse) guess() {
	s.counted, s.sure = s.before, true
	if s.before != nil || s.fresh {
		return
	}
	open := s.now.Status == holdshort.RequestOpen
	closed := s.now.ClosedAt.After(s.now.CreatedAt) && !s.since.After(s.now.ClosedAt) // not one that a rule decided as it was asked
	if !open && !closed {
		return
	}
	was := *s.rights
	if s.assigned {
		was.Assignee, s.sure = "", false
	}
	s.counted = &was
}

func drawRow(l *looks, req holdshort.Request) ([]byte, error) {
	html, err := l.text("row", rowOf(req, time.Now()))
	if err != nil {
		return nil, err
	}
	return oneLine(struct {
		ID   holdshort.RequestID `json:"id"`
		HTML string              `json:"html"`
	}{req.ID, html})
}

// oneLine is JSON on one line, and without the escapes that only pages need.
func oneLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// slim leaves out what a request carries: arguments, texts and schemas can be large, and nobody needs them to know whom it concerns.
func slim(req holdshort.Request) *holdshort.Request {
	return &holdshort.Request{ID: req.ID, Revision: req.Revision, Kind: req.Kind, Status: req.Status, Outcome: req.Outcome, SessionID: req.SessionID, RunID: req.RunID, Audience: req.Audience, Requester: req.Requester,
		Assignee: req.Assignee, Priority: req.Priority, CreatedAt: req.CreatedAt, AskedAt: req.AskedAt, QueueUntil: req.QueueUntil, ExpiresAt: req.ExpiresAt, ClosedAt: req.ClosedAt, OnTimeout: req.OnTimeout}
}

// glimpseMemory is what requests were like when they were last seen. It is of a fixed size: what has not been asked for in a while is forgotten.
type glimpseMemory struct {
	mu         sync.Mutex
	young, old map[holdshort.RequestID]*holdshort.Request
}

const mostRemembered = 2048 // of each age

func (m *glimpseMemory) get(id holdshort.RequestID) *holdshort.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	if req := m.young[id]; req != nil {
		return req
	}
	return m.old[id]
}

func (m *glimpseMemory) put(req *holdshort.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, known := range []*holdshort.Request{m.young[req.ID], m.old[req.ID]} {
		if known != nil && known.Revision > req.Revision { // two read it, and this one was slower
			return
		}
	}
	if m.young == nil || len(m.young) >= mostRemembered {
		m.young, m.old = map[holdshort.RequestID]*holdshort.Request{}, m.young
	}
	m.young[req.ID] = req
}

// sees reports whether a request is on somebody's desk, or was while it was open: only then are they told anything about it.
func (h *hub) sees(s *glimpse, actor holdshort.Actor) bool {
	return s.rights != nil && h.in.engine.OnDesk(s.rights, actor)
}

func asOpen(req *holdshort.Request) *holdshort.Request {
	if req == nil {
		return nil
	}
	open := *req
	open.Status = holdshort.RequestOpen
	return &open
}

// waits reports whether a request counts as one that waits for somebody. nil does not.
func waits(req *holdshort.Request) bool { return req != nil && req.Status == holdshort.RequestOpen }
