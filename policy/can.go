package policy

import (
	"slices"

	"github.com/holdshort/holdshort"
)

// Action is something that a person or a program wants to do with what the kernel keeps.
type Action string

const (
	View          Action = "view"
	Decide        Action = "decide"
	Assign        Action = "assign"
	Comment       Action = "comment"
	CancelRequest Action = "cancel_request"
	CancelRun     Action = "cancel_run"
	RetryRun      Action = "retry_run"
	Post          Action = "post"
	Start         Action = "start"
	Raise         Action = "raise"
	Claim         Action = "claim"
	Redeliver     Action = "redeliver"
)

// Resource is what it is to be done with.
type Resource struct {
	Audience  holdshort.Audience
	Owner     string // the user of its session or run
	Requester holdshort.Requester
}

// byRole says what a role may do whatever the resource is. Deciding is never among it: that is the audience's.
var byRole = map[string][]Action{
	"admin":    {View, Assign, Comment, CancelRequest, CancelRun, RetryRun, Post, Start, Raise, Redeliver},
	"operator": {View, Assign, Comment, CancelRequest, CancelRun, RetryRun, Post, Start, Redeliver},
	"reviewer": {View, Assign, Comment},
	"auditor":  {View},
}

// Can says whether actor may do a with r, and by which rule. Whoever nobody vouches for may nothing.
func Can(a Action, actor holdshort.Actor, r Resource) (ok bool, rule string) {
	switch {
	case actor.ID == "" || actor.Kind == "":
		return false, "unknown actor"
	case actor.Kind == holdshort.System:
		return true, "system"
	case a == Decide:
		return r.Audience.Includes(actor, r.Owner) && !r.Audience.Excludes(actor, r.Requester), "audience"
	}
	for _, role := range actor.Roles {
		if slices.Contains(byRole[role], a) {
			return true, "role " + role
		}
	}
	if r.Owner != "" && (actor.ID == r.Owner || actor.ForUser == r.Owner) && slices.Contains([]Action{View, CancelRequest, CancelRun, Post, Comment}, a) {
		return true, "owner"
	}
	if r.Requester.RaisedBy != "" && actor.ID == r.Requester.RaisedBy && slices.Contains([]Action{View, CancelRequest, Claim}, a) {
		return true, "raised it"
	}
	if r.Audience.Includes(actor, r.Owner) && slices.Contains([]Action{View, Assign, Comment}, a) {
		return true, "audience"
	}
	return false, "no rule"
}
