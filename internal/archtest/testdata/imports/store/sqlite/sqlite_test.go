package sqlite_test

import (
	"github.com/google/go-cmp/cmp"
	"github.com/holdshort/holdshort/engine" // want `test imports .* move the test`
	"github.com/holdshort/holdshort/store/sqlite"
	"github.com/holdshort/holdshort/store/storetest"
)
