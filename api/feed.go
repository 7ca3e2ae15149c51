package api

import (
	"context"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/internal/apart"
)

// feed hands events to whoever listens. However many listen to a tenant, one tail reads its log; a listener who falls behind reads on from
// the log by position, so nobody holds up anybody and nothing is kept for those who do not read.
type feed struct {
	engine *engine.Engine
	ending context.Context // of the server
	mu     sync.Mutex
	tails  map[holdshort.TenantID]*tail
	sights *sights
}

func newFeed(e *engine.Engine, ending context.Context) *feed {
	return &feed{engine: e, ending: ending, tails: map[holdshort.TenantID]*tail{}, sights: newSights(e)}
}

// selection is what a listener wants to hear.
type selection struct {
	session holdshort.SessionID
	run     holdshort.RunID
	types   []string
}

// key says under which name a listener stands, so that an event is compared only with those whom it may concern.
func (s selection) key() string {
	if s.run != "" {
		return string(s.run)
	}
	return string(s.session)
}

func (s selection) fits(e *holdshort.Event) bool {
	return (s.session == "" || s.session == e.Session) && (s.run == "" || s.run == e.Run) && holdshort.MatchEvent(e.Type, s.types)
}

// mostQueued is how many events wait for a listener before it has to read them from the log itself.
const mostQueued = 256

// listener is somebody who listens. Idle it is a few words: its queue grows when there is something in it.
type listener struct {
	selection
	hint   chan struct{}
	mu     sync.Mutex
	queue  []*sighting
	behind bool // the queue was full, or the tail ended: what comes next is in the log
}

func (l *listener) give(s *sighting) {
	l.mu.Lock()
	if !l.behind {
		if l.queue = append(l.queue, s); len(l.queue) > mostQueued {
			l.queue, l.behind = nil, true
		}
	}
	l.mu.Unlock()
	l.ring()
}

func (l *listener) lose() {
	l.mu.Lock()
	l.queue, l.behind = nil, true
	l.mu.Unlock()
	l.ring()
}

func (l *listener) ring() {
	select {
	case l.hint <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (l *listener) take() (queue []*sighting, behind bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue, behind = l.queue, l.behind
	l.queue = nil
	return queue, behind
}

// tail reads the log of one tenant as it grows.
type tail struct {
	mu   sync.Mutex
	at   int64 // the position of the last event that was handed out
	over bool
	of   map[string]map[*listener]bool // by key; "": those who want everything
	n    int
	stop context.CancelFunc
}

// join lets l listen from where the tail is: what comes after the position will be in its queue.
func (f *feed) join(ctx context.Context, tenant holdshort.TenantID, l *listener) (*tail, int64, error) {
	for {
		f.mu.Lock()
		t := f.tails[tenant]
		f.mu.Unlock()
		if t == nil {
			at, err := apart.Do(func() (int64, error) { return f.engine.Position(ctx, tenant) })
			if err != nil {
				return nil, 0, err
			}
			t = f.begin(tenant, at)
		}
		if at, ok := t.add(l); ok {
			return t, at, nil
		}
	}
}

// begin starts a tail, unless somebody else did.
func (f *feed) begin(tenant holdshort.TenantID, at int64) *tail {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.tails[tenant]; t != nil {
		return t
	}
	ctx, stop := context.WithCancel(f.ending)
	t := &tail{at: at, of: map[string]map[*listener]bool{}, stop: stop}
	f.tails[tenant] = t
	go f.run(ctx, tenant, t, at)
	return t
}

func (f *feed) run(ctx context.Context, tenant holdshort.TenantID, t *tail, at int64) {
	f.engine.Watch(ctx, tenant, engine.WatchInput{After: at}, func(e holdshort.Event) error { // whatever ended it, the listeners look for themselves
		if e.Type != engine.GapEvent {
			t.hand(&sighting{Event: e})
		}
		return nil
	})
	f.forget(tenant, t)
	t.mu.Lock()
	t.over = true
	var left []*listener
	for _, some := range t.of {
		for l := range some {
			left = append(left, l)
		}
	}
	t.mu.Unlock()
	for _, l := range left {
		l.lose()
	}
}

func (f *feed) forget(tenant holdshort.TenantID, t *tail) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tails[tenant] == t {
		delete(f.tails, tenant)
	}
}

// leave ends a subscription; a tail that nobody listens to ends too.
func (f *feed) leave(tenant holdshort.TenantID, t *tail, l *listener) {
	t.mu.Lock()
	key := l.key()
	if t.of[key][l] {
		if delete(t.of[key], l); len(t.of[key]) == 0 {
			delete(t.of, key)
		}
		t.n--
	}
	last := t.n == 0
	t.over = t.over || last
	t.mu.Unlock()
	if last {
		f.forget(tenant, t)
		t.stop()
	}
}

func (t *tail) add(l *listener) (int64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return 0, false
	}
	key := l.key()
	if t.of[key] == nil {
		t.of[key] = map[*listener]bool{}
	}
	if !t.of[key][l] {
		t.of[key][l] = true
		t.n++
	}
	l.mu.Lock()
	l.queue, l.behind = nil, false
	l.mu.Unlock()
	return t.at, true
}

// hand gives an event to those who want it.
func (t *tail) hand(s *sighting) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = s.Position
	t.handTo("", s)
	if s.Session != "" {
		t.handTo(string(s.Session), s)
	}
	if s.Run != "" {
		t.handTo(string(s.Run), s)
	}
}

func (t *tail) handTo(key string, s *sighting) {
	for l := range t.of[key] {
		if l.fits(&s.Event) {
			l.give(s)
		}
	}
}

// fromNow as the position to follow from: only what happens from now on.
const fromNow int64 = -1

// ear is what a stream does with what it hears. begin is told the position once it is known; quiet is called after a while without events.
type ear struct {
	begin func(position int64) error
	event func(*sighting) error
	flush func() error // after one or more events
	quiet func() error
	every time.Duration
	// Pieces of texts in the making, and what to do with one. None: nobody wants them.
	pieces <-chan engine.Delta
	piece  func(engine.Delta) error
}

// follow hands every selected event after a position to the ear, each once and in order, until ctx ends or the ear returns an error.
func (f *feed) follow(ctx context.Context, tenant holdshort.TenantID, sel selection, after int64, to ear) error {
	l := &listener{selection: sel, hint: make(chan struct{}, 1)}
	t, at, err := f.join(ctx, tenant, l)
	if err != nil {
		return err
	}
	defer func() { f.leave(tenant, t, l) }()
	if after == fromNow {
		after = at
	}
	if err := to.begin(after); err != nil {
		return err
	}
	quiet := time.NewTimer(to.every)
	defer quiet.Stop()
	for {
		if after, err = f.catchUp(ctx, tenant, sel, after, at, to); err != nil {
			return err
		}
		if after, err = f.listen(ctx, l, after, to, quiet); err != nil {
			return err
		}
		f.leave(tenant, t, l)
		next, from, err := f.join(ctx, tenant, l)
		if err != nil {
			return err
		}
		t, at = next, from
	}
}

// catchUp reads from the log what happened up to a position. What it reads beyond it is in the queue too: listen passes over it.
func (f *feed) catchUp(ctx context.Context, tenant holdshort.TenantID, sel selection, after, until int64, to ear) (int64, error) {
	told, spoke := false, time.Now()
	for after < until {
		found, err := apart.Do(func() (engine.EventPage, error) {
			return f.engine.Events(ctx, tenant, engine.EventQuery{After: after, Session: sel.session, Run: sel.run, Types: sel.types})
		})
		if err != nil {
			return after, err
		}
		if found.Gap && !told {
			told = true
			if err := to.event(&sighting{Event: engine.Gap(after), public: true}); err != nil {
				return after, err
			}
		}
		for i := range found.Items {
			if sel.fits(&found.Items[i]) {
				if err := to.event(&sighting{Event: found.Items[i]}); err != nil {
					return after, err
				}
			}
		}
		if found.Last <= after {
			break
		}
		after = found.Last
		if err := to.flush(); err != nil {
			return after, err
		}
		if time.Since(spoke) >= to.every { // a long log may have nothing for this listener, and the connection must not look dead
			spoke = time.Now()
			if err := to.quiet(); err != nil {
				return after, err
			}
		}
	}
	return max(after, until), to.flush()
}

// listen takes from the queue until the listener is behind: then it gives the position to read on from.
func (f *feed) listen(ctx context.Context, l *listener, after int64, to ear, quiet *time.Timer) (int64, error) {
	for {
		queue, behind := l.take()
		if len(queue) > 0 { // what was said before a fact is heard before it
			if err := overhear(to); err != nil {
				return after, err
			}
		}
		for _, s := range queue {
			if s.Position <= after {
				continue
			}
			if err := to.event(s); err != nil {
				return after, err
			}
			after = s.Position
		}
		if len(queue) > 0 {
			if err := to.flush(); err != nil {
				return after, err
			}
		}
		if behind {
			return after, ctx.Err()
		}
		select {
		case <-l.hint:
		case piece := <-to.pieces:
			if err := hear(piece, to); err != nil {
				return after, err
			}
		case <-quiet.C:
			quiet.Reset(to.every)
			if err := to.quiet(); err != nil {
				return after, err
			}
		case <-ctx.Done():
			return after, ctx.Err()
		}
	}
}

// overhear tells the pieces that are there.
func overhear(to ear) error {
	select {
	case piece := <-to.pieces:
		return hear(piece, to)
	default:
		return nil
	}
}

// hear tells a piece of a text and those that wait behind it.
func hear(piece engine.Delta, to ear) error {
	for {
		if err := to.piece(piece); err != nil {
			return err
		}
		select {
		case piece = <-to.pieces:
		default:
			return to.flush()
		}
	}
}
