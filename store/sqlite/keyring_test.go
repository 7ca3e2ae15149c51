package sqlite

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/store"
)

func (f *file) reopenFails(t *testing.T, code holdshort.Code) {
	t.Helper()
	s, err := Open(context.Background(), f.path, f.options)
	if err == nil {
		s.Close()
	}
	refused(t, err, code)
}

func (f *file) deny(t *testing.T) {
	t.Helper()
	if err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error { return tx.AddEvent(holdshort.Event{Type: "access.denied"}) }); err != nil {
		t.Fatal(err)
	}
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	f := newFile(t, Options{})
	keys := f.path + ".keys"
	state, err := os.Stat(keys)
	if err != nil || state.Mode().Perm() != 0o600 {
		t.Fatalf("the keyring was made with %v (%v), want mode 0600", state.Mode(), err)
	}
	original, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	f.deny(t)
	f.Reopen(t)
	if again, _ := os.ReadFile(keys); !bytes.Equal(again, original) {
		t.Error("the keyring was written again")
	}
	write := func(content []byte, mode os.FileMode) {
		t.Helper()
		os.Remove(keys)
		if err := os.WriteFile(keys, content, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(keys, mode); err != nil {
			t.Fatal(err)
		}
	}
	f.close(t)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660, 0o620, 0o601} {
		write(original, mode)
		f.reopenFails(t, holdshort.Forbidden)
	}
	os.Remove(keys)
	f.reopenFails(t, holdshort.KeyUnknown)
	if _, err := os.Stat(keys); err == nil {
		t.Error("a new keyring was made for a database that has one: nobody would notice that the old one is gone")
	}
	write(holdshort.NewKeyring().Marshal(), 0o600)
	f.reopenFails(t, holdshort.KeyUnknown)
	for _, garbage := range []string{"", "garbage", "key not-base64\n", strings.Repeat("#", 100<<10)} {
		write([]byte(garbage), 0o600)
		s, err := Open(context.Background(), f.path, f.options)
		if err == nil {
			s.Close()
		}
		if err == nil || holdshort.HintOf(err) == "" || strings.Contains(err.Error(), "not-base64") {
			t.Errorf("a keyring of %.10q: got %v", garbage, err)
		}
	}
	write(original, 0o600)
	f.open(t)
	first := f.store.Keyring().SigningKeyID()
	decision, err := f.store.Keyring().SignDecision("acme", holdshort.Decision{ID: "dec_1", RequestID: "req_1", Action: holdshort.Approve,
		Actor: holdshort.Actor{ID: "ann"}, Fingerprint: "f", At: f.store.now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error { return tx.AddDecision(decision) }); err != nil {
		t.Fatal(err)
	}
	f.Rotate(t)
	if second := f.store.Keyring().SigningKeyID(); second == first {
		t.Error("the rotated keyring signs with the old key")
	}
	err = f.store.View(context.Background(), "acme", func(tx store.ReadTx) error {
		d, err := tx.Decision("req_1")
		if err != nil {
			return err
		}
		return f.store.Keyring().VerifyDecision("acme", d)
	})
	if err != nil {
		t.Errorf("a decision that was signed before the rotation: %v", err)
	}
	f.close(t)
	write(original, 0o600) // the rotation undone: what was signed since would be worth nothing
	f.reopenFails(t, holdshort.KeyUnknown)
	write(f.store.Keyring().Marshal(), 0o600)
	f.open(t)
}

func TestKeyringElsewhere(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "keys")
	f := newFile(t, Options{KeyringFile: elsewhere})
	if _, err := os.Stat(elsewhere); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.path + ".keys"); err == nil {
		t.Error("a second keyring beside the database")
	}
	f.Reopen(t)
	f.close(t)
	f.options.KeyringFile = filepath.Join(t.TempDir(), "no", "such", "folder", "keys")
	f.reopenFails(t, holdshort.KeyUnknown)
	f.options.KeyringFile = elsewhere
	f.open(t)
}

// TestEncryptedFile looks for a payload in the bytes of the files.
func TestEncryptedFile(t *testing.T) {
	for _, encrypt := range []bool{false, true} {
		f := newFile(t, Options{Encrypt: encrypt})
		secret := "canary-in-the-coal-mine"
		err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error {
			_, err := tx.AddBody("ses_1", "", []byte(secret))
			if err != nil {
				return err
			}
			return tx.PutRun(holdshort.Run{ID: "run_1", Status: holdshort.RunQueued, Flow: "f", Input: []byte(`"` + secret + `"`), User: secret})
		})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		look := func() {
			for _, part := range []string{"", "-wal"} {
				content, err := os.ReadFile(f.path + part)
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				found = found || bytes.Contains(content, []byte(secret))
			}
		}
		look()
		f.close(t)
		look()
		if found == encrypt {
			t.Errorf("encrypted %v: the text stands in the file: %v", encrypt, found)
		}
		f.open(t)
	}
}

// TestWrongKey: the same database with the payloads of another key.
func TestWrongKey(t *testing.T) {
	f := newFile(t, Options{})
	codec, err := store.Sealed(holdshort.NewKeyring())
	if err != nil {
		t.Fatal(err)
	}
	other, err := store.Sealed(holdshort.NewKeyring())
	if err != nil {
		t.Fatal(err)
	}
	f.close(t)
	f.options.Codec = codec
	f.open(t)
	run := holdshort.Run{ID: "run_1", Status: holdshort.RunQueued, Flow: "f", Input: []byte(`"x"`)}
	if err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error { return tx.PutRun(run) }); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]store.Codec{"another key": other, "no key": nil} {
		f.close(t)
		f.options.Codec = wrong
		f.open(t)
		err = f.store.View(context.Background(), "acme", func(tx store.ReadTx) error {
			_, err := tx.Run("run_1")
			return err
		})
		if holdshort.CodeOf(err) != holdshort.Corrupt {
			t.Errorf("%s: got %v, want corrupt", name, err)
		}
	}
}

// TestErasedFile: what was erased is not left in the file's free pages either, once the log was written back.
func TestErasedFile(t *testing.T) {
	f := newFile(t, Options{})
	secret, word := "canary-in-the-coal-mine", "xylophone"
	raw := []byte(`"` + strings.Repeat(secret+" ", 500) + `"`)
	err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error {
		if err := tx.PutSession(holdshort.Session{ID: "ses_1", Mode: holdshort.ModeAI, Data: raw, User: secret}); err != nil {
			return err
		}
		for n := range int64(20) {
			m := holdshort.Message{ID: holdshort.MessageID("msg_" + strings.Repeat("x", int(n))), SessionID: "ses_1", Seq: n, Parts: []holdshort.Part{{Type: "data", Data: raw}}}
			if err := tx.PutMessage(m); err != nil {
				return err
			}
		}
		err := tx.PutRequest(holdshort.Request{ID: "req_1", SessionID: "ses_1", Kind: holdshort.Approval, Status: holdshort.RequestResolved, ClosedAt: tx.Now(),
			Question: "about a " + word, Fingerprint: "f"})
		if err != nil {
			return err
		}
		return tx.PutRun(holdshort.Run{ID: "run_1", Status: holdshort.RunCompleted, EndedAt: tx.Now(), SessionID: "ses_1", Flow: "f", Input: raw})
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.store.System().Index(context.Background(), holdshort.Lease{}, 0); err != nil || n == 0 {
		t.Fatalf("indexed %d: %v", n, err)
	}
	f.Reopen(t)
	if err := f.store.Update(context.Background(), "acme", func(tx store.Tx) error { return tx.EraseSession("ses_1", "ana") }); err != nil {
		t.Fatal(err)
	}
	f.close(t)
	defer f.open(t)
	for _, part := range []string{"", "-wal"} {
		content, err := os.ReadFile(f.path + part)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, text := range []string{secret, word, word[1:], word[:5]} {
			if n := bytes.Count(content, []byte(text)); n > 0 {
				t.Errorf("%q was erased and stands %d times in the file%s", text, n, part)
			}
		}
	}
}
