package engine_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store"
)

func (b *bed) key(in engine.CreateKeyInput) (holdshort.Key, string) {
	b.Helper()
	if in.Name == "" {
		in.Name = "till"
	}
	if in.Actor.ID == "" {
		in.Actor = root
	}
	key, secret, err := b.CreateKey(b.Context(), tenant, in)
	if err != nil {
		b.Fatal(err)
	}
	return key, secret
}

func (b *bed) opens(secret string) bool {
	b.Helper()
	_, _, err := b.KeyBySecret(b.Context(), secret)
	if err != nil && code(err) != holdshort.NotFound {
		b.Fatal(err)
	}
	return err == nil
}

// TestKeys: a key opens its tenant until it is revoked or expires, its secret is stored nowhere, and each step leaves its event.
func TestKeys(t *testing.T) {
	b := newBed(t, engine.Config{})
	key, secret := b.key(engine.CreateKeyInput{Name: "till", Roles: []string{"finance"}, Scopes: []string{"raise", "claim"}, ExpiresIn: time.Hour})
	if !regexp.MustCompile(`^hs_[A-Za-z0-9_-]{43}$`).MatchString(secret) || key.Prefix != secret[:9] || key.Hash != "" {
		t.Errorf("made %+v with a secret of %d characters", key, len(secret))
	}
	whose, found, err := b.KeyBySecret(t.Context(), secret)
	if err != nil || whose != tenant || found.ID != key.ID || found.Hash != "" || !slices.Equal(found.Scopes, key.Scopes) {
		t.Fatalf("found %+v of %s: %v", found, whose, err)
	}
	actor := found.Actor()
	if actor.ID != "key:"+string(key.ID) || actor.Kind != holdshort.Service || !actor.HasRole("finance") || actor.Assurance != holdshort.AssuranceToken {
		t.Errorf("acts as %+v", actor)
	}
	_, personal := b.key(engine.CreateKeyInput{Name: "ana's laptop", User: "ana"})
	if _, k, err := b.KeyBySecret(t.Context(), personal); err != nil || k.Actor().ID != "ana" || k.Actor().Kind != holdshort.Person {
		t.Errorf("ana's key acts as %+v: %v", k.Actor(), err)
	}
	for _, wrong := range []string{"", secret + "x", secret[:20], strings.ToUpper(secret), "hs_", "\x00", "\xff"} {
		if b.opens(wrong) {
			t.Errorf("%q opens something", wrong)
		}
	}
	list, err := b.Keys(t.Context(), tenant)
	if err != nil || len(list) != 2 || slices.ContainsFunc(list, func(k holdshort.Key) bool { return k.Hash != "" }) {
		t.Errorf("listed %+v: %v", list, err)
	}
	if other, err := b.Keys(t.Context(), "rival"); err != nil || len(other) != 0 {
		t.Errorf("another tenant sees %v: %v", other, err)
	}

	b.restart(nil)
	if !b.opens(secret) {
		t.Error("a restart closed it")
	}
	gone, err := b.RevokeKey(t.Context(), tenant, key.ID, root)
	if err != nil || gone.RevokedAt.IsZero() || gone.Hash != "" {
		t.Errorf("revoked %+v: %v", gone, err)
	}
	if b.opens(secret) {
		t.Error("a revoked key opens")
	}
	if again, err := b.RevokeKey(t.Context(), tenant, key.ID, root); err != nil || !again.RevokedAt.Equal(gone.RevokedAt) {
		t.Errorf("revoked again: %+v %v", again, err)
	}
	if _, err := b.RevokeKey(t.Context(), "rival", key.ID, root); code(err) != holdshort.NotFound {
		t.Errorf("another tenant revokes it: %v", err)
	}
	if got := b.events("key.*"); !slices.Equal(got, []string{"key.created by key_root", "key.created by key_root", "key.revoked by key_root"}) {
		t.Errorf("events %v", got)
	}
}

// TestKeyExpires: at its time, whatever is remembered of it; and a use is noted once a minute.
func TestKeyExpires(t *testing.T) {
	b := newBed(t, engine.Config{})
	key, secret := b.key(engine.CreateKeyInput{ExpiresIn: time.Hour})
	used := func() time.Time {
		b.Helper()
		if err := b.Drain(); err != nil { // lets the note be written
			t.Fatal(err)
		}
		b.attach()
		list, err := b.Keys(t.Context(), tenant)
		if err != nil {
			t.Fatal(err)
		}
		return list[0].LastUsedAt
	}
	if got := used(); !got.IsZero() {
		t.Errorf("used at %v before it was", got)
	}
	b.opens(secret)
	first := used()
	if first.Before(key.CreatedAt) || first.After(key.CreatedAt.Add(time.Minute)) {
		t.Errorf("used at %v", first)
	}
	b.clock.move(30 * time.Second)
	b.opens(secret)
	if got := used(); !got.Equal(first) {
		t.Errorf("noted again after half a minute: %v", got)
	}
	b.clock.move(40 * time.Second)
	b.opens(secret)
	if got := used(); !got.After(first.Add(time.Minute)) {
		t.Errorf("not noted after a minute: %v", got)
	}
	b.clock.move(57 * time.Minute)
	if !b.opens(secret) {
		t.Error("it expired early")
	}
	b.attach()
	b.clock.move(2 * time.Minute)
	if b.opens(secret) {
		t.Error("it did not expire")
	}
}

// TestKeyRefusals: only administrators make keys, nobody gives more than they have, and refusals are noted.
func TestKeyRefusals(t *testing.T) {
	b := newBed(t, engine.Config{})
	admin := holdshort.Actor{ID: "ada", Kind: holdshort.Person, Roles: []string{"admin"}}
	for name, c := range map[string]struct {
		in   engine.CreateKeyInput
		code holdshort.Code
	}{
		"an administrator":                 {engine.CreateKeyInput{Name: "x", Actor: admin, Roles: []string{"admin", "finance"}}, ""},
		"the kernel":                       {engine.CreateKeyInput{Name: "x", Actor: holdshort.SystemActor("setup")}, ""},
		"within its scopes":                {engine.CreateKeyInput{Name: "x", Actor: admin, Within: []string{"keys", "raise"}, Scopes: []string{"raise"}}, ""},
		"within all scopes":                {engine.CreateKeyInput{Name: "x", Actor: admin, Within: []string{"admin"}}, ""},
		"beyond its scopes":                {engine.CreateKeyInput{Name: "x", Actor: admin, Within: []string{"keys", "raise"}, Scopes: []string{"raise", "decide"}}, holdshort.Forbidden},
		"without scopes, having some":      {engine.CreateKeyInput{Name: "x", Actor: admin, Within: []string{"keys"}}, holdshort.Forbidden},
		"an operator":                      {engine.CreateKeyInput{Name: "x", Actor: ops}, holdshort.Forbidden},
		"a reviewer":                       {engine.CreateKeyInput{Name: "x", Actor: ana}, holdshort.Forbidden},
		"nobody":                           {engine.CreateKeyInput{Name: "x"}, holdshort.Forbidden},
		"a service":                        {engine.CreateKeyInput{Name: "x", Actor: bot}, holdshort.Forbidden},
		"who says to be the kernel":        {engine.CreateKeyInput{Name: "x", Actor: holdshort.Actor{ID: "eve", Kind: holdshort.System}}, holdshort.Forbidden},
		"no name":                          {engine.CreateKeyInput{Actor: admin}, holdshort.Invalid},
		"an endless name":                  {engine.CreateKeyInput{Name: strings.Repeat("x", 300), Actor: admin}, holdshort.Invalid},
		"an unknown scope":                 {engine.CreateKeyInput{Name: "x", Scopes: []string{"everything"}, Actor: admin}, holdshort.Invalid},
		"an empty role":                    {engine.CreateKeyInput{Name: "x", Roles: []string{""}, Actor: admin}, holdshort.Invalid},
		"many roles":                       {engine.CreateKeyInput{Name: "x", Roles: slices.Repeat([]string{"r"}, 40), Actor: admin}, holdshort.Invalid},
		"a user who looks like a key":      {engine.CreateKeyInput{Name: "x", User: "key:key_1", Actor: admin}, holdshort.Invalid},
		"a user who looks like the kernel": {engine.CreateKeyInput{Name: "x", User: "system:timeout", Actor: admin}, holdshort.Invalid},
		"a life before its birth":          {engine.CreateKeyInput{Name: "x", ExpiresIn: -1, Actor: admin}, holdshort.Invalid},
		"a life without end":               {engine.CreateKeyInput{Name: "x", ExpiresIn: 20 * 366 * 24 * time.Hour, Actor: admin}, holdshort.Invalid},
		"an id of something else":          {engine.CreateKeyInput{ID: "run_1", Name: "x", Actor: admin}, holdshort.Invalid},
		"its id":                           {engine.CreateKeyInput{ID: holdshort.NewKeyID(time.Now()), Name: "x", Actor: admin}, ""},
	} {
		key, secret, err := b.CreateKey(t.Context(), tenant, c.in)
		if code(err) != c.code || (err == nil) != (secret != "" && key.ID != "") {
			t.Errorf("%s: %v %v", name, key, err)
		}
		if err != nil && holdshort.HintOf(err) == "" {
			t.Errorf("%s: %v says not what to do", name, err)
		}
		if c.in.ID != "" && err == nil && key.ID != c.in.ID {
			t.Errorf("%s: got %s", name, key.ID)
		}
	}
	if _, err := b.RevokeKey(t.Context(), tenant, "key_x", ben); code(err) != holdshort.Forbidden {
		t.Errorf("ben revokes: %v", err)
	}
	denied := b.events("access.denied")
	for _, want := range []string{"access.denied hitl.key.create by ops", "access.denied hitl.key.create by ana", "access.denied hitl.key.revoke by ben"} {
		if !slices.Contains(denied, want) {
			t.Errorf("no event %q among %v", want, denied)
		}
	}
}

// TestLogins: a link opens one session, once, and a session is over when it was ended or its time is.
func TestLogins(t *testing.T) {
	b := newBed(t, engine.Config{})
	make := func(l holdshort.Login) string {
		b.Helper()
		token, err := b.CreateLogin(t.Context(), tenant, l)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	person := holdshort.Actor{ID: "ana", Kind: holdshort.Person, Name: "Ana", Roles: []string{"finance"}, Assurance: holdshort.AssuranceLogin}
	link := make(holdshort.Login{Kind: holdshort.LoginLink, Actor: person})
	if _, _, err := b.LoginBy(t.Context(), link); code(err) != holdshort.NotFound {
		t.Errorf("a link is a session: %v", err)
	}
	whose, session, token, err := b.RedeemLogin(t.Context(), link)
	if err != nil || whose != tenant || session.Kind != holdshort.LoginSession || session.Actor.ID != "ana" || session.Hash != "" || token == link {
		t.Fatalf("redeemed %+v of %s: %v", session, whose, err)
	}
	if _, _, again, err := b.RedeemLogin(t.Context(), link); code(err) != holdshort.NotFound || again != "" {
		t.Errorf("redeemed again: %v", err)
	}
	if _, _, _, err := b.RedeemLogin(t.Context(), token); code(err) != holdshort.NotFound {
		t.Errorf("a session redeemed: %v", err)
	}
	by := func(token string) holdshort.Code {
		b.Helper()
		whose, l, err := b.LoginBy(t.Context(), token)
		if err == nil && (whose != tenant || l.Actor.ID != "ana" || !l.Actor.HasRole("finance")) {
			t.Errorf("opens %+v of %s", l, whose)
		}
		return code(err)
	}
	if got := by(token); got != "" {
		t.Errorf("the session: %v", got)
	}
	b.restart(nil)
	if got := by(token); got != "" {
		t.Errorf("the session after a restart: %v", got)
	}
	b.clock.move(12 * time.Hour)
	if got := by(token); got != holdshort.NotFound {
		t.Errorf("after its time: %v", got)
	}
	second := make(holdshort.Login{Kind: holdshort.LoginSession, Actor: person, ExpiresAt: b.clock.now().Add(time.Minute)})
	for range 2 {
		if err := b.EndLogin(t.Context(), second); err != nil {
			t.Errorf("end: %v", err)
		}
		if got := by(second); got != holdshort.NotFound {
			t.Errorf("after its end: %v", got)
		}
	}
	late := make(holdshort.Login{Kind: holdshort.LoginLink, Actor: person})
	b.clock.move(16 * time.Minute)
	if _, _, _, err := b.RedeemLogin(t.Context(), late); code(err) != holdshort.NotFound {
		t.Errorf("a link of long ago: %v", err)
	}
	if err := b.EndLogin(t.Context(), "unknown"); err != nil {
		t.Errorf("end what is not there: %v", err)
	}
	for _, wrong := range []holdshort.Login{{Actor: person}, {Kind: "robot", Actor: person}, {Kind: holdshort.LoginLink}, {Kind: holdshort.LoginLink, Actor: bot},
		{Kind: holdshort.LoginSession, Actor: person, ExpiresAt: b.clock.now()}, {Kind: holdshort.LoginSession, Actor: person, ExpiresAt: b.clock.now().AddDate(1, 0, 0)}} {
		if token, err := b.CreateLogin(t.Context(), tenant, wrong); code(err) != holdshort.Invalid || token != "" {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	want := []string{"login.created link by ana", "login.redeemed by ana", "login.created session by ana", "login.ended session by ana", "login.created link by ana"}
	if got := b.events("login.*"); !slices.Equal(got, want) {
		t.Errorf("events %v", got)
	}
	for _, row := range []string{link, token, second} {
		if found := contains(t, b.store, row); found {
			t.Errorf("a token is stored")
		}
	}
}

// contains reports whether a login is stored under a token itself.
func contains(t *testing.T, s store.Store, token string) bool {
	t.Helper()
	_, _, err := s.System().LoginByHash(t.Context(), token)
	if err != nil && !errors.Is(err, holdshort.NotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// TestRedeemTogether: of many at once one gets in.
func TestRedeemTogether(t *testing.T) {
	eachStore(t, engine.Config{}, func(t *testing.T, e *engine.Engine) {
		link, err := e.CreateLogin(t.Context(), tenant, holdshort.Login{Kind: holdshort.LoginLink, Actor: ana})
		if err != nil {
			t.Fatal(err)
		}
		tokens := make(chan string, 20)
		for range cap(tokens) {
			go func() {
				_, _, token, err := e.RedeemLogin(t.Context(), link)
				if err != nil && code(err) != holdshort.NotFound {
					t.Errorf("a loser hears %v", err)
				}
				tokens <- token
			}()
		}
		in := 0
		for range cap(tokens) {
			if token := <-tokens; token != "" {
				in++
				if _, _, err := e.LoginBy(t.Context(), token); err != nil {
					t.Errorf("the winner's session: %v", err)
				}
			}
		}
		if in != 1 {
			t.Errorf("%d got in", in)
		}
	})
}
