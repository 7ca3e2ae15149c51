package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/client"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/identity"
)

// What the file says of who is who arrives where it counts.
func TestIdentityOf(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(keys, []byte(`{"keys":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Config{Server: config.Server{PublicURL: "https://hold.example.org"}, Auth: config.Auth{Tenant: "acme", Roles: map[string][]string{"finance": {"ana"}},
		OIDC: &config.OIDC{Issuer: "https://login.example.org", ClientID: "x", ClientSecret: "y", RedirectURL: "https://hold.example.org/login/callback", Scopes: []string{"openid"}, Audience: []string{"a"},
			Prefix: "o:", User: "u", Name: "n", Roles: "r", Groups: "g", Tenant: "t"},
		JWT: &config.JWT{Issuer: "https://other.example.org", Audience: []string{"b"}, KeysFile: keys, Algorithms: []string{"RS256"}, Prefix: "j:", User: "u2", Name: "n2", Roles: "r2", Groups: "g2", Tenant: "t2"}}}
	got, err := identityOf(c, "an-administrators-key", false)
	if err != nil {
		t.Fatal(err)
	}
	o, j := got.OIDC, got.JWT
	if got.Tenant != "acme" || got.AdminKey == "" || got.Open || got.PublicURL != c.Server.PublicURL || got.Roles["finance"][0] != "ana" ||
		o.Issuer != c.Auth.OIDC.Issuer || o.ClientID != "x" || o.ClientSecret != "y" || o.RedirectURL == "" || o.Scopes[0] != "openid" || o.Audience[0] != "a" || o.Prefix != "o:" ||
		o.User != "u" || o.Name != "n" || o.Roles != "r" || o.Groups != "g" || o.Tenant != "t" ||
		j.Issuer != c.Auth.JWT.Issuer || j.Audience[0] != "b" || string(j.Keys) != `{"keys":[]}` || j.Algorithms[0] != "RS256" || j.Prefix != "j:" ||
		j.User != "u2" || j.Name != "n2" || j.Roles != "r2" || j.Groups != "g2" || j.Tenant != "t2" {
		t.Errorf("%+v\n%+v\n%+v", got, o, j)
	}
	if _, err := identityOf(c, "", true); explain(err).exit != exitUsage {
		t.Errorf("--open beside authentication: %v", err)
	}
	c.Auth.JWT.KeysFile = "nowhere"
	if _, err := identityOf(c, "", false); holdshort.CodeOf(err) != holdshort.Invalid {
		t.Errorf("keys that are not there: %v", err)
	}
}

// Flags go over the file, and sections that this build does not run are named.
func TestServeReads(t *testing.T) {
	t.Chdir(t.TempDir())
	out := &console{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	read := func(c *serveCommand) (config.Config, error) { return c.read(t.Context(), out) }
	none := &serveCommand{}
	if got, err := read(none); err != nil || got.Server.Addr != defaultAddr || none.Store != "" {
		t.Errorf("no file: %+v, %v", got.Server, err)
	}
	if err := os.WriteFile("holdshort.yaml", []byte("server: {addr: ':1'}\nstores: {main: {url: 'sqlite:a.db', keyring: k}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := &serveCommand{}
	if got, err := read(plain); err != nil || got.Server.Addr != ":1" || plain.Store != "sqlite:a.db" || plain.Keyring != "k" {
		t.Errorf("the file: %+v, %+v, %v", got.Server, plain, err)
	}
	flags := &serveCommand{Addr: ":2", storeFlags: storeFlags{Store: "sqlite:b.db"}}
	if got, err := read(flags); err != nil || got.Server.Addr != ":2" || flags.Store != "sqlite:b.db" {
		t.Errorf("flags: %+v, %+v, %v", got.Server, flags, err)
	}
}

// The process lives as long as server.shutdown says: for the calls under way, for those of the engine after them, and
// some time to close.
func TestServeHasTheTimeToStop(t *testing.T) {
	t.Chdir(t.TempDir())
	out := &console{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	for text, want := range map[string]time.Duration{"server: {}\n": 30 * time.Second, "server: {shutdown: 3s}\n": 16 * time.Second,
		"server: {shutdown: 2m}\n": 250 * time.Second} {
		if err := os.WriteFile("holdshort.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := &serveCommand{}
		if _, err := c.read(t.Context(), out); err != nil || c.Grace() != want {
			t.Errorf("%s: %v, want %v, %v", text, c.Grace(), want, err)
		}
	}
}

// A store that has a live key knows somebody; an empty one, or one whose keys are gone, does not. Looking makes nothing.
func TestServeAdmits(t *testing.T) {
	t.Chdir(t.TempDir())
	admit := func() error {
		known := identity.Config{Tenant: "default"}
		return (&serveCommand{}).admit(t.Context(), location{Driver: sqliteDriver, Path: "a.db"}, ":8080", &known)
	}
	if err := admit(); holdshort.CodeOf(err) != holdshort.Forbidden {
		t.Errorf("no store: %v", err)
	}
	if _, err := os.Stat("a.db"); err == nil {
		t.Error("looking made a store")
	}
	do := func(args string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &console{stdout: &stdout, stderr: &stderr}, &grammar{}); code != exitOK {
			t.Fatalf("%s: exit %d, %s", args, code, stderr.String())
		}
		return stdout.String()
	}
	do("migrate --store sqlite:a.db")
	if err := admit(); holdshort.CodeOf(err) != holdshort.Forbidden {
		t.Errorf("no keys: %v", err)
	}
	var made client.NewKeyOutput
	if err := json.Unmarshal([]byte(do("keys create first --role admin --store sqlite:a.db --json")), &made); err != nil {
		t.Fatal(err)
	}
	if err := admit(); err != nil {
		t.Errorf("with a key: %v", err)
	}
	do("keys revoke " + string(made.ID) + " --store sqlite:a.db")
	if err := admit(); holdshort.CodeOf(err) != holdshort.Forbidden {
		t.Errorf("with a revoked key: %v", err)
	}
}
