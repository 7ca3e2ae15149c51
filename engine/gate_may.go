package engine

import (
	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/policy"
)

// ownRequest reports whether actor is who raised the request, or speaks for them.
func ownRequest(actor holdshort.Actor, req holdshort.Request) bool {
	raiser := req.Requester.RaisedBy
	return raiser != "" && (actor.ID == raiser || actor.ForUser == raiser)
}

// mayDecideOwn keeps whoever raises requests from deciding them. An administrator may, and the decision is marked.
func mayDecideOwn(actor holdshort.Actor, req holdshort.Request) error {
	if !ownRequest(actor, req) || actor.HasRole(policy.Admin) {
		return nil
	}
	return &holdshort.Error{Code: holdshort.Forbidden, Op: "decide " + string(req.ID), Message: "whoever raised a request does not decide it", Hint: "hand it to somebody else of its audience"}
}

// mayDo hides a request from those who may not look at it, and refuses those who may look and not do that.
func mayDo(a policy.Action, actor holdshort.Actor, req holdshort.Request, run *holdshort.Run) error {
	r := resource(req, run)
	if ok, _ := policy.Can(a, actor, r); ok {
		return nil
	}
	if ok, _ := policy.Can(policy.View, actor, r); !ok {
		return &holdshort.Error{Code: holdshort.NotFound, Op: "load request " + string(req.ID), Message: "no such request", Hint: "check the id and the tenant"}
	}
	return &holdshort.Error{Code: holdshort.Forbidden, Op: string(a) + " " + string(req.ID), Message: clip(actor.ID) + " may not do that", Hint: "ask somebody of its audience, or an operator"}
}
