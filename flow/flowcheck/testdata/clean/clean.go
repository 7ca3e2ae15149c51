package clean

import (
	"os"
	"time"
)

// Nothing here is a flow: the package does not know the word.
func Now() (time.Time, string) { go println(); return time.Now(), os.Getenv("HOME") }
