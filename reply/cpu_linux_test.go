package reply

import (
	"syscall"
	"testing"
	"time"
)

// threadTime returns how long the current thread has run. Other programs on the machine do not add to it.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
