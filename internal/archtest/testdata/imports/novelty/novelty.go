package novelty // want `has no row in internal/archtest/layers.go: add one`

import "github.com/holdshort/holdshort/engine"
