package agent

import (
	"fmt"
	"strconv"
	"time"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/flow"
)

// mayGoOn says whether the model may be asked once more.
func (t *turn) mayGoOn(n int) error {
	l := t.a.config.Limits
	over := func(what string, most any, hint string) error {
		return &holdshort.Error{Code: holdshort.LimitReached, Op: "run agent " + t.a.config.Name, Message: fmt.Sprintf("more than %v %s in one run", most, what), Hint: hint}
	}
	if flow.Recorded(t.c, "model-"+strconv.Itoa(n)) {
		return nil // it went on then, whatever the limits are now
	}
	switch {
	case n > l.Iterations:
		return over("answers of the model", l.Iterations, "raise limits.iterations, or give it a smaller task")
	case l.Tokens > 0 && t.usage.Total() >= l.Tokens:
		return over("tokens", l.Tokens, "raise limits.tokens, or give it a smaller task")
	case l.Cost > 0 && t.usage.Cost >= l.Cost:
		return over("millionths spent", l.Cost, "raise limits.cost, or give it a smaller task")
	}
	return t.inTime(n)
}

// clock notes when the run began, if it has a time to end. One that began without goes on without.
func (t *turn) clock() {
	if t.a.config.Timeout > 0 && !t.sub && (flow.Recorded(t.c, "began") || !flow.Recorded(t.c, "model-1")) {
		t.began = flow.Now(t.c, "began")
	}
}

// inTime looks at the clock where the run has a time to end, at recorded times only.
func (t *turn) inTime(n int) error {
	if t.began.IsZero() || n == 1 {
		return nil
	}
	if now := flow.Now(t.c, "now-"+strconv.Itoa(n)); now.Sub(t.began) > t.a.config.Timeout {
		return &holdshort.Error{Code: holdshort.TimedOut, Op: "run agent " + t.a.config.Name, Message: fmt.Sprintf("the run took longer than %s", t.a.config.Timeout.Round(time.Second)),
			Hint: "raise task.timeout, or answer sooner"}
	}
	return nil
}
