package inbox

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/apart"
)

// hub tells open pages what happens. However many look at a tenant, one watcher reads its log, each request is read once and its row drawn
// once; what differs from person to person is only whether they are told.
//
//	engine.Watch → room.events → room.tell → ear.take → the stream of one page
//
// Nothing waits for a page: what it has not read yet is one entry for each request, and if that becomes too much the page is told to ask anew.
type hub struct {
	in      *Inbox
	mu      sync.Mutex
	rooms   map[holdshort.TenantID]*room
	open    map[string]int // streams of each person
	noted   map[lookKey]time.Time
	seals   sealClock
	pace    time.Duration // between two pushes to one page
	again   time.Duration // between two readings of somebody's counts
	recheck time.Duration // how old the answer to "who is it" may become
	dwell   time.Duration // how long somebody looks at a request before that is a fact
	sent    func()        // for tests: after each push
}

const (
	mostStreams   = 20               // of one person
	mostPending   = 300              // requests that wait for a page to read
	mostReplayed  = 600              // events that a page may have missed and still be told one by one,
	mostReread    = 100              // and requests that they may be about
	mostCards     = 12               // on one page
	streamTimeout = 10 * time.Second // who takes longer to read is cut off
)

func newHub(in *Inbox) *hub {
	return &hub{in: in, rooms: map[holdshort.TenantID]*room{}, open: map[string]int{}, noted: map[lookKey]time.Time{}, pace: 150 * time.Millisecond, again: 15 * time.Second, recheck: time.Minute, dwell: 3 * time.Second, sent: func() {}}
}

// enter counts the streams of a person: each costs more than a page, and nobody reads twenty.
func (h *hub) enter(person string) (leave func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[person] >= mostStreams {
		return nil, false
	}
	h.open[person]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.open[person]--; h.open[person] == 0 {
			delete(h.open, person)
		}
	}, true
}

// room is a tenant that somebody looks at.
type room struct {
	hub     *hub
	tenant  holdshort.TenantID
	ctx     context.Context
	stop    context.CancelFunc
	events  chan holdshort.Event
	due     chan struct{} // somebody's counts are to be read
	memory  glimpseMemory
	mu      sync.Mutex
	at      int64 // the position that everybody was told up to
	over    bool
	lines   map[*ear]bool
	people  map[string]*watcher
	looking map[holdshort.RequestID]map[string]*looker
}

// join lets a page listen from where its room is: what comes after that position it is told.
func (h *hub) join(ctx context.Context, tenant holdshort.TenantID, l *ear) (*room, error) {
	for {
		h.mu.Lock()
		r := h.rooms[tenant]
		h.mu.Unlock()
		if r == nil {
			at, err := apart.Do(func() (int64, error) { return h.in.engine.Position(ctx, tenant) })
			if err != nil {
				return nil, err
			}
			r = h.begin(tenant, at)
		}
		if r.add(l) {
			return r, nil
		}
		if h.in.ending.Err() != nil {
			return nil, context.Cause(h.in.ending)
		}
	}
}

// begin opens a room, unless somebody else did.
func (h *hub) begin(tenant holdshort.TenantID, at int64) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.rooms[tenant]; r != nil {
		return r
	}
	r := &room{hub: h, tenant: tenant, at: at, events: make(chan holdshort.Event, 512), due: make(chan struct{}, 1), lines: map[*ear]bool{}, people: map[string]*watcher{},
		looking: map[holdshort.RequestID]map[string]*looker{}}
	r.ctx, r.stop = context.WithCancel(h.in.ending)
	h.rooms[tenant] = r
	go r.watch(at)
	go r.listen()
	go r.keepCounts()
	return r
}

// watch reads the log. When it ends, whatever the reason, so does the room: pages come back by themselves and ask for what they missed.
func (r *room) watch(at int64) {
	err := r.hub.in.engine.Watch(r.ctx, r.tenant, engine.WatchInput{After: at}, func(e holdshort.Event) error {
		select {
		case r.events <- e:
			return nil
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	})
	if r.ctx.Err() == nil {
		r.hub.in.log.Warn("live pages lost the log", "tenant", r.tenant, "error", err)
	}
	r.close()
}

// listen hands on what was read, all that is there at once: of a request that several events are about, one look is enough.
func (r *room) listen() {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case e := <-r.events:
			batch := []holdshort.Event{e}
			for len(batch) < cap(r.events) {
				select {
				case e := <-r.events:
					batch = append(batch, e)
					continue
				default:
				}
				break
			}
			if err := r.tell(batch); err != nil {
				if r.ctx.Err() == nil {
					r.hub.in.log.Warn("live pages could not be told", "tenant", r.tenant, "error", err)
				}
				r.close()
				return
			}
		case now := <-every.C:
			r.look(now)
		case <-r.ctx.Done():
			return
		}
	}
}

// close ends the room. Its pages notice, and connect again.
func (r *room) close() {
	r.forget()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	for l := range r.lines {
		l.lose()
	}
	r.stop()
}

func (r *room) forget() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	if r.hub.rooms[r.tenant] == r {
		delete(r.hub.rooms, r.tenant)
	}
}

func (r *room) add(l *ear) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	l.room, l.at, l.from = r, r.at, r.at
	p := r.people[l.who.key]
	if p == nil {
		p = &watcher{actor: l.who.actor, lines: map[*ear]bool{}}
		r.people[l.who.key] = p
	}
	p.lines[l] = true
	l.person = p
	r.lines[l] = true
	return true
}

// leave ends a page's part in the room; a room that nobody is in closes.
func (r *room) leave(l *ear) {
	r.unlook(l)
	r.mu.Lock()
	delete(r.lines, l)
	if delete(l.person.lines, l); len(l.person.lines) == 0 {
		delete(r.people, l.who.key)
	}
	empty := len(r.lines) == 0
	r.over = r.over || empty
	r.mu.Unlock()
	if empty {
		r.forget()
		r.stop()
	}
}

// redraws reports whether a request may look different in a list after an event.
func redraws(e *holdshort.Event) bool {
	if e.Request == "" || !strings.HasPrefix(e.Type, "hitl.") {
		return false
	}
	switch e.Type {
	case "hitl.request.viewed", "hitl.request.revealed", "hitl.request.commented", "hitl.request.claimed":
		return false
	}
	return true
}

// tell hands a piece of the log to everybody in the room.
func (r *room) tell(batch []holdshort.Event) error {
	glimpses := spokenOf(batch)
	if err := eachGlimpse(r.ctx, glimpses, r.read); err != nil {
		return err
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	last := batch[len(batch)-1].Position
	for i := range batch {
		switch batch[i].Type {
		case "hitl.request.viewed":
			r.viewed(&batch[i], now)
		case engine.GapEvent:
			for l := range r.lines {
				l.ask("gap")
			}
		}
	}
	counted := false
	for _, p := range r.people {
		for _, s := range glimpses {
			if r.hub.sees(s, p.actor) {
				counted = p.count(s, now, r.hub.again) || counted
			}
		}
		for l := range p.lines {
			l.take(glimpses, batch, last, now)
		}
	}
	r.at = max(r.at, last)
	if counted {
		ring(r.due)
	}
	return nil
}

func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// spokenOf gives the requests that events are about, each once, in the order in which they were first spoken of.
func spokenOf(batch []holdshort.Event) (order []*glimpse) {
	of := map[holdshort.RequestID]*glimpse{}
	for i := range batch {
		e := &batch[i]
		if !redraws(e) {
			continue
		}
		s := of[e.Request]
		if s == nil {
			s = &glimpse{id: e.Request, since: e.At}
			of[e.Request] = s
			order = append(order, s)
		}
		s.position = e.Position
		switch e.Type {
		case "hitl.request.created", "hitl.interrupt.paused": // the second alone: from a release that did not write the first
			s.fresh = true
		case "hitl.request.decided":
			s.by = e.Actor
		case "hitl.request.assigned":
			s.assigned = true
		}
	}
	return order
}

func eachGlimpse(ctx context.Context, glimpses []*glimpse, read func(context.Context, *glimpse) error) error {
	for _, s := range glimpses {
		if err := read(ctx, s); err != nil && !errors.Is(err, errNoRequest) {
			return err
		}
	}
	return nil
}
