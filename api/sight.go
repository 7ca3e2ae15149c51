package api

import (
	"context"
	"sync"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/internal/apart"
	"github.com/holdshort/holdshort/policy"
)

// sighting is an event on its way to those who listen. Whose it is gets looked up once, however many ask.
type sighting struct {
	holdshort.Event
	public bool // it tells nothing about anybody
	once   sync.Once
	about  subject
	err    error
}

// subject is what an event is about, as far as rights need it: none of it ever changes.
type subject struct {
	request *holdshort.Request
	run     *holdshort.Run
	owner   string // of the session
}

// seesAll reports whether somebody may see every event of their tenant.
func seesAll(who identity.Who) bool {
	ok, _ := policy.Can(policy.ViewAudit, who.Actor, policy.Resource{})
	return ok && who.Allows(policy.ViewAudit)
}

// visible reports whether somebody may see an event: that of a request or a run that they may see, or of a session of theirs.
func (s *sights) visible(ctx context.Context, tenant holdshort.TenantID, seen *sighting, actor holdshort.Actor) (bool, error) {
	if seen.public {
		return true, nil
	}
	seen.once.Do(func() {
		seen.about, seen.err = apart.Do(func() (subject, error) { return s.of(ctx, tenant, seen.Event) })
	})
	if seen.err != nil {
		return false, seen.err
	}
	about := seen.about
	if about.owner != "" {
		if ok, _ := policy.Can(policy.View, actor, policy.Resource{Owner: about.owner}); ok {
			return true, nil
		}
	}
	switch {
	case about.request != nil:
		return s.engine.Visible(actor, about.request, about.run), nil
	case about.run != nil:
		return s.engine.Visible(actor, nil, about.run), nil
	}
	return false, nil
}

// sights remembers what requests, runs and sessions are whose. It is of a fixed size; what it forgets is read again.
type sights struct {
	engine   *engine.Engine
	mu       sync.Mutex
	requests map[string]*holdshort.Request
	runs     map[string]*holdshort.Run
	owners   map[string]string
}

const (
	mostSights = 4096
	sightTime  = 10 * time.Second
)

func newSights(e *engine.Engine) *sights {
	return &sights{engine: e, requests: map[string]*holdshort.Request{}, runs: map[string]*holdshort.Run{}, owners: map[string]string{}}
}

// of looks up whose an event is. Others wait for the same answer, so it does not end with whoever asked first.
func (s *sights) of(ctx context.Context, tenant holdshort.TenantID, e holdshort.Event) (about subject, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sightTime)
	defer cancel()
	if e.Request != "" {
		about.request, err = known(s, s.requests, string(tenant)+"\x00"+string(e.Request), func() (*holdshort.Request, error) {
			req, err := s.engine.RequestByID(ctx, tenant, e.Request)
			return &holdshort.Request{ID: req.ID, RunID: req.RunID, Audience: req.Audience, Requester: req.Requester}, err
		})
		if err != nil {
			return about, err
		}
	}
	if e.Run != "" {
		about.run, err = known(s, s.runs, string(tenant)+"\x00"+string(e.Run), func() (*holdshort.Run, error) {
			run, err := s.engine.RunByID(ctx, tenant, e.Run)
			return &holdshort.Run{ID: run.ID, User: run.User}, err
		})
		if err != nil {
			return about, err
		}
	}
	if e.Session != "" {
		about.owner, err = known(s, s.owners, string(tenant)+"\x00"+string(e.Session), func() (string, error) {
			session, err := s.engine.SessionByID(ctx, tenant, e.Session)
			return session.User, err
		})
	}
	return about, err
}

// known gives what is remembered, or looks. What is not there is nobody's.
func known[T any](s *sights, all map[string]T, key string, look func() (T, error)) (v T, err error) {
	s.mu.Lock()
	v, ok := all[key]
	s.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err = look()
	if holdshort.CodeOf(err) == holdshort.NotFound {
		var none T
		return none, nil
	}
	if err != nil {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(all) >= mostSights {
		clear(all)
	}
	all[key] = v
	return v, nil
}
