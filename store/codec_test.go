package store

import (
	"bytes"
	"errors"
	"testing"

	"github.com/holdshort/holdshort"
)

func TestSealed(t *testing.T) {
	keyring := holdshort.NewKeyring()
	codec, err := Sealed(keyring)
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte("the payload <&> \x00\xff")
	for _, payload := range [][]byte{payload, {}, bytes.Repeat([]byte("x"), MaxBody)} {
		stored, err := codec.Encode("acme/run/1", payload)
		if err != nil {
			t.Fatal(err)
		}
		// In four megabytes of ciphertext any four bytes turn up once in a thousand runs, sixteen never.
		if len(payload) > 16 && bytes.Contains(stored, payload[:16]) {
			t.Error("the payload can be read")
		}
		back, err := codec.Decode("acme/run/1", stored)
		if err != nil || !bytes.Equal(back, payload) {
			t.Errorf("%d bytes came back as %d (%v)", len(payload), len(back), err)
		}
	}
	stored, err := codec.Encode("acme/run/1", payload)
	if err != nil {
		t.Fatal(err)
	}
	again, err := codec.Encode("acme/run/1", payload)
	if err != nil || bytes.Equal(stored, again) {
		t.Errorf("the same payload twice is stored alike (%v): one can tell that they are", err)
	}
	for _, place := range []string{"acme/run/2", "rival/run/1", "", "acme/run/1/"} {
		if _, err := codec.Decode(place, stored); !errors.Is(err, holdshort.MACInvalid) {
			t.Errorf("moved to %q: %v", place, err)
		}
	}
	for i := range stored {
		changed := bytes.Clone(stored)
		changed[i] ^= 1
		if _, err := codec.Decode("acme/run/1", changed); err == nil {
			t.Errorf("a bit of byte %d of %d was changed unseen", i, len(stored))
		}
	}
	for cut := range len(stored) {
		if _, err := codec.Decode("acme/run/1", stored[:cut]); err == nil {
			t.Errorf("cut to %d of %d bytes unseen", cut, len(stored))
		}
	}
	for _, garbage := range []string{"", ":", "no key", "k:", "{}", ":::::", "\x00"} {
		if _, err := codec.Decode("acme/run/1", []byte(garbage)); err == nil {
			t.Errorf("%q was decoded", garbage)
		}
	}

	rotated, err := Sealed(keyring.Rotate())
	if err != nil {
		t.Fatal(err)
	}
	if back, err := rotated.Decode("acme/run/1", stored); err != nil || !bytes.Equal(back, payload) {
		t.Errorf("after a rotation: %v", err)
	}
	fresh, err := rotated.Encode("acme/run/1", payload)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := codec.Decode("acme/run/1", fresh); !errors.Is(err, holdshort.KeyUnknown) || holdshort.HintOf(err) == "" {
		t.Errorf("under a key that the keyring does not have: %v", err)
	}
}
