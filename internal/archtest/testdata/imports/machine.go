// Package holdshort is the root.
package holdshort

import (
	"strings"

	"github.com/holdshort/holdshort/store" // want `calls go down the picture only`
	"golang.org/x/text/cases"              // want `layers.go does not list: use the standard library`
)
