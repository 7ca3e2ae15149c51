package inbox

import (
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// sight is a request as somebody gets to see it, and what they may do with it. Whether that is so is found out when they do it.
type sight struct {
	engine.RequestView
	run       *holdshort.Run // nil: it has none
	seesRun   bool
	audience  bool // they are among those who may decide it
	mayDecide bool // and it is open, and they have not voted yet
	voted     bool
	revealed  bool
	hides     bool // something is withheld from them as it stands
	proof     string
}

func (v *visit) sightOf(seen engine.RequestView, d draft) sight {
	s := sight{RequestView: seen}
	req, actor := seen.Request, v.actor()
	resource := policy.Resource{Audience: req.Audience, Owner: req.Requester.User, Requester: req.Requester}
	if req.RunID != "" {
		if run, err := v.engine.RunByID(v.ctx, v.tenant(), req.RunID); err == nil {
			s.run, resource.Owner = &run, run.User
			s.seesRun = d.token == "" && v.engine.Visible(actor, nil, &run)
		}
	}
	ok, _ := policy.Can(policy.Decide, actor, resource)
	s.audience = ok && v.who.Allows(policy.Decide) && !raisedBy(actor, req)
	s.voted = slices.ContainsFunc(seen.Votes, func(d holdshort.Vote) bool { return d.Actor.Same(actor) })
	s.mayDecide = s.audience && !s.voted && req.Status == holdshort.RequestOpen
	dead := d.token != "" && req.Status != holdshort.RequestOpen // a link dies with its request
	if s.audience && !dead && v.proven(req.ID, d.proof) {
		s.revealed, s.proof = true, d.proof
	}
	s.hides = slices.ContainsFunc(req.Actions, func(a holdshort.Action) bool {
		return slices.ContainsFunc(nodesOf(a.Args, s.withheld(a), ""), argNode.hides)
	})
	return s
}

// raisedBy reports whether somebody would decide what they asked for themselves. An administrator may, and it is marked.
func raisedBy(actor holdshort.Actor, req holdshort.Request) bool {
	raiser := req.Requester.RaisedBy
	return raiser != "" && (actor.ID == raiser || actor.ForUser == raiser) && !actor.HasRole(policy.Admin)
}

// withheld are the fields of an action that this person does not see.
func (s sight) withheld(a holdshort.Action) []string {
	if s.revealed {
		return nil
	}
	return a.Redacted
}

// hidesOf reports whether something of a call is withheld from them that they must see before it runs.
func (s sight) hidesOf(a holdshort.Action) bool {
	must := slices.DeleteFunc(slices.Clone(s.withheld(a)), func(name string) bool { return slices.Contains(a.Blind, name) })
	return len(must) > 0 && slices.ContainsFunc(nodesOf(a.Args, must, ""), argNode.hides)
}

// secrets are the values that this person does not see. What tools say may have them in it too.
func (s sight) secrets() (out []string) {
	for _, a := range s.Request.Actions {
		if len(s.withheld(a)) == 0 {
			continue
		}
		shown := map[string]bool{}
		for _, l := range leavesOf(a.Args, s.withheld(a)) {
			shown[l.path] = !l.withheld
		}
		for _, l := range leavesOf(a.Args, nil) {
			if text := strings.Trim(l.text, "“”"); !shown[l.path] && len(text) > 2 && len(out) < 200 {
				out = append(out, text)
			}
		}
	}
	return out
}

// decided is what the standing decision says of a call, nil if there is none.
func (s sight) decided(callID string) *holdshort.CallDecision {
	if s.Decision == nil {
		return nil
	}
	i := slices.IndexFunc(s.Decision.Calls, func(c holdshort.CallDecision) bool { return c.CallID == callID })
	if i < 0 {
		return nil
	}
	return &s.Decision.Calls[i]
}
