package clean

import (
	"time"

	"github.com/holdshort/holdshort/flow"
)

func testsAreLeftOut(c *flow.Context) time.Time { return time.Now() }
