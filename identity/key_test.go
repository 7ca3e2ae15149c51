package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

func (b *bed) key(tenant holdshort.TenantID, change func(*engine.CreateKeyInput)) (holdshort.Key, string) {
	b.Helper()
	in := engine.CreateKeyInput{Name: "bot", Actor: root}
	if change != nil {
		change(&in)
	}
	key, secret, err := b.CreateKey(b.Context(), tenant, in)
	if err != nil {
		b.Fatal(err)
	}
	return key, secret
}

// TestKeys: a key is a service or somebody's own, with its roles and scopes, of its tenant.
func TestKeys(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{Tenant: "elsewhere", Roles: map[string][]string{"finance": {"ana"}}})
	for name, c := range map[string]struct {
		in   func(*engine.CreateKeyInput)
		want holdshort.Actor
	}{
		"a service":             {nil, holdshort.Actor{Kind: holdshort.Service, Name: "bot"}},
		"a service with roles":  {func(in *engine.CreateKeyInput) { in.Roles = []string{"reviewer"} }, holdshort.Actor{Kind: holdshort.Service, Name: "bot", Roles: []string{"reviewer"}}},
		"with scopes":           {func(in *engine.CreateKeyInput) { in.Scopes = []string{"raise", "claim"} }, holdshort.Actor{Kind: holdshort.Service, Name: "bot"}},
		"a person's":            {func(in *engine.CreateKeyInput) { in.User = "ana" }, holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"finance"}}},
		"a person's, narrowed":  {func(in *engine.CreateKeyInput) { in.User, in.Roles = "ana", []string{"reviewer"} }, holdshort.Actor{ID: "ana", Kind: holdshort.Person, Roles: []string{"reviewer"}}},
		"of somebody not known": {func(in *engine.CreateKeyInput) { in.User = "ben" }, holdshort.Actor{ID: "ben", Kind: holdshort.Person}},
	} {
		key, secret := b.key(tenant, c.in)
		if c.want.ID == "" {
			c.want.ID = "key:" + string(key.ID)
		}
		who, err := i.ResolveActor(bearerOf(secret))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if who.Tenant != tenant || who.Key != key.ID || who.Method != ByKey || who.CSRF || !slices.Equal(who.Scopes, key.Scopes) || who.Actor.ID != c.want.ID || who.Actor.Kind != c.want.Kind ||
			who.Actor.Name != c.want.Name || !slices.Equal(who.Actor.Roles, c.want.Roles) || who.Actor.Assurance != holdshort.AssuranceToken {
			t.Errorf("%s: %+v", name, who)
		}
	}
}

// TestBadKeys: what is unknown, revoked, expired or not whole opens nothing, and all get one answer.
func TestBadKeys(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{})
	revoked, gone := b.key(tenant, nil)
	_, short := b.key(tenant, func(in *engine.CreateKeyInput) { in.ExpiresIn = time.Hour })
	_, good := b.key(tenant, nil)
	for _, secret := range []string{gone, good} {
		if _, err := i.ResolveActor(bearerOf(secret)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.RevokeKey(t.Context(), tenant, revoked.ID, root); err != nil {
		t.Fatal(err)
	}
	b.clock.move(time.Hour)
	hash := sha256.Sum256([]byte(good))
	var answer string
	for name, secret := range map[string]string{
		"revoked":  gone,
		"expired":  short,
		"unknown":  keyPrefix + strings.Repeat("a", len(good)-len(keyPrefix)),
		"cut off":  good[:len(good)-1],
		"longer":   good + "a",
		"a prefix": keyPrefix + "a",
		"the hash": keyPrefix + hex.EncodeToString(hash[:]),
		"nothing":  keyPrefix,
	} {
		who, err := i.ResolveActor(bearerOf(secret))
		wantCode(t, err, holdshort.Unauthenticated)
		if err == nil {
			t.Errorf("%s: %+v", name, who)
			continue
		}
		if answer == "" {
			answer = err.Error()
		}
		if err.Error() != answer || strings.Contains(err.Error(), good) {
			t.Errorf("%s: the answer tells: %v", name, err)
		}
	}
	if _, err := i.ResolveActor(bearerOf(good)); err != nil {
		t.Error(err)
	}
	if strings.Contains(b.log.String(), good) {
		t.Error("the log has a key")
	}
}

// TestTwoTenants: a key, a login and a link are of one tenant, whoever asks.
func TestTwoTenants(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{})
	const other holdshort.TenantID = "other"
	_, mine := b.key(tenant, func(in *engine.CreateKeyInput) { in.User = "ana" })
	_, theirs := b.key(other, func(in *engine.CreateKeyInput) { in.User = "ana" })
	req := b.ask(nil)
	for secret, want := range map[string]holdshort.TenantID{mine: tenant, theirs: other} {
		who, err := i.ResolveActor(bearerOf(secret))
		if err != nil || who.Tenant != want {
			t.Fatalf("%+v %v", who, err)
		}
		_, err = b.RequestFor(t.Context(), who.Tenant, req.ID, holdshort.Actor{ID: who.Actor.ID, Kind: who.Actor.Kind, Roles: []string{policy.Admin}})
		if want == other {
			wantCode(t, err, holdshort.NotFound)
		} else if err != nil {
			t.Error(err)
		}
	}
	_, _, err := i.LinkActor(t.Context(), req.ID, i.LinkFor(other, req, ana, time.Hour))
	wantCode(t, err, holdshort.Unauthenticated)
	session, err := b.CreateLogin(t.Context(), other, holdshort.Login{Kind: holdshort.LoginSession, Actor: ana})
	if err != nil {
		t.Fatal(err)
	}
	r := call("GET", "http://localhost/")
	r.AddCookie(&http.Cookie{Name: cookieName, Value: session})
	if who, err := i.ResolveActor(r); err != nil || who.Tenant != other {
		t.Errorf("%+v %v", who, err)
	}
}

// TestTwoCredentials: a header and a cookie must be of the same somebody, and neither makes up for the other.
func TestTwoCredentials(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{AdminKey: adminKey})
	_, anas := b.key(tenant, func(in *engine.CreateKeyInput) { in.User, in.Roles = "ana", []string{"reviewer"} })
	_, elsewhere := b.key("other", func(in *engine.CreateKeyInput) { in.User = "ana" })
	session, err := b.CreateLogin(t.Context(), tenant, holdshort.Login{Kind: holdshort.LoginSession, Actor: ana})
	if err != nil {
		t.Fatal(err)
	}
	link, err := b.CreateLogin(t.Context(), tenant, holdshort.Login{Kind: holdshort.LoginLink, Actor: ana})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key     string
		cookies []string
		method  string
		code    holdshort.Code
	}{
		"only the cookie":            {"", []string{session}, ByLogin, ""},
		"both of ana":                {anas, []string{session}, ByKey, ""},
		"a key and an old cookie":    {anas, []string{"over"}, ByKey, ""},
		"a cookie of somebody else":  {adminKey, []string{session}, "", holdshort.Unauthenticated},
		"ana of another tenant":      {elsewhere, []string{session}, "", holdshort.Unauthenticated},
		"a bad key, a good cookie":   {"hs_nope", []string{session}, "", holdshort.Unauthenticated},
		"only an old cookie":         {"", []string{"over"}, "", holdshort.Unauthenticated},
		"two cookies":                {"", []string{session, "planted"}, "", holdshort.Unauthenticated},
		"one cookie twice":           {"", []string{session, session}, ByLogin, ""},
		"a one-time link as cookie":  {"", []string{link}, "", holdshort.Unauthenticated},
		"a key as cookie":            {"", []string{anas}, "", holdshort.Unauthenticated},
		"a session as key":           {session, nil, "", holdshort.Unauthenticated},
		"an endless cookie":          {"", []string{strings.Repeat("a", mostCookie+1)}, "", holdshort.Unauthenticated},
		"the administrator's cookie": {"", []string{adminKey}, "", holdshort.Unauthenticated},
	} {
		r := call("GET", "http://localhost/")
		if c.key != "" {
			r.Header.Set("Authorization", "Bearer "+c.key)
		}
		for _, value := range c.cookies {
			r.AddCookie(&http.Cookie{Name: cookieName, Value: value})
		}
		who, err := i.ResolveActor(r)
		if wantCode(t, err, c.code); holdshort.CodeOf(err) != c.code || who.Method != c.method {
			t.Errorf("%s: %+v", name, who)
		}
	}
}

// TestDenied: refusals are events, and not more than one a second of each actor.
func TestDenied(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{})
	who := Who{Tenant: tenant, Actor: ana, Method: ByKey}
	for range 100 {
		i.Denied(t.Context(), who, "manage_keys", "key_1")
	}
	i.Denied(t.Context(), Who{Tenant: tenant, Actor: bot}, "decide", "req_1")
	i.Denied(t.Context(), Who{}, "decide", "req_1") // nobody of no tenant
	got := b.denials()
	slices.Sort(got)
	if len(got) < 2 || len(got) > 10 || got[0] != "decide key:bot" || got[1] != "manage_keys ana" {
		t.Errorf("%v", got)
	}
}

// TestDeniedHere: what is refused before anybody else sees the call is an event too.
func TestDeniedHere(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{})
	key, secret := b.key(tenant, nil)
	r := bearerOf(secret)
	r.Header.Set(userHeader, "ana")
	_, err := i.ResolveActor(r)
	wantCode(t, err, holdshort.Forbidden)
	session, err := b.CreateLogin(t.Context(), tenant, holdshort.Login{Kind: holdshort.LoginSession, Actor: ana})
	if err != nil {
		t.Fatal(err)
	}
	r = call("POST", "http://localhost/", "Sec-Fetch-Site", "cross-site")
	r.AddCookie(&http.Cookie{Name: cookieName, Value: session})
	_, err = i.ResolveActor(r)
	wantCode(t, err, holdshort.Forbidden)
	got := b.denials()
	slices.Sort(got)
	if !slices.Equal(got, []string{"act_as_user key:" + string(key.ID), "cross_site ana"}) {
		t.Errorf("%v", got)
	}
}

// TestStoreAway: a store that does not answer is not a caller without credentials.
func TestStoreAway(t *testing.T) {
	b := newBed(t)
	i := b.identity(Config{AdminKey: adminKey})
	req := b.ask(nil)
	link := i.LinkFor(tenant, req, ana, time.Hour)
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := i.ResolveActor(bearerOf(keyPrefix + strings.Repeat("a", 43)))
	if code := holdshort.CodeOf(err); err == nil || code == holdshort.Unauthenticated || code == holdshort.Forbidden {
		t.Errorf("%v", err)
	}
	if _, _, err := i.LinkActor(t.Context(), req.ID, link); err == nil || holdshort.CodeOf(err) == holdshort.Unauthenticated {
		t.Errorf("%v", err)
	}
	if _, err := i.ResolveActor(bearerOf(adminKey)); err != nil { // it needs no store
		t.Error(err)
	}
}
