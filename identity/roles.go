package identity

import (
	"maps"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
)

const (
	groupPrefix = "group:"
	mostRoles   = 64 // of one person; a token that says more is not a token for people
	mostName    = 200
)

// roles is Config.Roles the other way round: what each person and each group is given.
type roles struct {
	byID    map[string][]string
	byGroup map[string][]string
	known   map[string]bool // role → some group has it
}

func newRoles(table map[string][]string) roles {
	r := roles{byID: map[string][]string{}, byGroup: map[string][]string{}, known: map[string]bool{}}
	for _, role := range slices.Sorted(maps.Keys(table)) {
		r.known[role] = false
		for _, member := range table[role] {
			if group, ok := strings.CutPrefix(member, groupPrefix); ok {
				r.byGroup[group] = append(r.byGroup[group], role)
				r.known[role] = true
			} else {
				r.byID[member] = append(r.byID[member], role)
			}
		}
	}
	return r
}

// checkRoles wants roles and members that can be. Where people are known by their e-mail address, it is in lower case.
func checkRoles(table map[string][]string, byAddress bool) error {
	for _, role := range slices.Sorted(maps.Keys(table)) {
		members := table[role]
		if !validName(role) || strings.HasPrefix(role, groupPrefix) {
			return invalid("roles", "a role has no name that can be written", "name roles with letters and digits, like finance")
		}
		for _, member := range members {
			if group, ok := strings.CutPrefix(member, groupPrefix); !validName(member) || ok && group == "" {
				return invalid("roles/"+role, "a member of "+role+" is neither an id nor group:NAME", "write the id of a person, like ana@example.org, or group:NAME")
			} else if !ok && byAddress && strings.Contains(member, "@") && strings.ToLower(member) != member {
				return invalid("roles/"+role, clip(member)+" would never be found: addresses are compared in lower case", "write "+clip(strings.ToLower(member)))
			}
		}
	}
	return nil
}

// of gives the roles of a person by the table, each once, in order.
func (r roles) of(id string, groups []string) []string {
	all := slices.Clone(r.byID[id])
	for _, g := range groups {
		all = append(all, r.byGroup[g]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pack turns groups into what a stored actor can carry among its roles: those groups that the table knows. Their roles are looked up anew
// each time that the actor comes back, so that a changed table counts at once.
func (r roles) pack(groups []string) []string {
	var kept []string
	for _, g := range groups {
		if _, ok := r.byGroup[g]; ok {
			kept = append(kept, groupPrefix+g)
		}
	}
	return kept
}

// unpack gives a stored actor the roles that it has now.
func (r roles) unpack(a holdshort.Actor) holdshort.Actor {
	var own, groups []string
	for _, role := range a.Roles {
		if g, ok := strings.CutPrefix(role, groupPrefix); ok {
			groups = append(groups, g)
		} else {
			own = append(own, role)
		}
	}
	a.Roles = merge(own, r.of(a.ID, groups))
	return a
}

// now gives the roles that count for somebody who was vouched for earlier with frozen ones. With a table, it is the truth: a role that it
// does not give any more is gone. Only what it gives to groups is taken as it was, because nobody says which groups the person is in now.
func (r roles) now(id string, frozen []string) []string {
	if len(r.known) == 0 {
		return frozen
	}
	kept := slices.DeleteFunc(slices.Clone(frozen), func(role string) bool { return !r.known[role] })
	return merge(kept, r.of(id, nil))
}

func merge(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// validName keeps out what would be shown as something else or end a line: ids, names and roles are printed and compared.
func validName(s string) bool {
	if s == "" || len(s) > mostName || strings.TrimSpace(s) != s {
		return false
	}
	return strings.IndexFunc(s, unprintable) < 0
}

func unprintable(c rune) bool {
	switch {
	case c < ' ' || c >= 0x7f && c < 0xa0, c == '\uFFFD': // control characters; what was no UTF-8
		return true
	case c >= 0x200b && c <= 0x200f, c >= 0x2028 && c <= 0x202e, c >= 0x2060 && c <= 0x206f, c == 0xfeff, c == 0xad: // invisible, or turning text around
		return true
	}
	return false
}

// reserved are ids that only the kernel and its keys have.
func reserved(id string) bool {
	for _, prefix := range []string{"key:", "system:", "policy:", "cli:", groupPrefix} {
		if strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return id == localID
}
