package inbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/apart"
	"github.com/holdshort/holdshort/policy"
)

// liveStream is the connection of one page.
type liveStream struct {
	*visit
	hub     *hub
	line    *ear
	room    *room
	control *http.ResponseController
	buffer  bytes.Buffer
	pushed  time.Time
	told    []byte // the counts that were told last
	broken  error
}

// begin says hello, once it is known what the page has missed.
func (s *liveStream) begin(ctx context.Context) {
	after := positionOf(s.r.URL.Query())
	missed, _ := apart.Do(func() (bool, error) { return s.hub.replay(ctx, s.line, after), nil })
	s.room.show(s.line, s.now)
	s.room.mu.Lock()
	if after != s.line.from || s.line.person.counts == nil && missed {
		s.line.person.want(s.now)
		ring(s.room.due)
	}
	if s.line.person.counts != nil {
		s.line.countsChanged()
	}
	s.room.mu.Unlock()
	s.control.SetReadDeadline(time.Time{}) // a stream outlives the time that a request may take to arrive
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that gathers would keep events back
	s.w.WriteHeader(http.StatusOK)
	s.write("hello", struct {
		Now      int64  `json:"now"`
		Node     string `json:"node"`
		Build    string `json:"build"`
		Position int64  `json:"position"`
		Sealed   int64  `json:"sealed"`
		Keep     int64  `json:"keep"`
		Missed   bool   `json:"missed"`
	}{time.Now().UnixMilli(), s.engine.Node(), s.looks.build, s.line.from, s.hub.sealedAt(ctx, s.who.Tenant), s.options.KeepAlive.Milliseconds(), missed})
	if missed { // it asks for everything: what comes after this position it will be told
		s.mark(s.line.from)
	}
	s.flush()
}

// run sends what comes. The first is sent at once, what follows it gathers for a moment.
func (s *liveStream) run(ctx context.Context) {
	beat := time.NewTimer(s.options.KeepAlive)
	defer beat.Stop()
	again := time.NewTicker(s.hub.recheck)
	defer again.Stop()
	later := time.NewTimer(time.Hour)
	defer later.Stop()
	waits := false
	for s.broken == nil {
		select {
		case <-s.line.hint:
			if wait := s.hub.pace - time.Since(s.pushed); wait > 0 {
				if !waits {
					waits = true
					later.Reset(wait)
				}
				continue
			}
			s.push()
		case <-later.C:
			waits = false
			s.push()
		case <-beat.C:
			s.write("beat", struct {
				Now    int64 `json:"now"`
				Sealed int64 `json:"sealed"`
			}{time.Now().UnixMilli(), s.hub.sealedAt(ctx, s.who.Tenant)})
			s.push()
		case <-again.C:
			if err := s.check(ctx); err != nil {
				s.bye("rights", time.Second, true)
				return
			}
		case <-s.ending.Done():
			s.bye("stop", time.Second, false)
			return
		case <-ctx.Done():
			return
		}
		if s.line.lost() {
			s.bye("lost", time.Second, false)
			return
		}
		beat.Reset(s.options.KeepAlive)
	}
}

var errChanged = errors.New("what they may has changed")

// check asks again who it is and what they may see. A view that depends on the time is asked for anew.
func (s *liveStream) check(ctx context.Context) error {
	_, err := apart.Do(func() (struct{}, error) {
		who, err := s.people.ResolveActor(s.r)
		if err == nil {
			err = who.Check(policy.View)
		}
		if err == nil && (who.Tenant != s.who.Tenant || viewerOf(who).key != s.line.who.key) {
			err = errChanged
		}
		if err != nil {
			return struct{}{}, err
		}
		same := newEar(viewerOf(who), wants{cards: slices.Clone(s.line.wants.cards), run: s.line.wants.run, session: s.line.wants.session})
		if err = s.hub.allow(ctx, same); err == nil && (len(same.wants.cards) != len(s.line.wants.cards) || same.wants.run != s.line.wants.run || same.wants.session != s.line.wants.session) {
			err = errChanged
		}
		return struct{}{}, err
	})
	if err != nil {
		return err
	}
	s.room.mu.Lock()
	if c := s.line.person.counts; c == nil || c.All.N > 0 { // what is due soon changes with the time alone
		s.line.person.want(time.Now())
		ring(s.room.due)
	}
	s.room.mu.Unlock()
	if s.line.wants.rows && s.line.wants.view.Due != "" {
		s.line.ask("time")
	}
	return nil
}

// push sends what waits.
func (s *liveStream) push() {
	l := s.line
	l.mu.Lock()
	at, resync, order, rows, cards, run, session, presence, counts := l.at, l.resync, l.order, l.rows, l.cards, l.run, l.session, l.presence, l.counts
	l.resync, l.order, l.run, l.session, l.counts = "", nil, false, false, false
	if len(order) > 0 {
		l.rows = map[holdshort.RequestID][]byte{}
	}
	if len(cards) > 0 {
		l.cards = map[holdshort.RequestID]string{}
	} else {
		cards = nil // the ear keeps it, and others write to it
	}
	if len(presence) > 0 {
		l.presence = map[holdshort.RequestID]bool{}
	} else {
		presence = nil
	}
	l.mu.Unlock()
	if resync != "" {
		s.write("resync", map[string]string{"why": resync})
	}
	if len(order) > 0 {
		s.writeRows(order, rows)
	}
	if counts {
		s.room.mu.Lock()
		words := l.person.words()
		s.room.mu.Unlock()
		if !bytes.Equal(words, s.told) {
			s.told = words
			s.write("counts", json.RawMessage(words))
		}
	}
	for id, event := range cards {
		s.writeCard(id, event)
	}
	for id := range presence {
		s.write("presence", struct {
			ID  holdshort.RequestID `json:"id"`
			Who []string            `json:"who"`
		}{id, s.room.others(id, l.who.actor)})
	}
	if run {
		s.write("run", map[string]holdshort.RunID{"id": l.wants.run})
	}
	if session {
		s.write("session", map[string]holdshort.SessionID{"id": l.wants.session})
	}
	if s.buffer.Len() > 0 {
		s.mark(at)
		s.flush()
		s.pushed = time.Now()
		s.hub.sent()
	}
}

func (s *liveStream) writeRows(order []holdshort.RequestID, rows map[holdshort.RequestID][]byte) {
	s.head("rows")
	s.buffer.WriteString(`{"upsert":[`)
	var gone []holdshort.RequestID
	first := true
	for _, id := range order {
		row := rows[id]
		if row == nil {
			gone = append(gone, id)
			continue
		}
		if !first {
			s.buffer.WriteByte(',')
		}
		first = false
		s.buffer.Write(row)
	}
	s.buffer.WriteString(`],"gone":[`)
	for i, id := range gone {
		if i > 0 {
			s.buffer.WriteByte(',')
		}
		s.buffer.WriteString(strconv.Quote(string(id)))
	}
	s.buffer.WriteString("]}\n\n")
}

// writeCard says how a request stands, which the room read when it happened.
func (s *liveStream) writeCard(id holdshort.RequestID, event string) {
	out := struct {
		ID       holdshort.RequestID     `json:"id"`
		Status   holdshort.RequestStatus `json:"status,omitempty"`
		Outcome  holdshort.Outcome       `json:"outcome,omitempty"`
		Revision int64                   `json:"revision,omitempty"`
		Event    string                  `json:"event"`
	}{ID: id, Event: event}
	if req := s.room.memory.get(id); req != nil {
		out.Status, out.Outcome, out.Revision = req.StatusAt(time.Now()), req.Outcome, req.Revision
	}
	s.write("card", out)
}

// bye ends the stream: the page comes back after a while, each after a different one.
func (s *liveStream) bye(why string, retry time.Duration, resync bool) {
	s.push() // what waits is told first
	s.write("bye", struct {
		Why    string `json:"why"`
		Retry  int64  `json:"retry"`
		Resync bool   `json:"resync,omitempty"`
	}{why, retry.Milliseconds(), resync})
	s.flush()
}

// mark says that the page has been told everything up to a position. It comes last, so that a page which lost its connection before it asks again.
func (s *liveStream) mark(at int64) {
	s.buffer.WriteString("id: ")
	s.buffer.WriteString(strconv.FormatInt(at, 10))
	s.buffer.WriteString("\n\n")
}

func (s *liveStream) head(event string) {
	s.buffer.WriteString("event: ")
	s.buffer.WriteString(event)
	s.buffer.WriteString("\ndata: ")
}

func (s *liveStream) write(event string, body any) {
	raw, err := oneLine(body)
	if err != nil {
		s.broken = err
		return
	}
	s.head(event)
	s.buffer.Write(raw)
	s.buffer.WriteString("\n\n")
}

// flush sends what was written. A reader who does not read is cut off, and comes back when it does.
func (s *liveStream) flush() {
	s.control.SetWriteDeadline(time.Now().Add(streamTimeout))
	_, err := s.w.Write(s.buffer.Bytes())
	if err == nil {
		err = s.control.Flush()
	}
	s.broken = errors.Join(s.broken, err)
	s.buffer.Reset()
	if s.buffer.Cap() > 64<<10 { // a burst is over some time
		s.buffer = bytes.Buffer{}
	}
}
