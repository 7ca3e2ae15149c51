package holdshort

import "slices"

// ActorKind says what sort of being acted.
type ActorKind string

const (
	Person  ActorKind = "person"
	Agent   ActorKind = "agent"
	Service ActorKind = "service"
	System  ActorKind = "system"
)

// Assurance says how surely we know who an actor is. The order of Assurances is from weakest to strongest.
type Assurance string

const (
	AssuranceNone    Assurance = "none"    // nobody vouched
	AssuranceChannel Assurance = "channel" // a chat identity mapped to a person
	AssuranceLink    Assurance = "link"    // somebody held a personal, single-use link
	AssuranceToken   Assurance = "token"   // an API key or bearer token
	AssuranceLogin   Assurance = "login"   // an interactive login
	AssuranceSystem  Assurance = "system"  // the kernel itself
)

// Actor is who did it.
type Actor struct {
	ID        string    `json:"id"`
	Kind      ActorKind `json:"kind"`
	Name      string    `json:"name,omitempty"`
	Roles     []string  `json:"roles,omitempty"`
	Assurance Assurance `json:"assurance,omitempty"`
	ForUser   string    `json:"for_user,omitempty"` // whom a service key speaks for
}

// SystemActor is the kernel acting for a reason of its own: "timeout", "retention", "policy:big refunds".
func SystemActor(reason string) Actor {
	return Actor{ID: "system:" + reason, Kind: System, Assurance: AssuranceSystem}
}

// Who is the person behind the actor: whom a service key speaks for, else the actor itself. One person is one voter, however they come in.
func (a Actor) Who() string {
	if a.ForUser != "" {
		return a.ForUser
	}
	return a.ID
}

// Same reports whether two actors count as one: the same person, whoever carried their word, or one key that speaks for two.
func (a Actor) Same(b Actor) bool { return a.ID == b.ID || a.Who() == b.Who() }

// Distinct counts those of whom no two are the same.
func Distinct(actors []Actor) int {
	var seen []Actor
	for _, a := range actors {
		if !slices.ContainsFunc(seen, a.Same) {
			seen = append(seen, a)
		}
	}
	return len(seen)
}

// HasRole reports whether the actor holds role.
func (a Actor) HasRole(role string) bool { return role != "" && slices.Contains(a.Roles, role) }

// Audience says who may decide a request and how many of them it takes.
type Audience struct {
	Owner    bool     `json:"owner"`    // the session's owner may
	Users    []string `json:"users"`    // these actors may
	Roles    []string `json:"roles"`    // whoever holds one of these roles may
	Quorum   int      `json:"quorum"`   // how many approvals it takes; 0 reads as 1
	Separate bool     `json:"separate"` // the requester never counts, even for a quorum of one
}

// Needed is the number of approvals that resolve the request.
func (a Audience) Needed() int { return max(a.Quorum, 1) }

// Includes reports whether actor may decide; owner is the user whom the session belongs to. An empty audience includes nobody: it fails
// closed, and whoever builds a request gives the default (role reviewer).
func (a Audience) Includes(actor Actor, owner string) bool {
	if actor.ID == "" {
		return false
	}
	if a.Owner && owner != "" && (actor.ID == owner || actor.ForUser == owner) {
		return true
	}
	return slices.Contains(a.Users, actor.ID) || slices.ContainsFunc(a.Roles, actor.HasRole)
}

// Excludes reports whether actor is the requester who may not count here: the person acted for, or the key that raised the request.
func (a Audience) Excludes(actor Actor, requester Requester) bool {
	if a.Needed() <= 1 && !a.Separate {
		return false
	}
	same := func(id string) bool { return id != "" && (id == actor.ID || id == actor.ForUser) }
	return same(requester.User) || same(requester.RaisedBy) || same(requester.StartedBy)
}

// Requester is on whose behalf a request was made.
type Requester struct {
	User     string `json:"user,omitempty"`
	RaisedBy string `json:"raised_by,omitempty"`
	// RaisedName is what people call whoever raised it: the name of the key.
	RaisedName string `json:"raised_name,omitempty"`
	// StartedBy is the key or person that started the run for the user, where it is another: it does not count either.
	StartedBy string `json:"started_by,omitempty"`
}
