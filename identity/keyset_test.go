package identity

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/holdshort/holdshort"
)

// TestParseKeys: public keys in every usual form; nothing that is private, shared, short or for something else.
func TestParseKeys(t *testing.T) {
	block := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	must := func(der []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	ec, ed := newEC("e"), newEd("d")
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "id"}, NotAfter: time.Now().Add(time.Hour)}
	jwks := func(keys ...any) []byte { return must(json.Marshal(map[string]any{"keys": keys})) }
	odd := ec.public()
	odd.Use = "enc"
	for name, c := range map[string]struct {
		text  []byte
		count int
	}{
		"PKIX":              {pemOf(t, ec), 1},
		"PKCS 1":            {block("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&rsaKey().PublicKey)), 1},
		"a certificate":     {block("CERTIFICATE", must(x509.CreateCertificate(rand.Reader, about, about, ec.public().Key, ec.key))), 1},
		"several":           {slices.Concat([]byte("first\n"), pemOf(t, ec), []byte("\nsecond\n"), pemOf(t, ed)), 2},
		"one JWK":           {must(ec.public().MarshalJSON()), 1},
		"a JWKS":            {jwks(ec.public(), ed.public()), 2},
		"unknown kinds":     {jwks(ec.public(), map[string]string{"kty": "new"}, odd), 1},
		"a private key":     {block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(ec.key))), 0},
		"a private JWK":     {must(json.Marshal(jose.JSONWebKey{Key: ec.key})), 0},
		"a shared secret":   {jwks(jose.JSONWebKey{Key: []byte("0123456789abcdef0123456789abcdef")}), 0},
		"a short key":       {block("PUBLIC KEY", must(x509.MarshalPKIXPublicKey(&short.PublicKey))), 0},
		"a short JWK":       {jwks(jose.JSONWebKey{Key: &short.PublicKey}), 0},
		"for encryption":    {jwks(odd), 0},
		"broken PEM":        {block("PUBLIC KEY", []byte("x")), 0},
		"broken PKCS 1":     {block("RSA PUBLIC KEY", []byte("x")), 0},
		"broken":            {[]byte("{"), 0},
		"no JSON object":    {[]byte(`["keys"]`), 0},
		"nothing":           {nil, 0},
		"keys without end":  {jwks(slices.Repeat([]any{ec.public()}, mostKeys+1)...), 0},
		"PEM without end":   {slices.Repeat(pemOf(t, ed), mostKeys+1), 0},
		"a JWKS of nothing": {[]byte(`{"keys":[]}`), 0},
	} {
		got, err := parseKeys(c.text)
		if len(got) != c.count || (err == nil) != (c.count > 0) {
			t.Errorf("%s: %d keys, %v", name, len(got), err)
		}
	}
}

// TestUserClaims: whom a token speaks of, as the configuration wants it.
func TestUserClaims(t *testing.T) {
	said := claimed{"sub": "7", "email": "Ana@Example.org", "email_verified": true, "preferred_username": "ana", "ext": map[string]any{"id": "x9"}}
	without := func(name string) claimed {
		c := claimed{}
		for k, v := range said {
			if k != name {
				c[k] = v
			}
		}
		return c
	}
	for name, c := range map[string]struct {
		claim string
		said  claimed
		want  string
	}{
		"as it comes":             {"", said, "ana@example.org"},
		"not verified":            {"", without("email_verified"), "7"},
		"without sub":             {"", without("sub"), ""},
		"sub":                     {"sub", said, "7"},
		"the address":             {"email", said, "ana@example.org"},
		"an address not verified": {"email", without("email_verified"), ""},
		"another claim":           {"preferred_username", said, "ana"},
		"inside":                  {"ext.id", said, "x9"},
		"too far inside":          {"ext.id.more", said, ""},
		"missing":                 {"upn", said, ""},
	} {
		got, err := Claims{User: c.claim}.user(c.said)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	for _, text := range []string{"", "null", "[]", "7", `{"a":1}{}`, `{"a":`} {
		if got, err := readClaims([]byte(text)); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestTurn: whoever waits while an issuer is asked shares the answer, and leaves when they have no time left.
func TestTurn(t *testing.T) {
	turn := newTurn(Config{Clock: time.Now}, time.Hour, 2)
	asked, answer := make(chan struct{}), make(chan error)
	first := make(chan error)
	go func() {
		first <- turn.take(t.Context(), func(context.Context) error {
			close(asked)
			return <-answer
		})
	}()
	<-asked
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := turn.take(over, func(context.Context) error { return errors.New("asked twice") }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	turn.behind(t.Context(), func(context.Context) error { panic("asked twice") })
	away := errors.New("away")
	answer <- away
	if err := <-first; err != away {
		t.Error(err)
	}
	if err := turn.take(t.Context(), func(context.Context) error { return nil }); err != nil { // a new caller asks anew
		t.Error(err)
	}
	if err := turn.take(t.Context(), func(context.Context) error { return nil }); err != errTooOften {
		t.Error(err)
	}
}

// TestIssuerMisleads: keys that are not to be had over a safe way are not fetched, and another issuer's document is not taken.
func TestIssuerMisleads(t *testing.T) {
	b := newBed(t)
	key := newEC("1")
	var document map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/") {
			json.NewEncoder(w).Encode(document)
			return
		}
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.public()}})
	}))
	defer s.Close()
	now := b.clock.now().Unix()
	token := key.sign(t, map[string]any{"iss": s.URL, "aud": clientID, "sub": "7", "iat": now, "exp": now + 60})
	for name, c := range map[string]struct {
		issuer, keys string
		ok           bool
	}{
		"as it should be":   {s.URL, s.URL + "/keys", true},
		"another issuer":    {"https://evil.example", s.URL + "/keys", false},
		"keys in the clear": {s.URL, "http://id.example/keys", false},
		"keys of a file":    {s.URL, "file:///etc/passwd", false},
		"no keys":           {s.URL, "", false},
	} {
		document = map[string]any{"issuer": c.issuer, "jwks_uri": c.keys}
		_, err := b.identity(Config{JWT: &JWT{Issuer: s.URL, Audience: []string{clientID}}}).ResolveActor(bearerOf(token))
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if !c.ok {
			wantCode(t, err, holdshort.Unauthenticated)
		}
	}
}
