package torture

import (
	"fmt"
	"math/rand/v2"

	"github.com/holdshort/holdshort"
)

// draw takes one of the choices by their weights.
func draw[T any](r *rand.Rand, choices ...weighed[T]) T {
	total := 0
	for _, c := range choices {
		total += c.weight
	}
	n := r.IntN(total)
	for _, c := range choices {
		if n -= c.weight; n < 0 {
			return c.value
		}
	}
	return choices[0].value
}

type weighed[T any] struct {
	weight int
	value  T
}

// drawRun makes up a run: a flow and what it meets.
func drawRun(r *rand.Rand, id holdshort.RunID) (name string, p plan) {
	p = plan{Run: id, Sleep: 20 + r.IntN(400), Strict: r.IntN(4) == 0}
	name = draw(r, weighed[string]{35, singleFlow}, weighed[string]{15, batchFlow}, weighed[string]{20, twiceFlow}, weighed[string]{10, branchesFlow},
		weighed[string]{10, patientFlow}, weighed[string]{10, nestedFlow}, weighed[string]{25, agentFlow})
	calls := 1
	switch name {
	case batchFlow, branchesFlow:
		calls = 2 + r.IntN(2)
	case twiceFlow:
		if r.IntN(3) == 0 {
			p.Expires = 100 + r.IntN(900)
		}
		p.OnTimeout = draw(r, weighed[holdshort.OnTimeout]{2, holdshort.TimeoutResume}, weighed[holdshort.OnTimeout]{1, holdshort.TimeoutFail}, weighed[holdshort.OnTimeout]{1, holdshort.TimeoutClear})
	case patientFlow:
		return name, p
	case agentFlow:
		calls = 2
	}
	for n := range calls {
		p.Calls = append(p.Calls, drawCall(r, n))
	}
	if name == agentFlow {
		for i := range p.Calls {
			if p.Calls[i].Tool == lookupTool { // it looks up by itself
				p.Calls[i].Tool = payTool
			}
		}
		p.Text = inWords(p.Calls)
	}
	return name, p
}

func drawCall(r *rand.Rand, n int) planned {
	c := planned{Args: callArgs{Amount: r.Int64N(800), Key: fmt.Sprintf("call%d", n+1)}}
	c.Tool = draw(r, weighed[string]{40, payTool}, weighed[string]{20, bookTool}, weighed[string]{25, shipTool}, weighed[string]{10, lookupTool}, weighed[string]{5, neverTool})
	c.Args.World = draw(r, weighed[string]{60, worldFine}, weighed[string]{14, worldSlow}, weighed[string]{7, worldDrop}, weighed[string]{3, worldHang}, weighed[string]{7, worldLost}, weighed[string]{9, worldRefuse})
	if r.IntN(6) == 0 {
		c.Args.Quorum = 2 + r.IntN(2)
	}
	if r.IntN(8) == 0 {
		c.Args.Expires = 100 + r.IntN(900)
	}
	c.Args.OnTimeout = draw(r, weighed[holdshort.OnTimeout]{2, holdshort.TimeoutResume}, weighed[holdshort.OnTimeout]{1, holdshort.TimeoutFail}, weighed[holdshort.OnTimeout]{1, holdshort.TimeoutClear})
	c.Args.OnReject = draw(r, weighed[holdshort.OnReject]{2, holdshort.RejectContinue}, weighed[holdshort.OnReject]{1, holdshort.RejectCancel}, weighed[holdshort.OnReject]{1, holdshort.RejectReturn})
	return c
}
