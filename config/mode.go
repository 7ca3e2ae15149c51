package config

import (
	"fmt"

	"github.com/holdshort/holdshort"
)

// The modes of a pause as they are written, and the two that come of it.
const (
	Auto     = "auto"
	Blocking = "blocking" // a call waits through pauses: for development, tests and approvals of under a minute
	Async    = "async"    // a call returns at a pause or at the end: the pause is a row
)

// Mode decides how callers meet a pause: sessionStore is the name of the agent's store or "", durable says whether that store outlives the
// process, mode is what was written ("" reads as auto). It is the one place that decides, for YAML and for code.
func Mode(sessionStore string, durable bool, mode string) (string, error) {
	switch mode {
	case "", Auto:
		if sessionStore != "" && durable {
			return Async, nil
		}
		return Blocking, nil
	case Blocking:
		return Blocking, nil
	case Async:
		switch {
		case sessionStore == "":
			return "", &holdshort.Error{Code: holdshort.Invalid, Message: "async HITL requires session_store to be configured"}
		case !durable:
			return "", &holdshort.Error{Code: holdshort.Invalid, Message: fmt.Sprintf("async HITL requires a durable session_store: %s is in memory", sessionStore)}
		}
		return Async, nil
	}
	return "", &holdshort.Error{Code: holdshort.Invalid, Message: fmt.Sprintf("invalid hitl.mode: %s (must be 'auto', 'blocking', or 'async')", mode)}
}

// ModeOf gives the mode of one of the agents.
func (c Config) ModeOf(agent string) (string, error) {
	a, ok := c.Agents[agent]
	if !ok {
		return "", &holdshort.Error{Code: holdshort.NotFound, Message: fmt.Sprintf("there is no agent %q", agent), Hint: "name one of agents"}
	}
	return Mode(a.SessionStore, c.Stores[a.SessionStore].Durable(), a.WrittenMode())
}
