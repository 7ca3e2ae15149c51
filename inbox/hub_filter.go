package inbox

import (
	"time"

	"github.com/holdshort/holdshort"
)

// returns reports whether the viewer is one to whom the query of the list may return a request.
func (l *ear) returns(s *glimpse) bool {
	if l.wants.view.Q == "" || s.rights == nil {
		return l.room.hub.sees(s, l.who.actor)
	}
	return l.room.hub.in.engine.Visible(l.who.actor, s.rights, nil) // a search also finds requests that others decide
}

// see takes a request that whoever looks may be told about.
func (l *ear) see(s *glimpse, now time.Time) {
	switch {
	case s.now != nil && l.wants.view.holds(s.now, l.who.actor, now):
		l.put(s, s.row)
	case l.mayList(s, now) && l.wants.view.Q != "": // it may stay, or enter: the page asks
		l.put(s, s.row)
	case l.mayList(s, now):
		l.put(s, nil)
	}
}

// mayList reports whether the list may show a request that the view does not hold. How the room saw the request before does not matter: the list may
// have been read between two reads of the room, when the request was open, due or assigned to the viewer. Only its kind and priority never change.
func (l *ear) mayList(s *glimpse, now time.Time) bool {
	view, open := l.wants.view, *s.rights
	if view.Name == "mine" {
		if waits(s.now) && !s.assigned { // no list of the viewer's own requests lost it by these events
			return false
		}
		view.Name = "inbox"
	}
	view.Due, open.ExpiresAt, open.QueueUntil = "", time.Time{}, time.Time{}
	return view.holds(&open, l.who.actor, now)
}

// decided takes a request that was closed, if whoever looks may see it and asked for such.
func (l *ear) decided(s *glimpse) {
	w := l.wants.view
	byOther := w.By == "me" && s.by != l.who.actor.ID
	switch {
	case s.now == nil || s.now.Status == holdshort.RequestOpen || !l.room.hub.in.engine.Visible(l.who.actor, s.now, nil):
	case w.Outcome != "" && w.Outcome != string(s.now.Outcome) && w.Outcome != string(s.now.Status):
	case byOther && s.now.Audience.Needed() <= 1: // of several who decided, only the page can ask who they were
	default:
		l.put(s, s.row)
	}
}
