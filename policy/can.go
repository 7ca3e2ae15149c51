package policy

import (
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
)

// Action is something that a person or a program wants to do with what the kernel keeps.
type Action string

const (
	View           Action = "view"
	Decide         Action = "decide"
	Assign         Action = "assign"
	Comment        Action = "comment"
	CancelRequest  Action = "cancel_request"
	CancelRun      Action = "cancel_run"
	RetryRun       Action = "retry_run"
	Post           Action = "post"
	Start          Action = "start"
	Raise          Action = "raise"
	Claim          Action = "claim"
	Redeliver      Action = "redeliver"
	Reconcile      Action = "reconcile"
	TakeOver       Action = "takeover" // speak in place of the AI, and hand back
	Say            Action = "say"      // to the user of a session that was taken over
	Pin            Action = "pin"
	ManageKeys     Action = "manage_keys"
	ManageWebhooks Action = "manage_webhooks"
	ViewAudit      Action = "view_audit" // the events of everybody
)

// Actions are all of them. What is not here, nobody may.
var Actions = []Action{View, Decide, Assign, Comment, CancelRequest, CancelRun, RetryRun, Post, Start, Raise, Claim, Redeliver, Reconcile,
	TakeOver, Say, Pin, ManageKeys, ManageWebhooks, ViewAudit}

// Resource is what it is to be done with. What has an audience is a request.
type Resource struct {
	Audience  holdshort.Audience
	Owner     string // the user of its session or run
	Requester holdshort.Requester
}

// Roles that the kernel knows. Any other role counts only where an audience names it.
const (
	Admin    = "admin"
	Operator = "operator"
	Auditor  = "auditor"
	Reviewer = "reviewer"
)

// What somebody may do by standing in a relation to the resource. Deciding is the audience's alone, and claiming the raiser's: no role gives
// either.
var (
	byRole = map[string][]Action{
		Admin: {View, Assign, Comment, CancelRequest, CancelRun, RetryRun, Post, Start, Raise, Redeliver, Reconcile, TakeOver, Say, Pin, ManageKeys,
			ManageWebhooks, ViewAudit},
		Operator: {View, Assign, Comment, CancelRequest, CancelRun, RetryRun, Post, Start, Redeliver, Reconcile, TakeOver, Say, Pin, ManageWebhooks, ViewAudit},
		Auditor:  {View, ViewAudit},
	}
	ofOwner    = []Action{View, Comment, CancelRequest, CancelRun, Post, Start, Pin}
	ofRaiser   = []Action{View, CancelRequest, Raise, Claim}
	ofAudience = []Action{View, Assign, Comment}
)

// Can says whether actor may do a with r, and by which rule. Whoever nobody vouches for may nothing.
func Can(a Action, actor holdshort.Actor, r Resource) (ok bool, rule string) {
	raiser := actor.ID == r.Requester.RaisedBy
	switch {
	case !slices.Contains(Actions, a):
		return false, "unknown action"
	case actor.ID == "":
		return false, "unknown actor"
	case actor.Kind == holdshort.System:
		return strings.HasPrefix(actor.ID, "system:"), "system"
	case actor.Kind != holdshort.Person && actor.Kind != holdshort.Agent && actor.Kind != holdshort.Service:
		return false, "unknown actor"
	case a == Decide:
		return mayDecide(actor, r)
	}
	for _, role := range actor.Roles {
		if slices.Contains(byRole[role], a) {
			return true, "role " + role
		}
	}
	owner := r.Owner != "" && (actor.ID == r.Owner || actor.ForUser == r.Owner)
	approval := len(r.Audience.Roles) > 0 || len(r.Audience.Users) > 0 // what asks the session's owner alone is between the two
	switch {
	case owner && slices.Contains(ofOwner, a):
		return true, "owner"
	case raiser && slices.Contains(ofRaiser, a):
		return true, "raiser"
	case r.Audience.Includes(actor, r.Owner) && slices.Contains(ofAudience, a):
		return true, "audience"
	case approval && actor.HasRole(Reviewer) && slices.Contains(ofAudience, a):
		return true, "role " + Reviewer
	}
	return false, "no rule"
}

// mayDecide keeps the key that raised a request from deciding it. An administrator's may; the gate marks that decision.
func mayDecide(actor holdshort.Actor, r Resource) (ok bool, rule string) {
	switch {
	case !r.Audience.Includes(actor, r.Owner):
		return false, "not of the audience"
	case r.Audience.Excludes(actor, r.Requester):
		return false, "requester"
	case actor.ID == r.Requester.RaisedBy && actor.Kind != holdshort.Person && !actor.HasRole(Admin):
		return false, "raiser"
	}
	return true, "audience"
}
