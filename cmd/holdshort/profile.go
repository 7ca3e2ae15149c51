package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// profile is how commands on this machine find the server that was started here last. Whoever can read it is its person.
type profile struct {
	URL   string `json:"url"`
	Token string `json:"token,omitempty"`
}

func profileFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "holdshort", "profile.json"), nil
}

// readProfile gives the zero profile where there is none.
func readProfile() (p profile, err error) {
	file, err := profileFile()
	if err != nil {
		return p, nil // a machine without a home has no profile
	}
	raw, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return p, nil
	case err != nil:
		return p, err
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return profile{}, &usageError{Message: file + " is no profile", Hint: "remove it; demo and serve write a new one"}
	}
	return p, nil
}

// write replaces the profile. Nobody else can read it, at no moment.
func (p profile) write() (file string, err error) {
	if file, err = profileFile(); err != nil {
		return "", err
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "profile-*") // made with mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("write profile: %w", err)
	}
	return file, nil
}

// forget takes the server out of the profile, if it is still ours. The key stays for the next start on the same store, unless that is gone too.
func (p profile) forget(key bool) {
	now, err := readProfile()
	if err != nil || now != p || p == (profile{}) {
		return
	}
	if !key {
		if _, err := (profile{Token: p.Token}).write(); err == nil {
			return
		}
	}
	if file, err := profileFile(); err == nil {
		os.Remove(file)
	}
}
