package inbox

import (
	"net/http"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
)

// directory is an identity that can say whom it knows beforehand.
type directory interface {
	Directory(tenant holdshort.TenantID) identity.Directory
}

// mayPeople reports whether somebody may see who has which role.
func (v *visit) mayPeople() bool { return v.may(policy.ManageKeys) || v.may(policy.ViewAudit) }

// peoplePage shows roles, what each may, and who has them as far as that is known beforehand.
type peoplePage struct {
	Tabs   []tab
	Roles  []roleRow
	People []personRow
	Known  identity.Directory
	Keys   bool // personal keys are in the list
}

type roleRow struct {
	Name           string
	May            []string
	People, Groups []string
	ByKey          []string // who has it by a personal key alone
	Own            bool     // the kernel knows it; any other counts only where a rule names it
}

type personRow struct {
	ID       string
	Roles    []string // by the configuration
	KeyRoles []string // by a personal key, where the configuration does not give them
	Keys     int
}

func (v *visit) servePeople() error {
	if !v.mayPeople() {
		return v.denied(policy.ViewAudit)
	}
	p := peoplePage{Tabs: v.tabs()}
	if d, ok := v.people.(directory); ok {
		p.Known = d.Directory(v.tenant())
	}
	for _, role := range []string{policy.Admin, policy.Operator, policy.Auditor, policy.Reviewer} {
		p.Roles = append(p.Roles, roleRow{Name: role, May: mayOf(role), Own: true})
	}
	people := map[string]*personRow{}
	person := func(id string) *personRow {
		if people[id] == nil {
			people[id] = &personRow{ID: id}
		}
		return people[id]
	}
	for _, given := range p.Known.Roles {
		i := slices.IndexFunc(p.Roles, func(r roleRow) bool { return r.Name == given.Role })
		if i < 0 {
			i = len(p.Roles)
			p.Roles = append(p.Roles, roleRow{Name: given.Role})
		}
		p.Roles[i].People, p.Roles[i].Groups = given.People, given.Groups
		for _, id := range given.People {
			person(id).Roles = append(person(id).Roles, given.Role)
		}
	}
	if v.may(policy.ManageKeys) {
		p.Keys = true
		keys, err := v.engine.Keys(v.ctx, v.tenant())
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.User == "" || !k.Live(v.now) {
				continue
			}
			row := person(k.User)
			row.Keys++
			row.KeyRoles = append(row.KeyRoles, k.Roles...)
			p.byKey(k)
		}
	}
	for _, row := range people {
		slices.Sort(row.KeyRoles)
		row.KeyRoles = slices.DeleteFunc(slices.Compact(row.KeyRoles), func(role string) bool { return slices.Contains(row.Roles, role) })
		p.People = append(p.People, *row)
	}
	slices.SortFunc(p.People, func(a, b personRow) int { return strings.Compare(a.ID, b.ID) })
	return v.page(http.StatusOK, "people", "People and roles", p)
}

// byKey notes who has a role by a personal key.
func (p *peoplePage) byKey(k holdshort.Key) {
	for i := range p.Roles {
		r := &p.Roles[i]
		if slices.Contains(k.Roles, r.Name) && !slices.Contains(r.People, k.User) && !slices.Contains(r.ByKey, k.User) {
			r.ByKey = append(r.ByKey, k.User)
		}
	}
}

// mayOf is what a role gives everywhere, in words.
func mayOf(role string) (may []string) {
	anyone := holdshort.Actor{ID: "somebody", Kind: holdshort.Person, Roles: []string{role}}
	for _, a := range policy.Actions {
		if ok, _ := policy.Can(a, anyone, policy.Resource{}); ok {
			may = append(may, rights[a])
		}
	}
	if role == policy.Reviewer {
		may = append(may, "look at, assign and comment on what waits for approval; decide where no rule names somebody else")
	}
	return may
}
