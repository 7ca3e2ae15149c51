package identity

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"

	"github.com/go-jose/go-jose/v4"
)

const (
	mostKeys  = 64
	minRSABit = 2048
)

// fixedKeys are those of the configuration.
type fixedKeys []jose.JSONWebKey

func (k fixedKeys) named(_ context.Context, id string) ([]jose.JSONWebKey, error) {
	return byID(k, id), nil
}

// byID gives the keys of that id. Keys without an id, as PEM files have them, can have signed anything.
func byID(all []jose.JSONWebKey, id string) []jose.JSONWebKey {
	if id == "" {
		return all
	}
	var found []jose.JSONWebKey
	for _, k := range all {
		if k.KeyID == id || k.KeyID == "" {
			found = append(found, k)
		}
	}
	return found
}

// parseKeys reads public keys: a JWKS, one JWK, or PEM.
func parseKeys(text []byte) (fixedKeys, error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		found, err := parseJWKS(text)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, errors.New("it has no public key for signatures")
		}
		return found, nil
	}
	var found fixedKeys
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		key, err := parsePEM(block)
		if err != nil {
			return nil, err
		}
		found = append(found, jose.JSONWebKey{Key: key})
	}
	if len(found) == 0 || len(found) > mostKeys {
		return nil, errors.New("it has no public key, or too many")
	}
	return found, nil
}

func parsePEM(block *pem.Block) (key crypto.PublicKey, err error) {
	switch block.Type {
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		var c *x509.Certificate
		if c, err = x509.ParseCertificate(block.Bytes); err == nil {
			key = c.PublicKey
		}
	default: // a private key has no business here: do not even say what it is
		err = errors.New("it has a PEM block that is no public key")
	}
	if err == nil && !usable(key) {
		err = errors.New("it has a key that is too short or of another kind than RSA, ECDSA and Ed25519")
	}
	return key, err
}

// parseJWKS reads what an issuer publishes. Keys that are for something else, or of a kind that we do not know, are left out: an issuer
// may add such keys any time.
func parseJWKS(text []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("it is not a JWKS")
	}
	if set.Keys == nil { // one key by itself
		set.Keys = []json.RawMessage{text}
	}
	if len(set.Keys) > mostKeys {
		return nil, errors.New("it has too many keys")
	}
	var found []jose.JSONWebKey
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) == nil && k.Valid() && k.IsPublic() && (k.Use == "" || k.Use == "sig") && usable(k.Key) {
			found = append(found, k)
		}
	}
	return found, nil
}

// usable keeps shared secrets out of what is public, and keys that can be broken.
func usable(key crypto.PublicKey) bool {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen() >= minRSABit
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}
