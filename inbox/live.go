package inbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/apart"
	"github.com/holdshort/holdshort/policy"
)

// Live pages: GET /live is a stream of server-sent events for one open page.
//
//	view=QUERY    the page lists requests: the query of its address. Without it no rows are told.
//	card=REQUEST  the page shows this request; up to twelve times. Whoever may not see it is not told of it.
//	run=RUN       the page shows this run
//	session=ID    the page shows this session
//	after=N       the position that the page shows: of its body, or the id of the last event it was told
//
//	hello     {now, node, build, position, sealed, keep, missed}  first. now, sealed: milliseconds; keep: how often something is told at least;
//	          missed: what happened since after cannot be told one by one, ask for everything anew
//	rows      {upsert: [{id, html}], gone: [id]}  requests that changed, in the order of events, and those that left the list
//	counts    {all, mine, unknown, soon, kinds, priorities, oldest}  as texts
//	card      {id, status, outcome, revision, event}  something happened to a request that is shown, or to its run
//	presence  {id, who}  the names of who else has it open
//	run       {id}
//	session   {id}
//	resync    {why}  the page did not read fast enough, or the log has a gap: ask for everything anew
//	beat      {now, position, sealed}  nothing else happened
//	bye       {why, retry, resync}  the last: connect again after so many milliseconds
//
// The id of each is the position up to which the page has been told everything: with it as after nothing is lost, whichever node is asked.
// What comes at once is told at once; then at most every 150 ms, each request once.
func (in *Inbox) liveRoutes() {
	h := newHub(in)
	in.mux.HandleFunc("GET /live", h.serve)
}

func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	v := &visit{Inbox: h.in, w: w, r: r, ctx: r.Context(), prefs: prefsOf(r), now: time.Now()}
	if err := h.stream(v); err != nil {
		h.refuse(v, err)
	}
}

// refuse says no to a script: it needs to know what kind of no.
func (h *hub) refuse(v *visit, err error) {
	p := refusalOf(err)
	if p.Status >= http.StatusInternalServerError && v.ctx.Err() == nil {
		h.in.log.Error("a live page could not be served", "code", p.Code, "error", err)
	}
	if p.Status == http.StatusTooManyRequests && v.w.Header().Get("Retry-After") == "" {
		v.w.Header().Set("Retry-After", "15")
	}
	v.w.Header().Set("Cache-Control", "no-store")
	http.Error(v.w, strings.TrimSpace(p.Detail+"\n"+p.Hint), p.Status)
}

// wantsOf reads what a page shows.
func wantsOf(q url.Values) wants {
	w := wants{run: holdshort.RunID(q.Get("run")), session: holdshort.SessionID(q.Get("session")), rows: q.Has("view")}
	if values, err := url.ParseQuery(strings.TrimPrefix(q.Get("view"), "?")); err == nil { // what cannot be read shows the plain list, like the page
		w.view = viewOf(values)
	}
	for _, id := range q["card"] {
		if id := holdshort.RequestID(id); id != "" && !slices.Contains(w.cards, id) && len(w.cards) < mostCards {
			w.cards = append(w.cards, id)
		}
	}
	return w
}

// stream tells a page what happens until it is closed, whoever looks may no longer, or the server ends. An error means that it never began.
func (h *hub) stream(v *visit) error {
	if err := v.enter(policy.View); err != nil {
		return err
	}
	leave, ok := h.enter(string(v.who.Tenant) + "\x00" + v.who.Actor.ID)
	if !ok {
		return &holdshort.Error{Code: holdshort.LimitReached, Message: "too many pages are open", Hint: "close some of them"}
	}
	defer leave()
	l := newEar(viewerOf(v.who), wantsOf(v.r.URL.Query()))
	if _, err := apart.Do(func() (struct{}, error) { return struct{}{}, h.allow(v.ctx, l) }); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	room, err := h.join(ctx, v.who.Tenant, l)
	if err != nil {
		return err
	}
	defer room.leave(l)
	s := &liveStream{hub: h, visit: v, line: l, room: room, control: http.NewResponseController(v.w)}
	defer s.control.SetWriteDeadline(time.Time{}) // the connection may be used again
	s.begin(ctx)
	s.run(ctx)
	return nil
}

// allow drops what whoever looks may not see: they are told nothing about it, not even that it exists.
func (h *hub) allow(ctx context.Context, l *ear) error {
	tenant, actor := l.who.Tenant, l.who.actor
	gone := func(err error) (bool, error) {
		if code := holdshort.CodeOf(err); code == holdshort.NotFound || code == holdshort.Forbidden || code == holdshort.Invalid {
			return true, nil
		}
		return err != nil, err
	}
	cards := l.wants.cards[:0]
	for _, id := range l.wants.cards {
		seen, err := h.in.engine.RequestFor(ctx, tenant, id, actor)
		if no, err := gone(err); err != nil {
			return err
		} else if no {
			continue
		}
		cards = append(cards, id)
		if run := seen.Request.RunID; run != "" {
			l.runs[run] = append(l.runs[run], id)
		}
	}
	l.wants.cards = cards
	if l.wants.run != "" {
		_, err := h.in.engine.RunFor(ctx, tenant, l.wants.run, actor)
		if no, err := gone(err); err != nil {
			return err
		} else if no {
			l.wants.run = ""
		}
	}
	if l.wants.session != "" {
		_, err := h.in.engine.SessionFor(ctx, tenant, l.wants.session, actor)
		if no, err := gone(err); err != nil {
			return err
		} else if no {
			l.wants.session = ""
		}
	}
	return nil
}

// replay tells a page what happened since it was drawn, or lost its stream. It reports whether that is too much, or no longer known.
func (h *hub) replay(ctx context.Context, l *ear, after int64) (missed bool) {
	room, until := l.room, l.from
	if after == until {
		return false
	}
	if after < 0 || after > until { // never told, or by a log that is no more
		return true
	}
	for read, reread := 0, 0; after < until; {
		page, err := h.in.engine.Events(ctx, room.tenant, engine.EventQuery{After: after})
		glimpses := spokenOf(page.Items)
		read, reread = read+len(page.Items), reread+len(glimpses)
		if err != nil || page.Gap || read > mostReplayed || reread > mostReread {
			return true
		}
		if page.Last <= after {
			break
		}
		after = page.Last
		if room.readAll(ctx, glimpses) != nil {
			return true
		}
		now := time.Now()
		for _, s := range glimpses {
			s.before, s.fresh = nil, false // what the page shows is not known here
			if h.decides(l) {
				l.decided(h, s)
			} else if h.sees(s, l.who.actor) {
				l.see(s, now)
			}
		}
		for i := range page.Items {
			l.hear(&page.Items[i])
		}
	}
	return false
}

// positionOf reads what the page shows; -1: it does not say.
func positionOf(q url.Values) int64 {
	n, err := strconv.ParseInt(q.Get("after"), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

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
	s.write("hello", s.line.from, struct {
		Now      int64  `json:"now"`
		Node     string `json:"node"`
		Build    string `json:"build"`
		Position int64  `json:"position"`
		Sealed   int64  `json:"sealed"`
		Keep     int64  `json:"keep"`
		Missed   bool   `json:"missed"`
	}{time.Now().UnixMilli(), s.engine.Node(), s.looks.build, s.line.from, s.hub.sealedAt(ctx, s.who.Tenant), s.options.KeepAlive.Milliseconds(), missed})
	s.flush()
	s.pushed = time.Time{}
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
			s.write("beat", s.line.position(), struct {
				Now      int64 `json:"now"`
				Position int64 `json:"position"`
				Sealed   int64 `json:"sealed"`
			}{time.Now().UnixMilli(), s.line.position(), s.hub.sealedAt(ctx, s.who.Tenant)})
			s.flush()
			beat.Reset(s.options.KeepAlive)
			continue
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
	}
	if len(presence) > 0 {
		l.presence = map[holdshort.RequestID]bool{}
	}
	l.mu.Unlock()
	if resync != "" {
		s.write("resync", at, map[string]string{"why": resync})
	}
	if len(order) > 0 {
		s.writeRows(at, order, rows)
	}
	if counts {
		s.room.mu.Lock()
		words := l.person.words()
		s.room.mu.Unlock()
		if !bytes.Equal(words, s.told) {
			s.told = words
			s.write("counts", at, json.RawMessage(words))
		}
	}
	for id, event := range cards {
		s.writeCard(at, id, event)
	}
	for id := range presence {
		s.write("presence", at, struct {
			ID  holdshort.RequestID `json:"id"`
			Who []string            `json:"who"`
		}{id, s.room.others(id, l.who.actor)})
	}
	if run {
		s.write("run", at, map[string]holdshort.RunID{"id": l.wants.run})
	}
	if session {
		s.write("session", at, map[string]holdshort.SessionID{"id": l.wants.session})
	}
	if s.buffer.Len() > 0 {
		s.flush()
		s.pushed = time.Now()
		s.hub.sent()
	}
}

func (s *liveStream) writeRows(at int64, order []holdshort.RequestID, rows map[holdshort.RequestID][]byte) {
	s.head("rows", at)
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
func (s *liveStream) writeCard(at int64, id holdshort.RequestID, event string) {
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
	s.write("card", at, out)
}

// bye ends the stream: the page comes back after a while, each after a different one.
func (s *liveStream) bye(why string, retry time.Duration, resync bool) {
	s.write("bye", s.line.position(), struct {
		Why    string `json:"why"`
		Retry  int64  `json:"retry"`
		Resync bool   `json:"resync,omitempty"`
	}{why, retry.Milliseconds(), resync})
	s.flush()
}

func (s *liveStream) head(event string, at int64) {
	s.buffer.WriteString("id: ")
	s.buffer.WriteString(strconv.FormatInt(at, 10))
	s.buffer.WriteString("\nevent: ")
	s.buffer.WriteString(event)
	s.buffer.WriteString("\ndata: ")
}

func (s *liveStream) write(event string, at int64, body any) {
	raw, err := oneLine(body)
	if err != nil {
		s.broken = err
		return
	}
	s.head(event, at)
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
