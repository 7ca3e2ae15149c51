package inbox

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/apart"
)

// watcher is somebody in a room, however many pages they have open. Their counts go up and down with what happens, and are read anew every
// now and then while something does: a sum of changes drifts, a count does not. Everything here is guarded by the room's lock.
type watcher struct {
	actor   holdshort.Actor
	lines   map[*ear]bool
	counts  *engine.Counts // nil: never read
	text    []byte         // as pages are told
	since   int64          // the counts have everything up to this position,
	until   int64          // nothing after this one, and what lies between perhaps
	missed  []*glimpse     // what happened while they were being read
	reading bool
	changed bool      // something happened since they were read
	doubt   bool      // something happened while they were being read: it may be in them or not
	hurried bool      // they were read sooner than usual because of a doubt
	due     time.Time // when they are to be read; zero: not before something happens
}

const doubtAgain = time.Second

// want has the counts read soon: a page has none, or doubts them.
func (p *watcher) want(now time.Time) {
	if p.due.IsZero() || p.due.After(now) {
		p.due = now
	}
}

// count takes a request into the counts, and reports whether they are to be read.
func (p *watcher) count(s *glimpse, now time.Time, again time.Duration) bool {
	if !waits(s.counted) && !waits(s.now) {
		return false
	}
	p.changed = true
	if p.due.IsZero() {
		p.due = now
		if p.counts != nil {
			p.due = now.Add(jitter(again))
		}
	}
	switch {
	case p.reading:
		p.missed = append(p.missed, s)
	case p.counts != nil:
		p.apply(s, now)
		if p.doubt && !p.hurried {
			p.hurry(now)
		}
	}
	return true
}

func (p *watcher) apply(s *glimpse, now time.Time) {
	if s.position <= p.until {
		p.doubt = p.doubt || s.position > p.since
		return
	}
	p.doubt = p.doubt || !s.sure
	add := func(req *holdshort.Request, by int) {
		if !waits(req) {
			return
		}
		c := p.counts
		c.All = plusCount(c.All, by)
		c.ByKind[req.Kind] = plusCount(c.ByKind[req.Kind], by)
		c.ByPriority[req.Priority] = plusCount(c.ByPriority[req.Priority], by)
		if req.Assignee != "" && req.Assignee == p.actor.Who() {
			c.Mine = plusCount(c.Mine, by)
		}
		if req.Kind == holdshort.Reconcile {
			c.Unknown = plusCount(c.Unknown, by)
		}
		if due := req.Due(); !due.IsZero() && due.Before(now.Add(soon)) {
			c.Soon = plusCount(c.Soon, by)
		}
		if by > 0 && (c.Oldest.IsZero() || req.CreatedAt.Before(c.Oldest)) {
			c.Oldest = req.CreatedAt
		}
	}
	add(s.counted, -1)
	add(s.now, 1)
	p.say()
}

// plusCount changes a count. What is more than a thousand stays so until it is read anew.
func plusCount(c engine.Count, by int) engine.Count {
	if c.More {
		return c
	}
	c.N = max(0, c.N+by)
	if c.N > 1000 {
		c.N, c.More = 1000, true
	}
	return c
}

// hurry has the counts read again soon if they are in doubt, but not time after time while much happens.
func (p *watcher) hurry(now time.Time) {
	if p.hurried = p.doubt && !p.hurried; p.hurried {
		p.due = now.Add(jitter(doubtAgain))
	}
}

// countsText is the counts as pages show them.
func countsText(c engine.Counts) []byte {
	out := struct {
		All        string            `json:"all"`
		Mine       string            `json:"mine"`
		Unknown    string            `json:"unknown"`
		Soon       string            `json:"soon"`
		Kinds      map[string]string `json:"kinds"`
		Priorities map[string]string `json:"priorities"`
		Oldest     int64             `json:"oldest"`
	}{count(c.All), count(c.Mine), count(c.Unknown), count(c.Soon), map[string]string{}, map[string]string{}, 0}
	for kind, n := range c.ByKind {
		if n.N > 0 || n.More {
			out.Kinds[string(kind)] = count(n)
		}
	}
	for priority, n := range c.ByPriority {
		if n.N > 0 || n.More {
			out.Priorities[string(priority)] = count(n)
		}
	}
	if !c.Oldest.IsZero() && (c.All.N > 0 || c.All.More) {
		out.Oldest = c.Oldest.UnixMilli()
	}
	raw, _ := json.Marshal(out) // strings and a number: it cannot fail
	return raw
}

// say has the pages told. What exactly is put into words when one asks: much may happen before that.
func (p *watcher) say() {
	p.text = nil
	for l := range p.lines {
		l.countsChanged()
	}
}

// words are the counts as pages are told, nil as long as they were never read.
func (p *watcher) words() []byte {
	if p.text == nil && p.counts != nil {
		p.text = countsText(*p.counts)
	}
	return p.text
}

// keepCounts reads the counts of whoever is due, one after the other: a thousand pages that open at once do not ask the store at once.
func (r *room) keepCounts() {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-r.due:
		case <-every.C:
		case <-r.ctx.Done():
			return
		}
		for p := r.nextDue(time.Now()); p != nil; p = r.nextDue(time.Now()) {
			r.readCounts(p)
		}
	}
}

func (r *room) nextDue(now time.Time) *watcher {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.people {
		if !p.due.IsZero() && !p.due.After(now) {
			p.reading, p.changed, p.due, p.missed = true, false, time.Time{}, nil
			return p
		}
	}
	return nil
}

func (r *room) readCounts(p *watcher) {
	var since, until int64
	counts, err := apart.Do(func() (c engine.Counts, err error) {
		ctx, cancel := context.WithTimeout(r.ctx, r.hub.in.options.Timeout)
		defer cancel()
		if since, err = r.hub.in.engine.Position(ctx, r.tenant); err != nil {
			return c, err
		}
		if c, err = r.hub.in.engine.DeskCounts(ctx, r.tenant, p.actor); err != nil {
			return c, err
		}
		until, err = r.hub.in.engine.Position(ctx, r.tenant)
		return c, err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	missed := p.missed
	p.reading, p.missed = false, nil
	if err != nil {
		if r.ctx.Err() == nil {
			r.hub.in.log.Warn("counts of live pages could not be read", "tenant", r.tenant, "error", err)
		}
		p.due = now.Add(jitter(r.hub.again))
		return
	}
	if counts.ByKind == nil {
		counts.ByKind = map[holdshort.Kind]engine.Count{}
	}
	if counts.ByPriority == nil {
		counts.ByPriority = map[holdshort.Priority]engine.Count{}
	}
	p.counts, p.since, p.until, p.doubt = &counts, since, until, false
	for _, s := range missed {
		p.apply(s, now)
	}
	if p.changed {
		p.due = now.Add(jitter(r.hub.again))
	}
	p.hurry(now)
	p.say()
}

func jitter(d time.Duration) time.Duration {
	return d - d/4 + time.Duration(rand.Int64N(int64(d/2)+1))
}

// sealClock remembers how far the log is signed. It is the same for all.
type sealClock struct {
	mu   sync.Mutex
	at   time.Time
	read time.Time
}

const sealsAgain = 5 * time.Second

func (h *hub) sealedAt(ctx context.Context, tenant holdshort.TenantID) int64 {
	h.seals.mu.Lock()
	defer h.seals.mu.Unlock()
	if now := time.Now(); now.Sub(h.seals.read) > sealsAgain {
		h.seals.read = now
		if s, err := apart.Do(func() (engine.SealStatus, error) { return h.in.engine.SealStatus(ctx, tenant) }); err == nil {
			h.seals.at = s.SealedAt
		}
	}
	if h.seals.at.IsZero() {
		return 0
	}
	return h.seals.at.UnixMilli()
}
