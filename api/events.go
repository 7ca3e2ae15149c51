package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/internal/apart"
	"github.com/holdshort/holdshort/policy"
)

func (s *Server) eventEndpoints() []endpoint {
	f := newFeed(s.engine, s.ending)
	media := "text/event-stream"
	return []endpoint{
		stream("GET", "/v1/sessions/{id}/events", about{tag: "events", summary: "What happens in a session, as server-sent events. Last-Event-ID resumes.", action: policy.View, media: media, wait: true},
			func(c *call, in sessionEvents) error {
				if err := c.sees(in.ID, ""); err != nil {
					return err
				}
				return c.events(f, in.After, in.Types, selection{session: in.ID})
			}),
		stream("GET", "/v1/events", about{tag: "events", summary: "What happens, as server-sent events: of what the caller may see. Last-Event-ID resumes.", action: policy.View, media: media, wait: true},
			func(c *call, in eventQuery) error {
				if err := c.sees(in.Session, in.Run); err != nil {
					return err
				}
				return c.events(f, in.After, in.Types, selection{session: in.Session, run: in.Run})
			}),
	}
}

// sees checks that the caller may see the session and the run, where they are named.
func (c *call) sees(session holdshort.SessionID, run holdshort.RunID) error {
	_, err := apart.Do(func() (_ none, err error) {
		if session != "" {
			_, err = c.engine.SessionFor(c.ctx, c.who.Tenant, session, c.who.Actor)
		}
		if run != "" && err == nil {
			_, err = c.engine.RunFor(c.ctx, c.who.Tenant, run, c.who.Actor)
		}
		return none{}, err
	})
	return err
}

type sessionEvents struct {
	ID    holdshort.SessionID `path:"id"`
	After string              `query:"after"` // a position; default: from now on
	Types []string            `query:"type"`  // globs over names; default: all
}

type eventQuery struct {
	Session holdshort.SessionID `query:"session"`
	Run     holdshort.RunID     `query:"run"`
	After   string              `query:"after"`
	Types   []string            `query:"type"`
}

// Event is an audit fact as it is shown.
type Event struct {
	ID       holdshort.EventID   `json:"id,omitempty"`
	Position int64               `json:"position"`
	Type     string              `json:"type"`
	At       time.Time           `json:"at,omitzero"`
	Session  holdshort.SessionID `json:"session_id,omitempty"`
	Run      holdshort.RunID     `json:"run_id,omitempty"`
	Request  holdshort.RequestID `json:"request_id,omitempty"`
	Trace    string              `json:"trace_id,omitempty"`
	Flow     string              `json:"flow,omitempty"`
	Actor    string              `json:"actor,omitempty"`
	Channel  string              `json:"channel,omitempty"`
	Code     string              `json:"code,omitempty"`
	Data     json.RawMessage     `json:"data,omitempty"`
}

func shownEvent(e holdshort.Event) Event {
	return Event{ID: e.ID, Position: e.Position, Type: e.Type, At: e.At, Session: e.Session, Run: e.Run, Request: e.Request, Trace: e.Trace, Flow: e.Flow, Actor: e.Actor,
		Channel: e.Channel, Code: e.Code, Data: e.Data}
}

const (
	mostGlobs    = 20
	longestGlob  = 100
	writeWithin  = 10 * time.Second // who takes longer to read is cut off, and resumes
	checkAgain   = time.Second      // how old the answer to "who is it" may be when an event is told
	retryMillis  = "1000"
	largestBatch = 64 << 10 // bytes before they are sent
)

// globs reads filters over names: several, or several in one with commas.
func globs(values []string) ([]string, error) {
	var out []string
	for _, v := range values {
		for _, g := range strings.Split(v, ",") {
			if g = strings.TrimSpace(g); g == "" {
				continue
			}
			if len(g) > longestGlob || strings.ContainsFunc(g, func(r rune) bool {
				return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:*", r))
			}) {
				return nil, bad("type", "it is not the name of an event or a pattern of names", "write it like hitl.request.* or run.completed")
			}
			out = append(out, g)
		}
	}
	if len(out) > mostGlobs {
		return nil, bad("type", "more than 20 patterns", "use fewer, or none for everything")
	}
	return out, nil
}

// position reads where a stream goes on: a browser that lost its stream says so in a header, and that is newer than what its address says.
func (c *call) position(after string) (int64, error) {
	field := "after"
	if last := c.r.Header.Get("Last-Event-ID"); last != "" {
		field, after = "Last-Event-ID", last
	}
	if after == "" {
		return fromNow, nil
	}
	n, err := strconv.ParseInt(after, 10, 64)
	if err != nil || n < 0 {
		return 0, bad(field, "it is not the id of an event of this stream", "send the id of the last event that you saw; 0: from the beginning")
	}
	return n, nil
}

// events serves a stream of events until the caller leaves, may no longer look, or the server stops.
func (c *call) events(f *feed, from string, types []string, sel selection) error {
	after, err := c.position(from)
	if err != nil {
		return err
	}
	if sel.types, err = globs(types); err != nil {
		return err
	}
	if c.r.Method == http.MethodHead {
		c.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		return nil
	}
	leave, ok := c.streams.enter(string(c.who.Tenant) + "\x00" + c.who.Actor.ID)
	if !ok {
		return &holdshort.Error{Code: holdshort.LimitReached, Message: "too many streams are open for this caller", Hint: "close one, or share one"}
	}
	defer leave()
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	defer context.AfterFunc(c.ending, cancel)()
	defer http.NewResponseController(c.w).SetWriteDeadline(time.Time{}) // the connection may be used again
	out := &eventStream{call: c, sights: f.sights, control: http.NewResponseController(c.w), checked: time.Now(), all: seesAll(c.who)}
	to := ear{begin: out.begin, event: out.event, flush: out.flush, quiet: out.quiet, every: c.options.KeepAlive}
	if sel.wantsDeltas() {
		pieces, stop := c.engine.Listen(c.who.Tenant, sel.session, sel.run)
		defer stop()
		to.pieces, to.piece = pieces, out.delta
	}
	err = f.follow(ctx, c.who.Tenant, sel, after, to)
	if !out.begun {
		return err
	}
	if ctx.Err() == nil {
		out.fail(err)
	}
	return nil
}

// eventStream writes events in the format of server-sent events. Nothing but its buffer, while it has something to send, is its own.
type eventStream struct {
	*call
	sights  *sights
	control *http.ResponseController
	buffer  *bytes.Buffer
	begun   bool
	all     bool      // whoever listens may see everything
	checked time.Time // when we last asked who it is
}

var eventBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (s *eventStream) begin(position int64) error {
	s.control.SetReadDeadline(time.Time{}) // a stream outlives the time that a request may take to arrive
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that gathers would keep events back
	s.w.WriteHeader(http.StatusOK)
	s.begun = true
	id := strconv.FormatInt(position, 10)
	s.write("retry: " + retryMillis + "\nid: " + id + "\nevent: connected\ndata: {\"position\":" + id + "}\n\n")
	return s.flush()
}

func (s *eventStream) write(text string) {
	if s.buffer == nil {
		s.buffer = eventBuffers.Get().(*bytes.Buffer)
		s.buffer.Reset()
	}
	s.buffer.WriteString(text)
}

// flush sends what was written. A reader who does not read is cut off: it resumes where it was.
func (s *eventStream) flush() error {
	if s.buffer == nil {
		return nil
	}
	b := s.buffer
	s.buffer = nil
	defer eventBuffers.Put(b)
	_, err := apart.Do(func() (_ none, err error) {
		s.control.SetWriteDeadline(time.Now().Add(writeWithin))
		if _, err = s.w.Write(b.Bytes()); err == nil {
			err = s.control.Flush()
		}
		return none{}, err
	})
	return err
}

// event tells an event to whoever may still see it.
func (s *eventStream) event(seen *sighting) error {
	if time.Since(s.checked) >= checkAgain {
		if err := s.check(); err != nil {
			return err
		}
	}
	if !s.all {
		ok, err := s.sights.visible(s.ctx, s.who.Tenant, seen, s.who.Actor)
		if err != nil || !ok {
			return err
		}
	}
	raw, err := json.Marshal(shownEvent(seen.Event))
	if err != nil {
		return err
	}
	s.write("id: " + strconv.FormatInt(seen.Position, 10) + "\nevent: " + seen.Type + "\ndata: ")
	s.buffer.Write(raw) // JSON has no line breaks of its own
	s.buffer.WriteString("\n\n")
	if s.buffer.Len() > largestBatch {
		return s.flush()
	}
	return nil
}

// quiet keeps the connection alive, and ends it for those whose key was revoked meanwhile.
func (s *eventStream) quiet() error {
	if err := s.check(); err != nil {
		return err
	}
	s.write(": still here\n\n")
	return s.flush()
}

// check asks again who it is: keys are revoked and roles are taken away while streams are open.
func (s *eventStream) check() error {
	who, err := apart.Do(func() (identity.Who, error) { return s.people.ResolveActor(s.r) })
	if err != nil {
		return err
	}
	if err := s.same(who); err != nil {
		return err
	}
	s.who, s.all, s.checked = who, seesAll(who), time.Now()
	return nil
}

func (s *eventStream) same(who identity.Who) error {
	if who.Tenant != s.who.Tenant || who.Actor.ID != s.who.Actor.ID || !who.Allows(s.about.action) {
		return &holdshort.Error{Code: holdshort.Forbidden, Message: "these credentials may no longer look", Hint: "authenticate again"}
	}
	return nil
}

// fail says why the stream ends: the status is sent long ago.
func (s *eventStream) fail(err error) {
	if err == nil {
		return
	}
	raw, e := json.Marshal(s.problem(err))
	if e != nil {
		return
	}
	s.write("event: error\ndata: " + string(raw) + "\n\n")
	s.flush() // whoever does not listen any more cannot be told
}
