package keyfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdshort/holdshort"
)

func TestCreateAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	if Exists(path) {
		t.Error("it exists before it was made")
	}
	_, err := Load(path)
	if holdshort.CodeOf(err) != holdshort.KeyUnknown || holdshort.HintOf(err) == "" {
		t.Errorf("loading what is not there: %v", err)
	}
	made, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	state, err := os.Stat(path)
	if err != nil || state.Mode().Perm() != 0o600 || !Exists(path) {
		t.Errorf("made with mode %v (%v)", state.Mode(), err)
	}
	loaded, err := Load(path)
	if err != nil || loaded.SigningKeyID() != made.SigningKeyID() {
		t.Errorf("loaded %v (%v), made %v", loaded, err, made)
	}
	id, signature := made.SignSeal([]byte("x"))
	if err := loaded.VerifySeal(id, []byte("x"), signature); err != nil {
		t.Errorf("the loaded keyring is another one: %v", err)
	}
	if _, err := Create(path); err == nil {
		t.Error("a keyring was overwritten")
	}
	if again, err := Load(path); err != nil || again.SigningKeyID() != made.SigningKeyID() {
		t.Errorf("after a refused overwrite: %v (%v)", again, err)
	}
	if _, err := Create(filepath.Join(t.TempDir(), "no", "folder")); holdshort.CodeOf(err) != holdshort.StoreReadOnly || holdshort.HintOf(err) == "" {
		t.Errorf("making one where there is no folder: %v", err)
	}
}

func TestOthersCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	if _, err := Create(path); err != nil {
		t.Fatal(err)
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o700: true, 0o640: false, 0o604: false, 0o644: false, 0o620: false, 0o610: false, 0o601: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path)
		if ok != (err == nil) || !ok && (holdshort.CodeOf(err) != holdshort.Forbidden || !strings.Contains(holdshort.HintOf(err), "600")) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || holdshort.HintOf(err) == "" {
		t.Errorf("a folder as a keyring: %v", err)
	}
	for name, text := range map[string]string{"empty": "", "comment": "# nothing\n", "text": "hello world\n", "cut": "key AAAA\n", "binary": "\x00\xff\x00"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || holdshort.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var many strings.Builder // more than one read gives
	keyring := holdshort.NewKeyring()
	for range 400 {
		keyring = keyring.Rotate()
	}
	many.Write(keyring.Marshal())
	many.WriteString(strings.Repeat("# a comment that goes on and on\n", 1000))
	path := filepath.Join(dir, "many")
	if err := os.WriteFile(path, []byte(many.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(path)
	if err != nil || len(loaded.KeyIDs()) != 401 {
		t.Errorf("a keyring of 401 keys and %d bytes: %v", many.Len(), err)
	}
}
