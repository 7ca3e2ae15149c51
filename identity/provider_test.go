package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// signing is a private key and what an issuer says about it.
type signing struct {
	id  string
	alg jose.SignatureAlgorithm
	key any
}

func (s signing) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: s.key.(interface{ Public() crypto.PublicKey }).Public(), KeyID: s.id, Algorithm: string(s.alg), Use: "sig"}
}

// sign makes a token that says claims.
func (s signing) sign(t testing.TB, claims map[string]any, header ...any) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithType("JWT")
	if s.id != "" {
		options.WithHeader(jose.HeaderKey("kid"), s.id)
	}
	for n := 0; n < len(header); n += 2 {
		options.WithHeader(jose.HeaderKey(header[n].(string)), header[n+1])
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: s.alg, Key: s.key}, options)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

var rsaKey = sync.OnceValue(func() *rsa.PrivateKey { // one for all tests: making it takes a while
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func newRSA(id string) signing { return signing{id, jose.RS256, rsaKey()} }

func newEC(id string) signing {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return signing{id, jose.ES256, k}
}

func newEd(id string) signing {
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return signing{id, jose.EdDSA, k}
}

const clientID = "holdshort"

// provider is an OpenID Connect provider on loopback: discovery, keys, authorize, token.
type provider struct {
	*httptest.Server
	clock *clock

	mu      sync.Mutex
	keys    []signing // the first signs
	claims  map[string]any
	codes   map[string]url.Values // what was asked for, by code
	spoil   func(claims map[string]any)
	down    atomic.Bool
	fetches atomic.Int32 // of keys
	found   atomic.Int32 // of the discovery document
}

func newProvider(t *testing.T, c *clock, keys ...signing) *provider {
	p := &provider{clock: c, keys: keys, codes: map[string]url.Values{}, claims: map[string]any{"sub": "7", "email": "Ana@example.org", "email_verified": true, "name": "Ana"}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		p.found.Add(1)
		json.NewEncoder(w).Encode(map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		p.fetches.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		var set jose.JSONWebKeySet
		for _, k := range p.keys {
			set.Keys = append(set.Keys, k.public())
		}
		json.NewEncoder(w).Encode(set)
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		code := rand.Text()
		p.mu.Lock()
		p.codes[code] = q
		p.mu.Unlock()
		back, _ := url.Parse(q.Get("redirect_uri"))
		back.RawQuery = url.Values{"state": {q.Get("state")}, "code": {code}, "iss": {p.URL}}.Encode()
		http.Redirect(w, r, back.String(), http.StatusSeeOther)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		p.mu.Lock()
		defer p.mu.Unlock()
		asked, ok := p.codes[r.Form.Get("code")]
		delete(p.codes, r.Form.Get("code"))
		proof := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(proof[:]) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant"})
			return
		}
		claims := p.said(map[string]any{"nonce": asked.Get("nonce")})
		if p.spoil != nil {
			p.spoil(claims)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"access_token": "opaque", "token_type": "Bearer", "id_token": p.keys[0].sign(t, claims)})
	})
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// said are the claims of a good token, with changes; nil takes one away.
func (p *provider) said(changes map[string]any) map[string]any {
	now := p.clock.now()
	claims := map[string]any{"iss": p.URL, "aud": clientID, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for _, more := range []map[string]any{p.claims, changes} {
		for k, v := range more {
			if claims[k] = v; v == nil {
				delete(claims, k)
			}
		}
	}
	return claims
}

func (p *provider) rotate(keys ...signing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = keys
}
