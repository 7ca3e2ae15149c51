//go:build !linux

package reply

import (
	"testing"
	"time"
)

var began = time.Now()

// threadTime is the time of the clock: this system does not tell how long a thread has run.
func threadTime(*testing.T) time.Duration { return time.Since(began) }
