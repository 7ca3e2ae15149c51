package identity

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/holdshort/holdshort"
)

func pemOf(t *testing.T, s signing) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.public().Key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// TestTokens: what a good token makes of its bearer.
func TestTokens(t *testing.T) {
	b := newBed(t)
	r, e, d := newRSA("r"), newEC("e"), newEd("d")
	p := newProvider(t, b.clock, r, e, d)
	i := b.identity(Config{PublicURL: "http://localhost:8080", OIDC: &OIDC{Issuer: p.URL, ClientID: clientID, Claims: Claims{Roles: "realm.roles"}},
		Roles: map[string][]string{"finance": {"ana@example.org"}, "reviewer": {"group:desk"}, "boss": {"bob"}}})
	for name, c := range map[string]struct {
		by      signing
		changes map[string]any
		id      string
		kind    holdshort.ActorKind
		roles   []string
	}{
		"RSA":                   {r, nil, "ana@example.org", holdshort.Person, []string{"finance"}},
		"ECDSA":                 {e, nil, "ana@example.org", holdshort.Person, []string{"finance"}},
		"Ed25519":               {d, nil, "ana@example.org", holdshort.Person, []string{"finance"}},
		"groups":                {r, map[string]any{"groups": []string{"desk", "other"}}, "ana@example.org", holdshort.Person, []string{"finance", "reviewer"}},
		"one group":             {r, map[string]any{"groups": "desk"}, "ana@example.org", holdshort.Person, []string{"finance", "reviewer"}},
		"groups of no list":     {r, map[string]any{"groups": 7}, "ana@example.org", holdshort.Person, []string{"finance"}},
		"roles of a claim":      {r, map[string]any{"realm": map[string]any{"roles": []any{"ops", 3, "group:desk", "a\nb"}}}, "ana@example.org", holdshort.Person, []string{"finance", "ops"}},
		"address not verified":  {r, map[string]any{"email_verified": false}, "7", holdshort.Person, nil},
		"address of no flag":    {r, map[string]any{"email_verified": nil}, "7", holdshort.Person, nil},
		"a flag that is a text": {r, map[string]any{"email_verified": "true"}, "ana@example.org", holdshort.Person, []string{"finance"}},
		"a program":             {r, map[string]any{"sub": "batch", "client_id": "batch", "email": nil}, "batch", holdshort.Service, nil},
		"for several":           {r, map[string]any{"aud": []string{"else", clientID}}, "ana@example.org", holdshort.Person, []string{"finance"}},
		"a slow clock":          {r, map[string]any{"nbf": b.clock.now().Add(50 * time.Second).Unix()}, "ana@example.org", holdshort.Person, []string{"finance"}},
		"just over":             {r, map[string]any{"exp": b.clock.now().Add(-50 * time.Second).Unix()}, "ana@example.org", holdshort.Person, []string{"finance"}},
		"times with a fraction": {r, map[string]any{"exp": float64(b.clock.now().Unix()) + 100.5}, "ana@example.org", holdshort.Person, []string{"finance"}},
	} {
		who, err := i.ResolveActor(bearerOf(c.by.sign(t, p.said(c.changes))))
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, b.log)
			continue
		}
		if who.Tenant != tenant || who.Method != ByJWT || who.Actor.ID != c.id || who.Actor.Kind != c.kind || !slices.Equal(who.Actor.Roles, c.roles) ||
			who.Actor.Assurance != holdshort.AssuranceToken || who.CSRF {
			t.Errorf("%s: %+v", name, who)
		}
	}
	if n := p.fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// TestBadTokens: whatever is wrong with a token, the answer is one and the same, and nobody is let in.
func TestBadTokens(t *testing.T) {
	b := newBed(t)
	good, foreign := newRSA("r"), newEC("r")
	p := newProvider(t, b.clock, good, newEC("e"))
	i := b.identity(Config{PublicURL: "http://localhost:8080", OIDC: &OIDC{Issuer: p.URL, ClientID: clientID}})
	whole := good.sign(t, p.said(nil))
	parts := strings.Split(whole, ".")
	b64 := func(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) }
	shared := func(secret []byte) string {
		return signing{"r", jose.HS256, secret}.sign(t, p.said(nil))
	}
	n := good.public().Key
	der, err := x509.MarshalPKIXPublicKey(n)
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := good.public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	withKey := func() string { // a key that it brings itself
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: newEC("r").key}, &jose.SignerOptions{EmbedJWK: true})
		if err != nil {
			t.Fatal(err)
		}
		payload, _ := json.Marshal(p.said(nil))
		jws, err := signer.Sign(payload)
		if err != nil {
			t.Fatal(err)
		}
		token, _ := jws.CompactSerialize()
		return token
	}
	ago := func(d time.Duration) int64 { return b.clock.now().Add(-d).Unix() }
	tokens := map[string]string{
		"alg none":             b64(`{"alg":"none","typ":"JWT"}`) + "." + parts[1] + ".",
		"alg none, signed":     b64(`{"alg":"none","typ":"JWT"}`) + "." + parts[1] + "." + parts[2],
		"alg None":             b64(`{"alg":"None"}`) + "." + parts[1] + ".",
		"no alg":               b64(`{}`) + "." + parts[1] + "." + parts[2],
		"HS256 with the PEM":   shared(pemOf(t, good)),
		"HS256 with the DER":   shared(der),
		"HS256 with the JWK":   shared(jwk),
		"HS256 with nothing":   shared(bytes.Repeat([]byte{0}, 32)),
		"another's key":        foreign.sign(t, p.said(nil)),
		"a key it brings":      withKey(),
		"unknown kid":          signing{"x", jose.RS256, rsaKey()}.sign(t, p.said(nil)),
		"the kid of another":   signing{"e", jose.RS256, rsaKey()}.sign(t, p.said(nil)),
		"another algorithm":    signing{"r", jose.PS256, rsaKey()}.sign(t, p.said(nil)),
		"other claims":         parts[0] + "." + b64(strings.Replace(decode(t, parts[1]), "Ana@", "Bob@", 1)) + "." + parts[2],
		"no signature":         parts[0] + "." + parts[1] + ".",
		"half a signature":     whole[:len(whole)-20],
		"garbage":              "a.b.c",
		"dots":                 "..",
		"wrong audience":       good.sign(t, p.said(map[string]any{"aud": "else"})),
		"no audience":          good.sign(t, p.said(map[string]any{"aud": nil})),
		"audience of no text":  good.sign(t, p.said(map[string]any{"aud": 5})),
		"wrong issuer":         good.sign(t, p.said(map[string]any{"iss": "https://evil.example"})),
		"issuer with a slash":  good.sign(t, p.said(map[string]any{"iss": p.URL + "/"})),
		"no issuer":            good.sign(t, p.said(map[string]any{"iss": nil})),
		"expired":              good.sign(t, p.said(map[string]any{"exp": ago(61 * time.Second)})),
		"never expires":        good.sign(t, p.said(map[string]any{"exp": nil})),
		"expires as a text":    good.sign(t, p.said(map[string]any{"exp": "4102444800"})),
		"expires far away":     good.sign(t, p.said(map[string]any{"exp": 1e300})),
		"not yet valid":        good.sign(t, p.said(map[string]any{"nbf": ago(-61 * time.Second)})),
		"nbf of no time":       good.sign(t, p.said(map[string]any{"nbf": "later"})),
		"made in the future":   good.sign(t, p.said(map[string]any{"iat": ago(-61 * time.Second)})),
		"no sub":               good.sign(t, p.said(map[string]any{"sub": nil})),
		"empty sub":            good.sign(t, p.said(map[string]any{"sub": ""})),
		"sub of no text":       good.sign(t, p.said(map[string]any{"sub": 7})),
		"a key's id":           good.sign(t, p.said(map[string]any{"sub": "key:admin", "email": nil})),
		"the kernel's id":      good.sign(t, p.said(map[string]any{"sub": "system:timeout", "email": nil})),
		"the local admin's id": good.sign(t, p.said(map[string]any{"sub": "local", "email": nil})),
		"an id of two lines":   good.sign(t, p.said(map[string]any{"sub": "a\nb", "email": nil})),
		"an id turned around":  good.sign(t, p.said(map[string]any{"sub": "a\u202eb", "email": nil})),
		"a long id":            good.sign(t, p.said(map[string]any{"sub": strings.Repeat("a", 201), "email": nil})),
		"another kind":         good.sign(t, p.said(nil), "typ", "logout+jwt"),
		"critical header":      good.sign(t, p.said(nil), "crit", []string{"b64"}, "b64", false),
		"claims of no object":  parts[0] + "." + b64(`[]`) + "." + parts[2],
	}
	var answer string
	for name, token := range tokens {
		who, err := i.ResolveActor(bearerOf(token))
		wantCode(t, err, holdshort.Unauthenticated)
		if err == nil || who.Actor.ID != "" {
			t.Errorf("%s: let in as %+v", name, who)
			continue
		}
		if answer == "" {
			answer = err.Error()
		}
		if err.Error() != answer && !strings.Contains(err.Error(), "no API key and no token") {
			t.Errorf("%s: the answer tells: %v", name, err)
		}
	}
	if _, err := i.ResolveActor(bearerOf(whole)); err != nil {
		t.Errorf("the good one: %v", err)
	}
	if strings.Contains(b.log.String(), parts[2]) {
		t.Error("the log has a token")
	}
}

func decode(t *testing.T, part string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRotation: a new key is found when its first token comes; one that the issuer took back stops counting.
func TestRotation(t *testing.T) {
	b := newBed(t)
	first, second := newEC("1"), newEC("2")
	p := newProvider(t, b.clock, first)
	i := b.identity(Config{JWT: &JWT{Issuer: p.URL, Audience: []string{clientID}}})
	let := func(s signing) bool {
		_, err := i.ResolveActor(bearerOf(s.sign(t, p.said(nil))))
		return err == nil
	}
	if !let(first) || let(second) {
		t.Fatal("before")
	}
	p.rotate(second, first)
	b.clock.move(time.Minute)
	if !let(second) || !let(first) {
		t.Fatal("both")
	}
	p.rotate(second)
	b.clock.move(freshKeys + time.Second)
	if !let(first) { // the issuer is asked behind this call
		t.Fatal("a call waits for the issuer")
	}
	remote := i.issuer[p.URL].keys.(*remoteKeys)
	remote.turn.mine <- struct{}{} // until that is done
	<-remote.turn.mine
	if let(first) || !let(second) {
		t.Error("a key that was taken back still counts")
	}
}

// TestIssuerAway: keys that were seen keep counting, unknown ones do not, and the issuer is not flooded.
func TestIssuerAway(t *testing.T) {
	b := newBed(t)
	known, made := newEC("1"), newEC("2")
	p := newProvider(t, b.clock, known)
	i := b.identity(Config{JWT: &JWT{Issuer: p.URL, Audience: []string{clientID}}})
	let := func(s signing) error {
		_, err := i.ResolveActor(bearerOf(s.sign(t, p.said(nil))))
		return err
	}
	p.down.Store(true)
	wantCode(t, let(known), holdshort.Unauthenticated) // never seen yet, and it started without its issuer
	p.down.Store(false)
	b.clock.move(time.Minute)
	if err := let(known); err != nil {
		t.Fatal(err, b.log)
	}
	p.down.Store(true)
	b.clock.move(24 * time.Hour)
	for range 5 {
		if err := let(known); err != nil {
			t.Fatal(err)
		}
	}
	p.down.Store(false)
	before := p.fetches.Load()
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() { wantCode(t, let(made), holdshort.Unauthenticated) })
	}
	all.Wait()
	if n := p.fetches.Load() - before; n > fetchBurst {
		t.Errorf("200 made-up tokens became %d fetches", n)
	}
	if err := let(known); err != nil {
		t.Error(err)
	}
}

// TestStaticKeys: keys of the configuration, public or shared.
func TestStaticKeys(t *testing.T) {
	b := newBed(t)
	p := newProvider(t, b.clock)
	ec, ed, rs := newEC("e"), newEd(""), newRSA("r")
	const secret = "0123456789abcdef0123456789abcdef"
	hs := signing{"", jose.HS256, []byte(secret)}
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{ec.public(), {Key: []byte(secret), KeyID: "h"}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		jwt  JWT
		good []signing
		bad  []signing
	}{
		"JWKS":       {JWT{Keys: set}, []signing{ec}, []signing{ed, rs, hs, {"h", jose.HS256, []byte(secret)}}},
		"PEM":        {JWT{Keys: slices.Concat(pemOf(t, ed), pemOf(t, rs))}, []signing{ed, rs}, []signing{ec, hs, {"", jose.HS256, pemOf(t, rs)}}},
		"a secret":   {JWT{Secret: secret}, []signing{hs}, []signing{ec, ed, rs, {"", jose.HS512, []byte(secret + secret)}, {"", jose.HS256, []byte(strings.ToUpper(secret))}}},
		"only EdDSA": {JWT{Keys: slices.Concat(pemOf(t, ed), pemOf(t, rs)), Algorithms: []string{"EdDSA"}}, []signing{ed}, []signing{rs}},
	} {
		c.jwt.Issuer, c.jwt.Audience = p.URL, []string{clientID}
		i := b.identity(Config{JWT: &c.jwt})
		for _, s := range c.good {
			if _, err := i.ResolveActor(bearerOf(s.sign(t, p.said(nil)))); err != nil {
				t.Errorf("%s: %s: %v %s", name, s.alg, err, b.log)
			}
		}
		for _, s := range c.bad {
			if who, err := i.ResolveActor(bearerOf(s.sign(t, p.said(nil)))); err == nil {
				t.Errorf("%s: %s let in: %+v", name, s.alg, who)
			}
		}
	}
	if n := p.fetches.Load() + p.found.Load(); n != 0 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

// TestTwoIssuers: each issuer's keys count for its own tokens, its people are told from the other's, and a tenant is what the token says.
func TestTwoIssuers(t *testing.T) {
	b := newBed(t)
	one, two := newEC("k"), newEC("k")
	p, q := newProvider(t, b.clock, one), newProvider(t, b.clock, two)
	i := b.identity(Config{JWT: &JWT{Issuer: p.URL, Audience: []string{clientID}, Claims: Claims{User: "sub"}},
		Issuers: []JWT{{Issuer: q.URL, Audience: []string{clientID}, Prefix: "partner:", Claims: Claims{User: "sub", Tenant: "org.tenant"}}}, Roles: map[string][]string{"boss": {"7"}}})
	who, err := i.ResolveActor(bearerOf(one.sign(t, p.said(nil))))
	if err != nil || who.Actor.ID != "7" || who.Tenant != tenant || !who.Actor.HasRole("boss") {
		t.Errorf("%+v %v", who, err)
	}
	who, err = i.ResolveActor(bearerOf(two.sign(t, q.said(map[string]any{"org": map[string]any{"tenant": "partner"}}))))
	if err != nil || who.Actor.ID != "partner:7" || who.Tenant != "partner" || who.Actor.HasRole("boss") {
		t.Errorf("%+v %v", who, err)
	}
	for name, token := range map[string]string{
		"no tenant":            two.sign(t, q.said(nil)),
		"a tenant that is not": two.sign(t, q.said(map[string]any{"org": map[string]any{"tenant": "_system"}})),
		"the other's key":      two.sign(t, p.said(nil)),
	} {
		who, err := i.ResolveActor(bearerOf(token))
		if wantCode(t, err, holdshort.Unauthenticated); err == nil {
			t.Errorf("%s: %+v", name, who)
		}
	}
}
