package identity

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/holdshort/holdshort"
)

// leeway is how far the clocks of an issuer and this server may be apart.
const leeway = time.Minute

var (
	publicAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
	usualAlgorithms  = []string{"RS256", "PS256", "ES256", "ES384", "EdDSA"}
	sharedAlgorithms = []string{"HS256", "HS384", "HS512"}
)

// issuer is somebody whose tokens count.
type issuer struct {
	name       string
	audience   []string
	prefix     string
	claims     Claims
	algorithms []jose.SignatureAlgorithm
	keys       keys
	tenant     holdshort.TenantID
	clock      func() time.Time
}

// keys are what an issuer signs with.
type keys interface {
	// named gives the keys that may have signed: those of that id, or all of them if there is none. None is no error.
	named(ctx context.Context, id string) ([]jose.JSONWebKey, error)
}

func newIssuer(field string, t JWT, c Config) (*issuer, error) {
	if t.Issuer == "" {
		return nil, invalid(field+".issuer", "it is missing", "write the address that its tokens have as iss")
	}
	if len(t.Audience) == 0 || slices.Contains(t.Audience, "") {
		return nil, invalid(field+".audience", "it is missing: tokens that were made for somebody else would be taken", "write the audience that tokens for this server have")
	}
	if t.Prefix != "" && (!validName(t.Prefix) || reserved(t.Prefix)) {
		return nil, invalid(field+".prefix", "it cannot stand in front of an id", "write something like partner:")
	}
	i := &issuer{name: t.Issuer, audience: t.Audience, prefix: t.Prefix, claims: t.Claims.withDefaults(), tenant: c.Tenant, clock: c.Clock}
	known, usual := publicAlgorithms, usualAlgorithms
	if t.Secret != "" {
		known, usual = sharedAlgorithms, sharedAlgorithms[:1]
	}
	if len(t.Algorithms) > 0 {
		usual = t.Algorithms
	}
	for _, a := range usual {
		if !slices.Contains(known, a) {
			return nil, invalid(field+".algorithms", "tokens signed with "+clip(a)+" are not taken here", "use one of "+strings.Join(known, ", "))
		}
		i.algorithms = append(i.algorithms, jose.SignatureAlgorithm(a))
	}
	var err error
	i.keys, err = keysOf(field, t, c)
	return i, err
}

// keysOf finds out where the keys of an issuer come from.
func keysOf(field string, t JWT, c Config) (keys, error) {
	ways := 0
	for _, given := range []bool{t.KeysURL != "", len(t.Keys) > 0, t.Secret != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways > 1:
		return nil, invalid(field, "there are two ways to check its tokens", "give its keys, their address or a secret, and nothing else")
	case t.Secret != "" && len(t.Secret) < minSecret:
		return nil, invalid(field+".secret", "the secret has less than 32 bytes", "use what `openssl rand -base64 48` prints, at the issuer too")
	case t.Secret != "":
		return fixedKeys{{Key: []byte(t.Secret)}}, nil
	case len(t.Keys) > 0:
		fixed, err := parseKeys(t.Keys)
		if err != nil {
			return nil, invalid(field+".keys", err.Error(), "give a JWKS, or PEM with PUBLIC KEY or CERTIFICATE blocks")
		}
		return fixed, nil
	case t.KeysURL != "":
		if err := checkURL(field+".keys_url", t.KeysURL); err != nil {
			return nil, err
		}
		return newRemoteKeys(c, func(context.Context) (string, error) { return t.KeysURL, nil }), nil
	}
	if err := checkURL(field+".issuer", t.Issuer); err != nil {
		return nil, err
	}
	found := newDiscovery(t.Issuer, c)
	return newRemoteKeys(c, found.keysURL), nil
}
