package inbox

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/identity"
)

// wants is what a page shows, and so what it is told about.
type wants struct {
	rows    bool // it has a list
	view    view
	cards   []holdshort.RequestID
	run     holdshort.RunID
	session holdshort.SessionID
}

// viewer is who looks at a page.
type viewer struct {
	identity.Who
	actor holdshort.Actor
	key   string // the same for two pages only if they may see the same
}

func viewerOf(who identity.Who) viewer {
	roles := slices.Clone(who.Actor.Roles)
	slices.Sort(roles)
	return viewer{Who: who, actor: who.Actor, key: strings.Join([]string{who.Actor.ID, string(who.Actor.Kind), who.Actor.ForUser, strings.Join(roles, "\x01")}, "\x00")}
}

// ear is one open page. What it has to be told waits here until its stream takes it: a request waits once, however often it changed.
type ear struct {
	who    viewer
	wants  wants
	runs   map[holdshort.RunID][]holdshort.RequestID // whose cards are shown
	room   *room
	person *watcher
	from   int64 // the position at which it joined
	shown  bool  // its cards count as looked at; guarded by the room's lock
	hint   chan struct{}

	mu       sync.Mutex
	at       int64 // what waits here is everything up to this position
	over     bool
	resync   string // why the page has to ask anew
	order    []holdshort.RequestID
	rows     map[holdshort.RequestID][]byte // nil: it leaves the list
	cards    map[holdshort.RequestID]string // by the name of what happened last
	run      bool
	session  bool
	presence map[holdshort.RequestID]bool
	counts   bool
}

func newEar(who viewer, w wants) *ear {
	return &ear{who: who, wants: w, runs: map[holdshort.RunID][]holdshort.RequestID{}, hint: make(chan struct{}, 1), rows: map[holdshort.RequestID][]byte{}, cards: map[holdshort.RequestID]string{}, presence: map[holdshort.RequestID]bool{}}
}

// take adds events, and the requests that they are about, to what the page is told. It does so at once: a push in between would send rows with the
// position of older ones. until is the position that the page has been told up to then.
func (l *ear) take(glimpses []*glimpse, events []holdshort.Event, until int64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range glimpses {
		switch {
		case !l.wants.rows:
		case l.wants.view.Name == "decided":
			l.decided(s)
		case l.returns(s):
			l.see(s, now)
		}
	}
	for i := range events {
		l.hear(&events[i])
	}
	l.at = max(l.at, until)
}

func (l *ear) put(s *glimpse, row []byte) {
	_, waits := l.rows[s.id]
	if l.resync != "" || waits && s.old {
		return
	}
	if !waits {
		l.order = append(l.order, s.id)
	}
	l.rows[s.id] = row
	if len(l.order) > mostPending {
		l.ask1("behind")
	}
	ring(l.hint)
}

// hear takes an event of something that the page shows. That whoever looks may see it was asked when the page connected.
func (l *ear) hear(e *holdshort.Event) {
	if e.Type == "hitl.request.viewed" {
		return
	}
	told := false
	if e.Request != "" && slices.Contains(l.wants.cards, e.Request) {
		l.cards[e.Request], told = e.Type, true
	}
	if e.Run != "" {
		for _, id := range l.runs[e.Run] {
			l.cards[id], told = e.Type, true
		}
		if e.Run == l.wants.run {
			l.run, told = true, true
		}
	}
	if e.Session != "" && e.Session == l.wants.session {
		l.session, told = true, true
	}
	if told {
		ring(l.hint)
	}
}

// ask tells the page to ask for everything anew.
func (l *ear) ask(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ask1(why)
	ring(l.hint)
}

func (l *ear) ask1(why string) {
	l.resync = why
	l.order = nil
	clear(l.rows)
}

func (l *ear) lose() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	ring(l.hint)
}

func (l *ear) countsChanged() {
	l.mu.Lock()
	l.counts = true
	l.mu.Unlock()
	ring(l.hint)
}

func (l *ear) presenceChanged(id holdshort.RequestID) {
	l.mu.Lock()
	l.presence[id] = true
	l.mu.Unlock()
	ring(l.hint)
}

func (l *ear) lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}
