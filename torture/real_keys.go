package torture

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// keychain is the API keys of those who call over HTTP, by their ids.
type keychain map[string]string

const (
	mostReviewers = 16 // who decide the same request at the same moment
	raisers       = 4
)

// root looks at everything.
var root = holdshort.Actor{ID: "ruth", Kind: holdshort.Person, Roles: []string{policy.Admin}}

func raiserName(n int) string { return fmt.Sprint("gate-", n) }

// makeKeys stores everybody's key before the first worker starts: what is tortured is who may decide, not how keys are made.
func makeKeys(ctx context.Context, o RealOptions) (keychain, error) {
	quiet := slog.New(slog.DiscardHandler)
	s, err := openReal(ctx, o.Store, o.Keyring, nil, quiet)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	e, err := engine.New(s, engine.Config{Node: "keys", Logger: quiet})
	if err != nil {
		return nil, err
	}
	keys := keychain{}
	add := func(id string, in engine.CreateKeyInput) error {
		in.Name, in.Actor = "torture "+id, holdshort.SystemActor("torture")
		_, secret, err := e.CreateKey(ctx, realTenant, in)
		keys[id] = secret
		return err
	}
	people := []holdshort.Actor{owner, operator, stranger, root, reviewer(99)}
	for n := range mostReviewers {
		people = append(people, reviewer(n))
	}
	for _, p := range people {
		in := engine.CreateKeyInput{User: p.ID, Roles: p.Roles}
		if p.HasRole(policy.Reviewer) {
			in.Scopes = []string{holdshort.ScopeDecide}
		}
		if err := add(p.ID, in); err != nil {
			return nil, err
		}
	}
	for n := range raisers {
		if err := add(raiserName(n), engine.CreateKeyInput{Scopes: []string{holdshort.ScopeRaise, holdshort.ScopeClaim}}); err != nil {
			return nil, err
		}
	}
	return keys, nil
}
