package policy

import "github.com/holdshort/holdshort"

// Meets reports whether an approval that was given to stood, by people of an audience and quorum, is enough for what the policy says now.
// Only what is stricter than what the decision met matters at execution.
func (v Verdict) Meets(stood holdshort.Audience) bool {
	switch v.Decision {
	case Allow:
		return true
	case Deny:
		return false
	}
	return v.Audience.Needed() <= stood.Needed() && (!v.Audience.Separate || stood.Separate || stood.Needed() > 1)
}
