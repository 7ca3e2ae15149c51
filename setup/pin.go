package setup

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
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
		return &holdshort.Error{Code: holdshort.Invalid, Op: "read " + file, Message: message, Hint: "restore it; or delete it, look at the tools again and pin them: holdshort tools pin", Err: err}
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

// readPins takes the pins of the lock file. One that cannot be read is a fault in a file of its own.
func (b *builder) readPins() {
	pins, err := ReadPins(b.options.Lock)
	if err != nil {
		fault := config.Config{}.FaultOf("", err)
		fault.File = b.options.Lock
		b.faults = append(b.faults, fault)
	}
	b.pins = pins
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

// State of a tool's definition, beside the pin that somebody agreed to.
type State string

// The states. Calls of a tool that is not pinned as it is now are all asked about.
const (
	Pinned   State = "pinned"
	Changed  State = "changed"
	Unpinned State = "unpinned"
	Gone     State = "gone" // pinned, and the server has it no more
)

// Pin is a definition as a server has it now, and what was agreed to.
type Pin struct {
	Tool  string `json:"tool"`
	State State  `json:"state"`
	Now   string `json:"now,omitempty"` // hash of the definition
	Was   string `json:"was,omitempty"` // the one in the lock file
}

// Pins compares what the MCP servers have with the lock file, by name.
func (p *Parts) Pins(ctx context.Context) ([]Pin, error) {
	agreed, err := ReadPins(p.lock)
	if err != nil {
		return nil, err
	}
	now := map[string]string{}
	for name, server := range p.servers {
		pins, err := server.Pins(ctx)
		if err != nil {
			return nil, err
		}
		for own, pin := range pins {
			now[name+"/"+own] = pin
		}
		for full := range agreed {
			if _, there := now[full]; strings.HasPrefix(full, name+"/") && !there {
				now[full] = ""
			}
		}
	}
	var list []Pin
	for _, full := range slices.Sorted(maps.Keys(now)) {
		pin := Pin{Tool: full, State: Pinned, Now: now[full], Was: agreed[full]}
		switch {
		case pin.Now == "":
			pin.State = Gone
		case pin.Was == "":
			pin.State = Unpinned
		case pin.Was != pin.Now:
			pin.State = Changed
		}
		list = append(list, pin)
	}
	return list, nil
}
