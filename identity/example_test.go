package identity_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/identity"
	"github.com/holdshort/holdshort/policy"
	"github.com/holdshort/holdshort/store/sqlite"
)

// A program that knows its users already says who they are.
func ExampleConfig_hook() {
	folder, err := os.MkdirTemp("", "holdshort")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	s, err := sqlite.Open(context.Background(), filepath.Join(folder, "h.db"), sqlite.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	e, err := engine.New(s, engine.Config{})
	if err != nil {
		panic(err)
	}
	users := map[string]string{"cookie-of-ana": "ana"} // however your program knows them
	people, err := identity.New(e, identity.Config{Hook: func(r *http.Request) (identity.Who, bool, error) {
		c, err := r.Cookie("myapp")
		if err != nil {
			return identity.Who{}, false, nil
		}
		user, ok := users[c.Value]
		return identity.Who{Tenant: "default", Actor: holdshort.Actor{ID: user, Kind: holdshort.Person, Roles: []string{policy.Reviewer}}, CSRF: true}, ok, nil
	}})
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest("GET", "/v1/requests", nil)
	_, err = people.ResolveActor(r)
	fmt.Println(holdshort.CodeOf(err))
	r.AddCookie(&http.Cookie{Name: "myapp", Value: "cookie-of-ana"})
	who, err := people.ResolveActor(r)
	fmt.Println(who.Actor.ID, who.Allows(policy.Decide), err)
	// Output:
	// unauthenticated
	// ana true <nil>
}
