package identity

import (
	"maps"
	"slices"

	"github.com/holdshort/holdshort"
)

// Directory is who is known here beforehand: by the configuration, not by what people did. It holds no secret.
type Directory struct {
	Roles   []RoleMembers // by name
	Issuers []string      // whose tokens are taken, by name
	Login   string        // the provider at which people log in; "": they need a link
	Admin   bool          // there is an administrator's key in the configuration
	Open    bool          // every caller on this machine is the local administrator
	Partly  bool          // people of several tenants are known by one table: members are not shown to all of them
}

// RoleMembers are those whom the configuration gives a role.
type RoleMembers struct {
	Role   string
	People []string // their ids
	Groups []string // of their provider: everybody in one has the role
}

// Directory gives what can be listed, to somebody of a tenant. Where tokens name tenants, members are for the server's own tenant alone.
func (i *Identity) Directory(tenant holdshort.TenantID) Directory {
	d := Directory{Issuers: slices.Sorted(maps.Keys(i.issuer)), Admin: i.admin != nil, Open: i.config.Open}
	if i.login != nil {
		d.Login = i.login.about.Issuer
	}
	d.Partly = tenant != i.config.Tenant
	members := map[string]*RoleMembers{}
	for _, role := range slices.Sorted(maps.Keys(i.roles.known)) {
		d.Roles = append(d.Roles, RoleMembers{Role: role})
	}
	if d.Partly {
		return d
	}
	for n := range d.Roles {
		members[d.Roles[n].Role] = &d.Roles[n]
	}
	for _, id := range slices.Sorted(maps.Keys(i.roles.byID)) {
		for _, role := range i.roles.byID[id] {
			members[role].People = append(members[role].People, id)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(i.roles.byGroup)) {
		for _, role := range i.roles.byGroup[group] {
			members[role].Groups = append(members[role].Groups, group)
		}
	}
	return d
}
