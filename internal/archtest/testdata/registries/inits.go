package holdshort

import (
	_ "embed"
	_ "modernc.org/sqlite" // want `for its side effect`
)

var drivers = map[string]int{}

func init() { // want `func init runs because it is linked`
	drivers["sqlite"] = 1
}

type T struct{}

func (T) init() {}
