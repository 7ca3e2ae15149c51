package pace

import (
	"strconv"
	"testing"
	"time"
)

// A flood of names that nobody has is not remembered: whoever makes them up fills no memory.
func TestRatesForget(t *testing.T) {
	r := New(100, 100)
	for i := range 5000 {
		r.Take("page\x00" + strconv.Itoa(i))
	}
	if wait := r.Take("ana"); wait != 0 {
		t.Errorf("the first call waits %v", wait)
	}
	r.mu.Lock()
	for _, a := range r.of {
		a.last = a.last.Add(-2 * time.Second)
	}
	r.swept = r.swept.Add(-2 * time.Second)
	r.mu.Unlock()
	r.Take("ben")
	if n := len(r.of); n != 1 {
		t.Errorf("%d callers are remembered two seconds later", n)
	}
	for range 100 {
		r.Take("ben")
	}
	if wait := r.Take("ben"); wait <= 0 {
		t.Error("more than the burst is let through")
	}
}
