package allowed

import (
	"time"

	"github.com/holdshort/holdshort/flow"
)

func Timed(c *flow.Context, in int) (int, error) {
	start := time.Now()   //flowcheck:allow only logged
	_ = time.Since(start) //flowcheck:allow // want "exception without a reason" // want "time.Since reads the clock"
	_ = time.Now()        // want "time.Now reads the clock"
	return 1, nil
}
