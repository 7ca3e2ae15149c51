package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"strings"

	"github.com/holdshort/holdshort"
)

// Sealed is a codec that encrypts payloads with AES-256-GCM under the keyring: the first key encrypts, all decrypt. The stored form is the
// key's id, a colon, a nonce and the sealed payload; the place is authenticated with it.
func Sealed(keyring *holdshort.Keyring) (Codec, error) {
	c := sealed{first: keyring.SigningKeyID(), ciphers: map[string]cipher.AEAD{}}
	for _, id := range keyring.KeyIDs() {
		key, err := keyring.PayloadKey(id)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if c.ciphers[id], err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
	}
	return c, nil
}

type sealed struct {
	first   string
	ciphers map[string]cipher.AEAD
}

func (c sealed) Encode(place string, payload []byte) ([]byte, error) {
	aead := c.ciphers[c.first]
	out := make([]byte, 0, len(c.first)+1+aead.NonceSize()+len(payload)+aead.Overhead())
	out = append(append(out, c.first...), ':')
	nonce := out[len(out) : len(out)+aead.NonceSize()]
	rand.Read(nonce)
	return aead.Seal(out[:len(out)+len(nonce)], nonce, payload, []byte(place)), nil
}

func (c sealed) Decode(place string, stored []byte) ([]byte, error) {
	id, _, ok := strings.Cut(string(stored[:min(len(stored), 80)]), ":")
	aead := c.ciphers[id]
	if !ok || aead == nil {
		return nil, &holdshort.Error{Code: holdshort.KeyUnknown, Op: "decrypt " + place, Message: "it was encrypted under a key that the keyring does not have",
			Hint: "add the old key behind the first line of the keyring"}
	}
	body := stored[len(id)+1:]
	if len(body) < aead.NonceSize() {
		return nil, &holdshort.Error{Code: holdshort.MACInvalid, Op: "decrypt " + place, Message: "it is cut short"}
	}
	raw, err := aead.Open(nil, body[:aead.NonceSize()], body[aead.NonceSize():], []byte(place))
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.MACInvalid, Op: "decrypt " + place, Message: "it was changed or moved", Err: err}
	}
	return raw, nil
}
