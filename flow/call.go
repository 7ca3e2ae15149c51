package flow

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
)

// Call calls a tool: through policy, a person's approval where the policy asks for one, the ledger, and at most once. Errors are recorded:
// code denied when a policy or a person said no, outcome_unknown when nobody knows what became of it and a person gave up, does_not_fit
// when a person answered in the tool's place and it is no T.
func Call[T any](c *Context, name, tool string, args any) (T, error) {
	results, err := invoke(c, name, []Request{{Tool: tool, Args: args}}, true)
	var value T
	if err != nil {
		return value, err
	}
	r := results[0]
	if r.Err != nil {
		return value, r.Err
	}
	entry := holdshort.JournalEntry{Key: r.key, Outcome: r.Value}
	if r.By != "" {
		return given[T](entry, r.By+", in the tool's place,")
	}
	return outcome[T](c, entry)
}

// Request is one call of a batch.
type Request struct {
	ID   string // how a model names it, 1 to 200 bytes. Default: call_1, call_2 …
	Tool string
	Args any
}

// Result is what became of one call of a batch.
type Result struct {
	ID    string
	Tool  string
	Value json.RawMessage // what the tool returned, or what a person answered in its place
	// By is the person who was the tool. Default: the tool itself answered.
	By string
	// Ran are the arguments that it ran with where a person had changed them. Default: those of the request.
	Ran json.RawMessage
	Err error // denied, failed or unknown, with its code

	key string
}

// Calls makes the calls of one model's response. If any of them needs a person, one request shows all of them and nothing runs before it is
// decided; then those that were approved run at the same time. Results are in the calls' order.
func Calls(c *Context, name string, calls []Request) ([]Result, error) {
	return invoke(c, name, calls, false)
}

// CallOutcome is what the journal keeps of a call.
type CallOutcome struct {
	Value json.RawMessage `json:"value,omitempty"`
	By    string          `json:"by,omitempty"`
	Args  json.RawMessage `json:"args,omitempty"` // that it ran with, where a person had changed them; also of one that failed
}

func invoke(c *Context, name string, calls []Request, single bool) ([]Result, error) {
	key := c.enter(KindCall, name)
	defer c.leave()
	invocations := make([]Invocation, len(calls))
	ids := map[string]bool{}
	for i, call := range calls {
		raw, err := argsOf(call.Args)
		if err != nil {
			return nil, err
		}
		in := Invocation{Key: key, ID: call.ID, Tool: call.Tool, Args: raw, Hash: CallHash(call.Tool, raw)}
		if !single {
			in.Key = key + "/" + strconv.Itoa(i+1)
		}
		if !nameable(in.ID) {
			in.ID = "call_" + strconv.Itoa(i+1)
		}
		if !nameable(in.Tool) {
			return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "call " + key, Field: "tool", Message: fmt.Sprintf("%q is no tool's name", clipTo(in.Tool, 60)), Hint: "use the name of a tool"}
		}
		if ids[in.ID] {
			return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "call " + key, Field: "calls", Message: fmt.Sprintf("two calls are named %q", clipTo(in.ID, 60)),
				Hint: "give every call of a batch its own id"}
		}
		ids[in.ID] = true
		invocations[i] = in
	}
	if len(calls) == 0 {
		return nil, nil
	}
	if single {
		c.vacant(key+"/1", "one call")
	} else {
		c.vacant(key, "a batch of calls")
	}
	entries := make([]holdshort.JournalEntry, len(calls))
	missing := false
	for i, in := range invocations {
		entry, ok := c.x.recorder.Recorded(in.Key)
		if ok {
			c.match(entry, KindCall, in.Hash)
		}
		entries[i], missing = entry, missing || !ok
	}
	if missing {
		var err error
		if entries, err = c.x.recorder.Calls(c.x.ctx, key, invocations); err != nil {
			c.obey(err)
		}
	}
	results := make([]Result, len(calls))
	for i, in := range invocations {
		r := Result{ID: in.ID, Tool: in.Tool, key: in.Key}
		out, err := outcome[CallOutcome](c, entries[i])
		if err != nil && len(entries[i].Outcome) > 0 {
			_ = json.Unmarshal(entries[i].Outcome, &out) // of one that failed only the arguments stand there
		}
		r.Value, r.By, r.Ran, r.Err = out.Value, out.By, out.Args, err
		results[i] = r
	}
	return results, nil
}

// nameable: what a model makes up must not stop a run because no row can hold it.
func nameable(s string) bool {
	return s != "" && len(s) <= 200 && utf8.ValidString(s) && !strings.Contains(s, "\x00")
}

// argsOf gives the bytes that are hashed, shown, approved and run.
func argsOf(args any) (json.RawMessage, error) {
	if raw, ok := args.(json.RawMessage); ok {
		return holdshort.Canonical(raw)
	}
	return holdshort.CanonicalValue(args)
}

// CallHash names a tool with its arguments.
func CallHash(tool string, canonical json.RawMessage) string {
	return holdshort.ArgsHash([]byte(tool + "\x00" + string(canonical)))
}
