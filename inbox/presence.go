package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/apart"
)

// looker is somebody who has a request open: on this node for as long as a page of theirs does, on another for a while after the log says so.
type looker struct {
	actor holdshort.Actor
	name  string
	pages int
	since time.Time
	until time.Time // of somebody on another node
	noted bool
}

// lookKey is somebody's look at a request.
type lookKey struct {
	tenant  holdshort.TenantID
	request holdshort.RequestID
	actor   string
}

const (
	lookFades = 2 * time.Minute  // how long somebody on another node counts as looking
	noteAgain = 10 * time.Minute // how often it is written down that somebody looks at a request
	mostNoted = 20_000
)

// show says that a page has its cards open.
func (r *room) show(l *ear, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.shown = true
	for _, id := range l.wants.cards {
		at := r.lookers(id)
		seen := at[l.who.actor.ID]
		if seen == nil {
			seen = &looker{actor: l.who.actor, since: now}
			at[l.who.actor.ID] = seen
		}
		seen.name, seen.actor = nameOf(l.who.actor), l.who.actor
		if seen.pages++; seen.pages == 1 {
			seen.since = now
			r.presenceChanged(id)
		} else {
			l.presenceChanged(id)
		}
	}
}

func (r *room) lookers(id holdshort.RequestID) map[string]*looker {
	if r.looking[id] == nil {
		r.looking[id] = map[string]*looker{}
	}
	return r.looking[id]
}

// unlook says that a page is gone.
func (r *room) unlook(l *ear) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.shown {
		return
	}
	for _, id := range l.wants.cards {
		seen := r.looking[id][l.who.actor.ID]
		if seen == nil {
			continue
		}
		if seen.pages--; seen.pages <= 0 {
			r.drop(id, l.who.actor.ID)
		}
	}
}

func (r *room) drop(id holdshort.RequestID, actor string) {
	delete(r.looking[id], actor)
	if len(r.looking[id]) == 0 {
		delete(r.looking, id)
	}
	r.presenceChanged(id)
}

// presenceChanged tells those who have the request open.
func (r *room) presenceChanged(id holdshort.RequestID) {
	for l := range r.lines {
		if l.shown && slices.Contains(l.wants.cards, id) {
			l.presenceChanged(id)
		}
	}
}

// others are the names of who else looks at a request.
func (r *room) others(id holdshort.RequestID, me holdshort.Actor) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := []string{}
	for _, seen := range r.looking[id] {
		if !seen.actor.Same(me) {
			names = append(names, seen.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// viewed takes from the log that somebody looks. What this node wrote there itself it knows better.
func (r *room) viewed(e *holdshort.Event, now time.Time) {
	if now.Sub(e.At) > lookFades || e.Actor == "" || r.hub.wrote(lookKey{r.tenant, e.Request, e.Actor}) {
		return
	}
	at := r.lookers(e.Request)
	seen := at[e.Actor]
	if seen == nil {
		seen = &looker{actor: holdshort.Actor{ID: e.Actor}, name: e.Actor, since: now, noted: true}
		at[e.Actor] = seen
		r.presenceChanged(e.Request)
	}
	seen.until = e.At.Add(lookFades)
}

// look lets old looks fade, and writes down those that last: who only passes through a list has not looked at everything in it.
func (r *room) look(now time.Time) {
	type note struct {
		id    holdshort.RequestID
		actor holdshort.Actor
	}
	var notes []note
	r.mu.Lock()
	for id, all := range r.looking {
		for actor, seen := range all {
			switch {
			case seen.pages == 0 && now.After(seen.until):
				r.drop(id, actor)
			case seen.pages > 0 && !seen.noted && now.Sub(seen.since) >= r.hub.dwell:
				seen.noted = true
				notes = append(notes, note{id, seen.actor})
			}
		}
	}
	r.mu.Unlock()
	for _, n := range notes {
		if !r.hub.note(lookKey{r.tenant, n.id, n.actor.ID}, now) {
			continue
		}
		go apart.Do(func() (struct{}, error) {
			ctx, cancel := context.WithTimeout(r.ctx, r.hub.in.options.Timeout)
			defer cancel()
			err := r.hub.in.engine.Viewed(ctx, r.tenant, n.id, n.actor)
			if err != nil && ctx.Err() == nil && holdshort.CodeOf(err) != holdshort.NotFound {
				r.hub.in.log.Warn("a look at a request could not be noted", "tenant", r.tenant, "request", n.id, "error", err)
			}
			return struct{}{}, err
		})
	}
}

// note reports whether a look is to be written down now.
func (h *hub) note(k lookKey, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at, ok := h.noted[k]; ok && now.Sub(at) < noteAgain {
		return false
	}
	if len(h.noted) >= mostNoted {
		for old, at := range h.noted {
			if now.Sub(at) >= noteAgain {
				delete(h.noted, old)
			}
		}
		if len(h.noted) >= mostNoted { // a crowd: rather one event too many than memory without end
			clear(h.noted)
		}
	}
	h.noted[k] = now
	return true
}

// wrote reports whether this node wrote a look down.
func (h *hub) wrote(k lookKey) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.noted[k]
	return ok
}
