package inbox

import (
	"context"
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
//	after=N       the position up to which the list and the cards of the page show every event. Each has its own, sent with
//	              its HTML and moved on by the ids of the stream that follows it; the page sends the oldest.
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
//	beat      {now, sealed}  nothing else happened
//	bye       {why, retry, resync}  the last: connect again after so many milliseconds
//
// An id, which stands alone behind what is told at once, is the position up to which the page has been told everything: with it as after nothing is
// lost, whichever node is asked next.
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
	if after < 0 {
		return true
	}
	if after > until { // the page was drawn from the log before the room read that far
		last, err := h.in.engine.Position(ctx, room.tenant)
		return err != nil || after > last
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
		if eachGlimpse(ctx, glimpses, room.peek) != nil {
			return true
		}
		for _, s := range glimpses {
			s.old = true
		}
		l.take(glimpses, page.Items, 0, time.Now())
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
