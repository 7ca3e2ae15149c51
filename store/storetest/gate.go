package storetest

import (
	"strings"
	"sync"
)

// gate stops the store before a statement until the test lets it go on. Closed, it lets everything through.
type gate struct {
	mu      sync.Mutex
	match   func(text string) bool
	reached chan string
	passed  chan struct{}
}

// newGate gives a gate and the hook to hand to the store.
func newGate() *gate {
	return &gate{reached: make(chan string), passed: make(chan struct{})}
}

// hook is what the store is given.
func (g *gate) hook(text string) {
	g.mu.Lock()
	stop := g.match != nil && g.match(text)
	g.mu.Unlock()
	if stop {
		g.reached <- text
		<-g.passed
	}
}

// stopAt makes the next statement that matches wait: first its text comes out of reached, then one pass lets it go on.
func (g *gate) stopAt(match func(text string) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.match = match
}

// pass lets the waiting statement go on; later ones still stop.
func (g *gate) pass() { g.passed <- struct{}{} }

// lift lets the waiting statement and all later ones go on.
func (g *gate) lift() {
	g.stopAt(nil)
	g.pass()
}

func isCommit(text string) bool { return strings.EqualFold(strings.TrimSpace(text), "COMMIT") }
