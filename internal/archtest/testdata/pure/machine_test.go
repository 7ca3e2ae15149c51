package holdshort

import (
	"os"
	"time"
)

var started, home = time.Now(), os.Getenv("HOME")
