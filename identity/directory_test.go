package identity

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The directory says who was given which role beforehand, and holds nothing that opens a door.
func TestDirectory(t *testing.T) {
	b := newBed(t)
	secret := "2f9c1d7be04a68f35b" + "7712aa90cd63e8f1"
	i, err := New(b.Engine, Config{AdminKey: secret, JWT: &JWT{Issuer: "https://issuer.example.org", Audience: []string{"holdshort"}, Secret: secret + "jwt"},
		Roles: map[string][]string{"finance": {"bob@example.org", "group:accounting", "ana@example.org"}, "admin": {"ana@example.org"}, "empty": nil}})
	if err != nil {
		t.Fatal(err)
	}
	d := i.Directory("default")
	if len(d.Roles) != 3 || d.Roles[0].Role != "admin" || d.Roles[2].Role != "finance" || !slices.Equal(d.Roles[2].People, []string{"ana@example.org", "bob@example.org"}) ||
		!slices.Equal(d.Roles[2].Groups, []string{"accounting"}) || !d.Admin || d.Partly || d.Open || !slices.Equal(d.Issuers, []string{"https://issuer.example.org"}) {
		t.Errorf("%+v", d)
	}
	elsewhere := i.Directory("elsewhere")
	text, err := json.Marshal([]Directory{d, elsewhere})
	if err != nil || strings.Contains(string(text), secret) {
		t.Errorf("%s %v", text, err)
	}
	if !elsewhere.Partly || len(elsewhere.Roles) != 3 || slices.ContainsFunc(elsewhere.Roles, func(r RoleMembers) bool { return len(r.People)+len(r.Groups) > 0 }) {
		t.Errorf("another tenant is told %+v", elsewhere)
	}
}
