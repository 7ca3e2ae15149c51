package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/engine"
)

type keysCommand struct {
	Create keysCreateCommand `cmd:"" help:"Make an API key and show its secret, once."`
	List   keysListCommand   `cmd:"" help:"List API keys."`
	Revoke keysRevokeCommand `cmd:"" help:"End an API key, at once."`
}

func (keysCommand) Help() string {
	return `Through the server; with --store on the store directly, which works before there is any key (stop a server on SQLite first).

Examples:

    holdshort keys create refund-agent --scope raise,claim
    holdshort keys list`
}

// keyStore is where keys are: behind a server, or in a store.
type keyStore struct {
	Store   string `placeholder:"URL" help:"Work on this store directly instead of through a server: sqlite:PATH or postgres://…"`
	Keyring string `env:"HOLDSHORT_KEYRING" placeholder:"FILE" help:"With --store: file with the store's keys; default for SQLite: PATH.keys."`
	Tenant  string `default:"default" help:"With --store: whose keys."`
	clientFlags
	jsonFlag
}

// direct opens the store for one thing to do.
func (k keyStore) direct(ctx context.Context, out *console, do func(*engine.Engine, holdshort.TenantID) error) (err error) {
	tenant, err := holdshort.ParseTenantID(k.Tenant)
	if err != nil {
		return err
	}
	flags := storeFlags{Store: k.Store, Keyring: k.Keyring}
	l, err := flags.locate(out)
	if err != nil {
		return err
	}
	s, err := flags.open(ctx, l, access{Write: true, Migrate: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	e, err := engine.New(s, engine.Config{})
	if err != nil {
		return err
	}
	return do(e, tenant)
}

type keysCreateCommand struct {
	Name    string        `arg:"" help:"What it is for."`
	Scope   []string      `placeholder:"SCOPE" help:"What it may do: view, raise, claim, decide, start, post, manage, act_as_user, keys, webhooks, audit, admin. Default: whatever its roles may."`
	Role    []string      `placeholder:"ROLE" help:"Roles of its actor: admin, operator, auditor, reviewer, or your own."`
	User    string        `placeholder:"ID" help:"Make it the personal key of this person. Default: a service's."`
	Expires time.Duration `placeholder:"DURATION" help:"How long it lasts, such as 720h. Default: until it is revoked."`
	keyStore
}

func (keysCreateCommand) Help() string {
	return `The secret is printed on stdout, alone, and nowhere again: only its hash is kept.

Examples:

    holdshort keys create refund-agent --scope raise,claim
    holdshort keys create "ana's laptop" --user ana@example.org --role reviewer,finance --expires 720h
    holdshort keys create first --role admin --store sqlite:./holdshort.db`
}

func (c *keysCreateCommand) Run(ctx context.Context, out *console) error {
	for _, s := range c.Scope {
		if !slices.Contains(holdshort.KeyScopes, s) {
			return &usageError{Message: "--scope: " + s + " is no scope", Hint: "choose from " + strings.Join(holdshort.KeyScopes, ", ")}
		}
	}
	var made client.NewKeyOutput
	err := c.make(ctx, out, &made)
	if err != nil {
		return err
	}
	if c.JSON {
		return out.encode(made)
	}
	out.notef("made %s, %s: keep the secret, it is shown this once", string(made.ID), oneLine(made.Name))
	out.printf("%s\n", made.Secret)
	return nil
}

func (c *keysCreateCommand) make(ctx context.Context, out *console, made *client.NewKeyOutput) (err error) {
	if c.Store != "" {
		return c.direct(ctx, out, func(e *engine.Engine, tenant holdshort.TenantID) (err error) {
			made.Key, made.Secret, err = e.CreateKey(ctx, tenant, engine.CreateKeyInput{Name: c.Name, User: c.User, Roles: c.Role, Scopes: c.Scope, ExpiresIn: c.Expires, Actor: holdshort.SystemActor("cli")})
			return err
		})
	}
	server, err := c.connect(out)
	if err != nil {
		return err
	}
	in := client.NewKeyInput{Name: c.Name, User: c.User, Roles: c.Role, Scopes: c.Scope}
	if c.Expires > 0 {
		in.ExpiresIn = c.Expires.String()
	}
	*made, err = server.CreateKey(ctx, in)
	return err
}

type keysListCommand struct{ keyStore }

func (keysListCommand) Help() string {
	return `Examples:

    holdshort keys list
    holdshort keys list --store sqlite:./holdshort.db --json`
}

func (c *keysListCommand) Run(ctx context.Context, out *console) (err error) {
	var keys []holdshort.Key
	if c.Store != "" {
		err = c.direct(ctx, out, func(e *engine.Engine, tenant holdshort.TenantID) (err error) {
			keys, err = e.Keys(ctx, tenant)
			return err
		})
	} else {
		var server *client.Client
		if server, err = c.connect(out); err == nil {
			keys, err = server.Keys(ctx)
		}
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return out.encode(map[string]any{"items": list(keys)})
	}
	return table(out, []string{"ID", "SECRET", "NAME", "FOR", "ROLES", "SCOPES", "STATE", "LAST USED"}, len(keys), func(i int) []string {
		k := keys[i]
		return []string{string(k.ID), k.Prefix + "…", k.Name, cmp.Or(k.User, "a service"), cmp.Or(strings.Join(k.Roles, ","), "-"), cmp.Or(strings.Join(k.Scopes, ","), "-"), keyState(k, time.Now()), lastUsed(k)}
	})
}

func keyState(k holdshort.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.Live(now):
		return "expired"
	case !k.ExpiresAt.IsZero():
		return "live, " + age(k.ExpiresAt.Sub(now)) + " left"
	}
	return "live"
}

func lastUsed(k holdshort.Key) string {
	if k.LastUsedAt.IsZero() {
		return "never"
	}
	return k.LastUsedAt.UTC().Format(time.RFC3339)
}

type keysRevokeCommand struct {
	Key string `arg:"" help:"The key's id: key_…"`
	keyStore
}

func (keysRevokeCommand) Help() string {
	return `Examples:

    holdshort keys revoke key_01jc8zv0q8f5tq2m9d4x7k3n1w`
}

func (c *keysRevokeCommand) Run(ctx context.Context, out *console) (err error) {
	id := holdshort.KeyID(c.Key)
	if c.Store != "" {
		err = c.direct(ctx, out, func(e *engine.Engine, tenant holdshort.TenantID) error {
			_, err := e.RevokeKey(ctx, tenant, id, holdshort.SystemActor("cli"))
			return err
		})
	} else {
		var server *client.Client
		if server, err = c.connect(out); err == nil {
			err = server.RevokeKey(ctx, id)
		}
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return out.encode(map[string]string{"id": c.Key, "state": "revoked"})
	}
	out.printf("%s is revoked\n", c.Key)
	return nil
}
