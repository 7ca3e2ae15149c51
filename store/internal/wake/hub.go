// Package wake hands hints to whoever waits for them in this process.
// It imports the standard library only.
package wake

import "sync"

// Hub knows who waits for which topic. The zero Hub is ready.
type Hub struct {
	mu      sync.Mutex
	waiting map[string]map[chan struct{}]bool
}

// Ring leaves a hint with everybody who subscribed to one of the topics. It never blocks: a hint that is still there is enough.
func (h *Hub) Ring(topics ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, topic := range topics {
		for c := range h.waiting[topic] {
			hint(c)
		}
	}
}

// RingAll is for a hint whose topics were lost.
func (h *Hub) RingAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, chans := range h.waiting {
		for c := range chans {
			hint(c)
		}
	}
}

func hint(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Subscribe: first subscribe, then look, then wait; so nothing that happens in between is missed.
func (h *Hub) Subscribe(topics ...string) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting == nil {
		h.waiting = map[string]map[chan struct{}]bool{}
	}
	for _, topic := range topics {
		if h.waiting[topic] == nil {
			h.waiting[topic] = map[chan struct{}]bool{}
		}
		h.waiting[topic][c] = true
	}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, topic := range topics {
			delete(h.waiting[topic], c)
			if len(h.waiting[topic]) == 0 {
				delete(h.waiting, topic)
			}
		}
	}
}
