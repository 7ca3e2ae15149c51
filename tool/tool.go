// Package tool is the contract of what an agent or flow can do to the world: a Tool, its declaration of risk, and its answers.
// It may import the root package and internal/schema; the kernel calls tools, folders below this one are tools.
package tool

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/internal/schema"
)

// Effect says whether a tool changes anything.
type Effect string

const (
	Write Effect = "write" // the zero value reads as this: what is not declared is treated as risky
	Read  Effect = "read"
)

// Reversible says whether what a tool did can be undone.
type Reversible string

const (
	Irreversible Reversible = "no" // the zero value reads as this
	Yes          Reversible = "yes"
	External     Reversible = "external" // by somebody else, perhaps
)

// DefaultTimeout of a call.
const DefaultTimeout = 30 * time.Second

// Tool is one thing that can be done. Its own declaration classifies its risk, never the agent or the model.
type Tool struct {
	Name        string
	Description string
	// Schema of the arguments. Default: any JSON.
	Schema json.RawMessage
	// Effect. Default: Write.
	Effect Effect
	// Reversible. Default: Irreversible.
	Reversible Reversible
	// Idempotent promises that calls under one operation id take effect once, however often they are made. Default: false.
	Idempotent bool
	// Timeout of one call: it is aborted then. Default: 30 seconds.
	Timeout time.Duration
	// Retries is how often a call that provably did nothing is made again. Default: 0.
	Retries int
	// Concurrency is how many calls of this tool a node makes at once. Default: no limit.
	Concurrency int
	// Guarded has a person asked about every call, whatever a rule allows. Default: the policy says.
	Guarded bool
	// Hints are what a server of tools says of this one. Default: nobody said anything.
	Hints *Hints
	// Changed reports whether the definition is another than the one that somebody agreed to: then every call is asked about. Default: never.
	Changed func() bool
	// Definition names what the tool is now, where a server says that: an approval is for that, and good for nothing else. Default: it is what
	// it is.
	Definition func() string
	// Cost of a call with these arguments, for spending limits. Default: 0.
	Cost func(args json.RawMessage) int64
	// Definite says of an error that it proves that nothing happened. Errors made by Definite and NotSent do, whatever it says.
	Definite func(error) bool
	// Call does it. The context ends at the deadline.
	Call func(ctx context.Context, call Call) (Result, error)
	// Reconcile asks the world what became of a call whose answer was lost. Default: a person is asked.
	Reconcile func(ctx context.Context, call Call) (Finding, error)

	schema   *schema.Schema
	declared Reversible // before the default was filled in
}

// Declared is what the tool itself says about undoing it, "" if it says nothing. Rules read the default then; people are told what was said.
func (t Tool) Declared() Reversible { return t.declared }

// Hints are what a server says of its tool. They are believed only of a server that is trusted.
type Hints struct {
	Server      string
	Trusted     bool
	ReadOnly    bool
	Destructive bool
}

// Call is one call of a tool, exactly as it was approved.
type Call struct {
	Tenant      holdshort.TenantID
	RunID       holdshort.RunID // empty for a call that no run makes
	OperationID string          // the same for every attempt: hand it to the other side as its idempotency key
	Attempt     int             // from 1
	Args        json.RawMessage // canonical; Reconcile gets them too while the run's journal is kept
	Deadline    time.Time
	Definition  string // that it was judged by, of a tool that has one: another is not called
}

// Result is what came of it.
type Result struct {
	Value json.RawMessage // any JSON; empty is null
	// ExternalIDs name what was made outside. They go to the ledger, so they must not be personal.
	ExternalIDs map[string][]string
}

// State is what Reconcile found.
type State string

const (
	Happened    State = "happened"
	NotHappened State = "not_happened"
	Unclear     State = "unclear" // a person has to say
)

// Finding is the answer of Reconcile.
type Finding struct {
	State  State
	Result Result // of what happened
}

// Prepare fills in defaults and compiles the schema; Invalid says what is wrong with the declaration.
func (t Tool) Prepare() (Tool, error) {
	wrong := func(field, message, hint string) (Tool, error) {
		return t, &holdshort.Error{Code: holdshort.Invalid, Op: "register tool " + t.Name, Field: field, Message: message, Hint: hint}
	}
	if t.Name == "" || len(t.Name) > 200 || !utf8.ValidString(t.Name) || strings.ContainsFunc(t.Name, unicode.IsControl) {
		return wrong("name", "a tool needs a name of 1 to 200 bytes of text", "set Name")
	}
	if t.Call == nil {
		return wrong("call", "a tool needs a function", "set Call")
	}
	switch t.Effect {
	case "":
		t.Effect = Write
	case Read, Write:
	default:
		return wrong("effect", "unknown effect "+string(t.Effect), "use read or write")
	}
	if t.schema == nil { // else it was prepared before
		t.declared = t.Reversible
	}
	switch t.Reversible {
	case "":
		t.Reversible = Irreversible
	case Yes, Irreversible, External:
	default:
		return wrong("reversible", "unknown value "+string(t.Reversible), "use yes, no or external")
	}
	if t.Timeout < 0 || t.Retries < 0 || t.Concurrency < 0 {
		return wrong("timeout", "timeout, retries and concurrency cannot be negative", "leave them out for the defaults")
	}
	if t.Timeout == 0 {
		t.Timeout = DefaultTimeout
	}
	s, err := schema.Compile(t.Schema)
	if err != nil {
		return t, &holdshort.Error{Code: holdshort.Invalid, Op: "register tool " + t.Name, Field: "schema", Message: "its schema cannot be used", Err: err}
	}
	t.schema = s
	return t, nil
}

// SchemaHash names the version of the arguments' schema, and of the whole definition where a server gives it.
func (t Tool) SchemaHash() string {
	if now := t.Defined(); now != "" {
		return t.schema.Hash() + ":" + now
	}
	return t.schema.Hash()
}

// Defined is the definition that the tool has now, empty for one that never changes.
func (t Tool) Defined() (now string) {
	if t.Definition == nil {
		return ""
	}
	defer func() {
		if now == "" || recover() != nil {
			now = "none"
		}
	}()
	return t.Definition()
}

// Validate checks arguments against the schema.
func (t Tool) Validate(args json.RawMessage) error { return t.schema.Validate(args) }

// RepeatSafe reports whether calling it again under the same operation id does no harm.
func (t Tool) RepeatSafe() bool { return t.Effect == Read || t.Idempotent }
