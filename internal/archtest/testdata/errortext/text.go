package holdshort

import (
	"errors"
	"fmt"
)

var (
	errA = errors.New("failed to open the file")  // want `verb, object, cause`
	errB = fmt.Errorf(`Failed to open: %w`, errA) // want `verb, object, cause`
	errC = errors.New("open file: three attempts failed to")
	errD = errors.New("failed")
)
