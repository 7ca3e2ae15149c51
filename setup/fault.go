package setup

import (
	"errors"
	"slices"
	"strings"

	"github.com/holdshort/holdshort/config"
)

// errSkipped is returned for a part that is not built because it, or a part that it uses, has a fault.
var errSkipped = errors.New("skipped: a fault is reported already")

// collect keeps the faults of the configuration for the report and returns any other error.
func (b *builder) collect(err error) error {
	faults := config.FaultsOf(err)
	b.faults = append(b.faults, faults...)
	if faults != nil || errors.Is(err, errSkipped) {
		return nil
	}
	return err
}

// faulty reports whether a fault was found at path or below it.
func (b *builder) faulty(path string) bool {
	return slices.ContainsFunc(b.faults, func(f config.Fault) bool { return config.Within(f.Path, path) })
}

// wrong makes an error of the part at path into a fault of its key, unless the key, or one in it, has a fault already.
func (b *builder) wrong(path string, err error) error {
	found := b.FaultOf(path, err)
	sameName := b.faultAt(path) && strings.HasSuffix(found.Path, ".name") // the file has the name as a key
	if sameName || b.faulty(found.Path) {
		return errSkipped
	}
	return config.Faults{found}
}

// faultAt reports whether a fault was found at path itself.
func (b *builder) faultAt(path string) bool {
	return slices.ContainsFunc(b.faults, func(f config.Fault) bool { return f.Path == path })
}
