package wake

import (
	"sync"
	"testing"
)

func rung(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestHub(t *testing.T) {
	var h Hub
	h.Ring("nobody") // the zero Hub is ready
	runs, endRuns := h.Subscribe("runs", "timers")
	more, endMore := h.Subscribe("runs")
	other, endOther := h.Subscribe("deliveries")
	defer endMore()
	h.Ring("runs")
	h.Ring("runs", "timers", "runs")
	if !rung(runs) || !rung(more) || rung(other) {
		t.Error("the hint did not reach exactly those who wait for it")
	}
	if rung(runs) {
		t.Error("many hints are more than one")
	}
	h.RingAll()
	if !rung(runs) || !rung(more) || !rung(other) {
		t.Error("a hint to all did not reach all")
	}
	endRuns()
	endRuns()
	endOther()
	h.Ring("runs", "deliveries")
	if rung(runs) || rung(other) || !rung(more) {
		t.Error("who ended the subscription still hears, or the others do not")
	}
	if len(h.waiting) != 1 {
		t.Errorf("%d topics are remembered, one is waited for", len(h.waiting))
	}
}

// TestHubLosesNothing: subscribe, look, wait: a hint between looking and waiting is there.
func TestHubLosesNothing(t *testing.T) {
	var h Hub
	var mu sync.Mutex
	work := 0
	const total = 1000
	go func() {
		for range total {
			mu.Lock()
			work++
			mu.Unlock()
			h.Ring("work")
		}
	}()
	c, end := h.Subscribe("work")
	defer end()
	for {
		mu.Lock()
		done := work == total
		mu.Unlock()
		if done {
			return
		}
		<-c
	}
}
