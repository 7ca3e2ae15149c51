//go:build !linux

package torture

import (
	"errors"
	"os"
	"syscall"
)

// canFreeze: a frozen child that its parent cannot take along when it dies would stay for ever.
const canFreeze = false

func attributes() *syscall.SysProcAttr { return nil }

func freeze(*os.Process) error { return errors.ErrUnsupported }
func thaw(*os.Process) error   { return errors.ErrUnsupported }
