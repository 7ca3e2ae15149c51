// Package keyfile keeps a keyring in a file that only its owner can read.
// It imports the root package and the standard library.
package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/holdshort/holdshort"
)

// Load reads a keyring. A file that others can read is refused: whoever has the keys can forge decisions.
func Load(path string) (*holdshort.Keyring, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &holdshort.Error{Code: holdshort.KeyUnknown, Op: "read keyring " + path, Message: "there is no such file", Hint: "name the keyring that this store was made with"}
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	state, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	if mode := state.Mode().Perm(); mode&0o077 != 0 {
		return nil, &holdshort.Error{Code: holdshort.Forbidden, Op: "read keyring " + path, Message: fmt.Sprintf("its mode is %04o: others can read it", mode),
			Hint: "chmod 600 it; if others had access, rotate the key"}
	}
	text := make([]byte, 64<<10)
	n, err := f.Read(text)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return holdshort.ParseKeyring(text[:n])
}

// Create makes a keyring with one key. It never overwrites.
func Create(path string) (*holdshort.Keyring, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.StoreReadOnly, Op: "make keyring " + path, Err: err, Hint: "check the folder's rights and room"}
	}
	keyring := holdshort.NewKeyring()
	_, err = f.Write(keyring.Marshal())
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(path)
		return nil, &holdshort.Error{Code: holdshort.StoreReadOnly, Op: "write keyring " + path, Err: err, Hint: "check the folder's room"}
	}
	return keyring, nil
}

// Exists reports whether there is a file.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func unreadable(path string, err error) error {
	return &holdshort.Error{Code: holdshort.Forbidden, Op: "read keyring " + path, Err: err, Hint: "check that this user may read the file"}
}
