package rulebook

import "slices"

// Rules are the rules as the book reads them, in their order: each has its name, and its limits have theirs. Who changes them changes nothing
// in the book.
func (b *Book) Rules() []Rule {
	rules := make([]Rule, len(b.rules))
	for i := range b.rules {
		r := &b.rules[i]
		rules[i] = Rule{Name: r.name, When: r.when, Then: r.then, Limits: slices.Clone(r.limits)}
		for _, list := range []*[]string{&rules[i].Then.Audience.Users, &rules[i].Then.Audience.Roles, &rules[i].Then.Editable, &rules[i].Then.Redacted, &rules[i].Then.Blind} {
			*list = slices.Clone(*list)
		}
	}
	return rules
}
