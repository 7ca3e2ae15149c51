package bench

import (
	"github.com/holdshort/holdshort/cmd/holdshort" // want `calls go down the picture only`
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/store/sqlite"
)
