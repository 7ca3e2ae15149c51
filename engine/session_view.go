package engine

import (
	"context"
	"slices"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store"
)

// HitlState says what a session waits for, if it does.
type HitlState string

const (
	HitlNone      HitlState = "none"
	HitlWaiting   HitlState = "waiting"      // somebody is asked something
	HitlEscalated HitlState = "escalated"    // those who look after the system are
	HitlTakeover  HitlState = "takeover"     // a person answers the user
	HitlProxy     HitlState = "proxy_active" // a bridge does
)

// SessionView is a session with what is open in it.
type SessionView struct {
	holdshort.Session
	HitlState HitlState             `json:"hitl_state"`
	Open      []holdshort.RequestID `json:"open_requests"` // oldest first, the latest 200 at most; never nil
}

// SessionFor gives a session to somebody who may see it; to anybody else there is no such session.
func (e *Engine) SessionFor(ctx context.Context, tenant holdshort.TenantID, id holdshort.SessionID, actor holdshort.Actor) (SessionView, error) {
	return view(ctx, e, tenant, func(tx store.ReadTx) (v SessionView, err error) {
		s, err := tx.Session(id)
		if err != nil {
			return v, err
		}
		if ok, _ := policy.Can(policy.View, actor, policy.Resource{Owner: s.User}); !ok || erased(s) {
			return v, noSession(id)
		}
		page, err := tx.Requests(store.RequestQuery{Session: id, Status: holdshort.RequestOpen, Order: store.ByNewest})
		if err != nil {
			return v, err
		}
		v = SessionView{Session: s, HitlState: HitlNone, Open: []holdshort.RequestID{}}
		for _, req := range page.Items {
			if readAt(req, tx.Now()).Status != holdshort.RequestOpen {
				continue
			}
			v.Open = append(v.Open, req.ID)
			if req.Kind == holdshort.Escalation {
				v.HitlState = HitlEscalated
			} else if v.HitlState == HitlNone {
				v.HitlState = HitlWaiting
			}
		}
		slices.Reverse(v.Open)
		switch s.Mode {
		case holdshort.ModeTakeover:
			v.HitlState = HitlTakeover
		case holdshort.ModeProxy:
			v.HitlState = HitlProxy
		}
		return v, nil
	})
}
