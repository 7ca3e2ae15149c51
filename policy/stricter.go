package policy

import "github.com/holdshort/holdshort"

// Meets reports whether an approval that was given to stood, by people of an audience and quorum, is enough for what the policy says now.
// Only what is stricter than what the decision met matters at execution. It compares numbers; MetBy looks at the people.
func (v Verdict) Meets(stood holdshort.Audience) bool {
	switch v.Decision {
	case Allow:
		return true
	case Deny:
		return false
	}
	return v.Audience.Needed() <= stood.Needed() && (!v.Audience.Separate || stood.Separate || stood.Needed() > 1)
}

// MetBy reports whether those who approved are enough for what the policy says now: as many of them as it wants are of the audience that it
// wants. owner is the session's user.
func (v Verdict) MetBy(owner string, requester holdshort.Requester, approvers ...holdshort.Actor) bool {
	switch v.Decision {
	case Allow:
		return true
	case Deny:
		return false
	}
	var counted []holdshort.Actor
	for _, a := range approvers {
		if v.Audience.Includes(a, owner) && !v.Audience.Excludes(a, requester) {
			counted = append(counted, a)
		}
	}
	return holdshort.Distinct(counted) >= v.Audience.Needed()
}
