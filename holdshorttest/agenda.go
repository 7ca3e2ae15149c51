package holdshorttest

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

// intention is something that a scripted person is going to do.
type intention struct {
	script *Script
	req    holdshort.Request
	who    holdshort.Actor
	at     time.Time
}

// agenda gives what is to be done next among the requests that fit, nil if nobody is going to do anything.
func (k *Kit) agenda(fits func(holdshort.Request) bool) *intention {
	k.t.Helper()
	var next *intention
	for _, req := range k.list(store.RequestQuery{Status: holdshort.RequestOpen}) {
		asked, ok := askedAt(req)
		if !ok || !fits(req) {
			continue
		}
		for _, s := range k.scripts {
			if !s.open(req) {
				continue
			}
			if at := due(s, req, asked, k.Now()); !at.IsZero() && (next == nil || at.Before(next.at)) {
				if who, ok := k.actor(s, req); ok {
					next = &intention{s, req, who, at}
				}
			}
		}
	}
	return next
}

// due is when a script acts. Whoever was scripted late acts at once; whoever ignores a request waits for its end.
func due(s *Script, req holdshort.Request, asked, now time.Time) time.Time {
	at := asked.Add(s.after)
	if s.reply == ignore {
		at = req.Due()
	}
	if !at.IsZero() && at.Before(now) {
		at = now
	}
	return at
}

// askedAt is when people came to see a request: not while a prompt waits for its turn.
func askedAt(req holdshort.Request) (time.Time, bool) {
	switch {
	case !req.AskedAt.IsZero():
		return req.AskedAt, true
	case req.Prompt || !req.QueueUntil.IsZero():
		return time.Time{}, false
	}
	return req.CreatedAt, true
}

// actor is the next of a script's people who has not acted on a request.
func (k *Kit) actor(s *Script, req holdshort.Request) (holdshort.Actor, bool) {
	people := s.people
	if len(people) == 0 {
		people = k.whoMay(req)
	}
	i := slices.IndexFunc(people, func(a holdshort.Actor) bool { return !s.acted[req.ID][a.ID] })
	if i < 0 {
		return holdshort.Actor{}, false
	}
	return people[i], true
}

// whoMay makes up as many people as it takes to decide a request.
func (k *Kit) whoMay(req holdshort.Request) []holdshort.Actor {
	a, owner := req.Audience, k.ownerOf(req)
	var people []holdshort.Actor
	add := func(actor holdshort.Actor) {
		if len(people) < a.Needed() && a.Includes(actor, owner) && !a.Excludes(actor, req.Requester) {
			people = append(people, actor)
		}
	}
	if a.Owner {
		add(person(owner))
	}
	for _, id := range a.Users {
		add(person(id))
	}
	if len(a.Roles) > 0 {
		for n := 1; n <= a.Needed(); n++ {
			add(person(fmt.Sprintf("%s-%d", a.Roles[0], n), a.Roles[0]))
		}
	}
	return people
}

// act does what a person intended. Too late is no error: somebody else was faster, or the clock.
func (k *Kit) act(i *intention) {
	k.t.Helper()
	i.script.note(i.req.ID, i.who.ID)
	if i.script.reply == ignore {
		return
	}
	in := *i.script.reply
	in.Request, in.Actor = i.req.ID, i.who
	_, err := k.Decide(in)
	switch holdshort.CodeOf(err) {
	case "", holdshort.Closed, holdshort.Expired, holdshort.AlreadyVoted:
	default:
		k.refused(i.req, in, err)
	}
}

func (k *Kit) ownerOf(req holdshort.Request) string {
	if req.RunID == "" {
		return req.Requester.User
	}
	return k.Run(req.RunID).User
}
