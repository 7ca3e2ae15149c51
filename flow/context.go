package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdshort/holdshort"
)

// Context is what a flow's function works with: the place in its journal. It belongs to one branch and its goroutine.
type Context struct {
	x     *execution
	lane  *lane
	path  string // of the branch, empty or ending in "/"
	seen  map[string]int
	ended atomic.Bool
}

// About is what a run is, the same from its start to its end.
type About struct {
	Run     holdshort.RunID
	Session holdshort.SessionID // empty: it talks to nobody
	User    string
	Agent   string
}

// RunOf tells a flow which run it is. Whoever decides by it what to do decides the same on every replay.
func RunOf(c *Context) About {
	if r, ok := c.x.recorder.(interface{ About() About }); ok {
		return r.About()
	}
	return About{}
}

// lane is the goroutine of a branch. Flows that it runs within each other share it.
type lane struct {
	entry     uintptr // see entryPoint
	goroutine uint64  // 0 for the flow's own function: while its branches run, it is inside what forked them
	inside    string  // the effect that is under way
	unwinding atomic.Bool
}

// here reports whether the caller is the lane's own goroutine.
func (l *lane) here() bool {
	return entryPoint() == l.entry && (l.goroutine == 0 || goroutineID() == l.goroutine)
}

// begin refuses what durable code cannot do, and unwinds a branch that must not go on.
func (c *Context) begin(what string) {
	if !c.lane.here() {
		c.misuse(what+" was called from a goroutine that its Context does not belong to",
			"start no goroutines: use flow.All or flow.Each, and in a branch the Context that it is given")
	}
	if c.lane.unwinding.Load() || c.x.stopped.Load() {
		c.unwind()
	}
	if c.ended.Load() {
		c.misuse(what+" was called with the Context of a flow that has ended", "keep no Context: use the one that the function was given")
	}
	if c.lane.inside != "" {
		c.misuse(what+" was called inside "+c.lane.inside, "an effect cannot contain another, and a branch uses the Context that it is given")
	}
}

// enter begins an effect and gives its key.
func (c *Context) enter(kind, name string) string {
	x := c.x
	c.begin(kind + " " + name)
	if err := checkName(name); err != nil {
		c.obey(Fail(*failureOf(err)))
	}
	if err := x.ctx.Err(); err != nil {
		c.obey(context.Cause(x.ctx))
	}
	if n := x.steps.Add(1); n > int64(x.flow.MaxSteps) {
		c.obey(Fail(holdshort.Failure{Code: holdshort.LimitReached, Message: fmt.Sprintf("more than %d effects in one run", x.flow.MaxSteps), Step: c.path + name}))
	}
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[name]++
	key := c.path + name
	if n := c.seen[name]; n > 1 {
		key += "#" + strconv.Itoa(n)
	}
	c.lane.inside = kind + " " + key
	c.x.busy(1)
	return key
}

func (c *Context) leave() {
	c.lane.inside = ""
	c.x.busy(-1)
}

func (c *Context) misuse(message, hint string) {
	c.x.stop(&Ending{State: Failed, Failure: &holdshort.Failure{Code: holdshort.Misused, Message: clipTo(message, 500) + " (" + hint + ")"}})
	runtime.Goexit()
}

// perform gives the recorded outcome of an effect, or has it done. hash names what was asked for, where that must not change.
func (c *Context) perform(kind, name, hash string, do func(key string) (holdshort.JournalEntry, error)) holdshort.JournalEntry {
	key := c.enter(kind, name)
	defer c.leave()
	entry, ok := c.x.recorder.Recorded(key)
	if ok {
		c.match(entry, kind, hash)
		return entry
	}
	entry, err := do(key)
	if err != nil {
		c.obey(err)
	}
	return entry
}

// match holds the run when its code no longer does what its journal says.
func (c *Context) match(entry holdshort.JournalEntry, kind, hash string) {
	if entry.Kind == kind && entry.Hash == hash {
		return
	}
	was := entry.Kind
	if entry.Kind == kind {
		was = "the same with other arguments"
	}
	c.obey(Hold(holdshort.JournalMismatch, &holdshort.Error{Code: holdshort.JournalMismatch, Op: "replay " + entry.Key,
		Message: fmt.Sprintf("the flow does %s where its journal has %s", kind, was), Hint: "give the changed flow a new version, deploy the old one again, then retry the run"}))
}

// vacant holds the run when its journal has an outcome in the place of something that leaves none there.
func (c *Context) vacant(key, kind string) {
	if entry, ok := c.x.recorder.Recorded(key); ok {
		c.match(entry, kind, "")
	}
}

// record journals the outcome of something that was done here.
func (c *Context) record(kind, key, hash string, value json.RawMessage, failure *holdshort.Failure) (holdshort.JournalEntry, error) {
	return c.recordSince(c.x.recorder.Now(), kind, key, hash, value, failure)
}

// recordSince journals the outcome of something that took a while.
func (c *Context) recordSince(began time.Time, kind, key, hash string, value json.RawMessage, failure *holdshort.Failure) (holdshort.JournalEntry, error) {
	now := c.x.recorder.Now()
	if began.After(now) { // a clock that was set back
		began = now
	}
	entry := holdshort.JournalEntry{Key: key, Kind: kind, Hash: hash, Outcome: value, Error: failure, Started: began, Ended: now}
	return entry, c.x.recorder.Record(c.x.ctx, entry)
}

// StepError is the recorded error of an effect: the same on every replay.
type StepError struct {
	Step    string // its key
	Failure holdshort.Failure
}

func (e *StepError) Error() string { return e.Step + ": " + e.Failure.Message }

// Is matches the code of the failure: errors.Is(err, holdshort.Denied).
func (e *StepError) Is(target error) bool {
	code, ok := target.(holdshort.Code)
	return ok && code == e.Failure.Code
}

// Unwrap lets holdshort.CodeOf see the code.
func (e *StepError) Unwrap() error {
	return &holdshort.Error{Code: e.Failure.Code, Message: e.Failure.Message}
}

// outcome reads an entry as a value or its recorded error.
func outcome[T any](c *Context, entry holdshort.JournalEntry) (value T, err error) {
	if entry.Error != nil {
		return value, &StepError{Step: entry.Key, Failure: *entry.Error}
	}
	if len(entry.Outcome) == 0 {
		return value, nil
	}
	if err := json.Unmarshal(entry.Outcome, &value); err != nil {
		c.obey(Hold(holdshort.JournalMismatch, &holdshort.Error{Code: holdshort.JournalMismatch, Op: "replay " + entry.Key,
			Message: fmt.Sprintf("its recorded outcome is no %T", value), Err: err, Hint: "give the changed flow a new version, deploy the old one again, then retry the run"}))
	}
	return value, nil
}

// given reads what somebody outside sent as a value. What does not fit is theirs, not a changed flow: an error like any recorded one.
func given[T any](entry holdshort.JournalEntry, by string) (value T, err error) {
	if entry.Error != nil {
		return value, &StepError{Step: entry.Key, Failure: *entry.Error}
	}
	if len(entry.Outcome) == 0 {
		return value, nil
	}
	if err := json.Unmarshal(entry.Outcome, &value); err != nil {
		var none T
		return none, &StepError{Step: entry.Key, Failure: holdshort.Failure{Code: holdshort.DoesNotFit, Message: fmt.Sprintf("%s gave what is no %T", by, none), Step: entry.Key}}
	}
	return value, nil
}

// checkName keeps keys readable and the characters that build them to us.
func checkName(name string) error {
	if name == "" || len(name) > 200 || strings.ContainsAny(name, "/#!\x00") {
		return &holdshort.Error{Code: holdshort.Invalid, Field: "name", Message: fmt.Sprintf("%q is no name", clipTo(name, 60)),
			Hint: "use 1 to 200 bytes without / # and !"}
	}
	return nil
}
