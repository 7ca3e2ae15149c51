package setup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/holdshort/holdshort"
)

// lock is the content of a lock file.
type lock struct {
	Version int               `json:"version"`
	Tools   map[string]string `json:"tools"` // name to the hash of its definition
}

// ReadPins gives the pins of a lock file; none where there is no file.
func ReadPins(file string) (map[string]string, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	wrong := func(message string, err error) error {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "read " + file, Message: message, Hint: "restore it, or look at the tools again and pin them: holdshort tools pin", Err: err}
	}
	if err != nil {
		return nil, wrong("the pins of tools cannot be read", err)
	}
	var l lock
	if err := json.Unmarshal(content, &l); err != nil {
		return nil, wrong("this is no file of pins", err)
	}
	if l.Version != 1 {
		return nil, wrong("this file of pins is of another version", nil)
	}
	if l.Tools == nil {
		l.Tools = map[string]string{}
	}
	return l.Tools, nil
}

// WritePins writes a lock file, whole or not at all.
func WritePins(file string, pins map[string]string) error {
	content, err := json.MarshalIndent(lock{Version: 1, Tools: pins}, "", "  ")
	if err != nil {
		return err
	}
	next := file + ".new"
	if err := os.WriteFile(next, append(content, '\n'), 0o644); err != nil {
		return &holdshort.Error{Code: holdshort.Invalid, Op: "write " + file, Message: "the pins cannot be kept", Hint: "check the folder and its rights", Err: err}
	}
	return os.Rename(next, file)
}
