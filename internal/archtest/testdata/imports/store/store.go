package store

import (
	"context"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/reply"        // want `calls go down the picture only`
	"github.com/holdshort/holdshort/store/sqlite" // want `calls go down the picture only`
)
