package rulebook

import (
	"github.com/holdshort/holdshort/policy"
)

// Rule is a condition and what holds where it is true.
type Rule struct {
	// Name is for people and the log. Default: its number.
	Name string
	// When is a CEL expression that is true or false: see Variables. "true" is every call.
	When string
	// Then is the verdict. Its Rule and Version are filled in; its Question is a template: see Template.
	Then policy.Verdict
	// Limits of the calls that this rule allows or asks about.
	Limits []Limit
}

// Unit is what a limit counts.
type Unit string

const (
	Calls   Unit = "calls"   // the zero value reads as this
	Repeats Unit = "repeats" // calls of one tool with the same arguments
	Spend   Unit = "spend"   // the cost of the calls
)

// Limit bounds what the calls of a rule may add up to.
type Limit struct {
	// Name of what is counted: rules that use one name count together. Default: the rule's.
	Name  string
	Unit  Unit
	Scope policy.Scope
	Max   int64
	// Deny what is past it. Default: a person is asked.
	Deny bool
}

// Options of a book. The zero value works.
type Options struct {
	// Budget is what the conditions may cost for one call, in CEL's units: about one for each thing that is looked at. Default: 100,000.
	Budget uint64
	// Failed hears of each condition that could not be evaluated. The cause may quote arguments. Default: nobody does.
	Failed func(rule string, call policy.Call, cause error)
}

const defaultBudget = 100_000

// Variables are what a condition can speak of.
var Variables = []Variable{
	{"tool", "string", "Name of the tool."},
	{"args", "map(string, dyn)", "Arguments of the call. Its numbers are doubles, as in JSON; whole numbers may be written as such beside them."},
	{"effect", "string", "read or write, as the tool declares it."},
	{"reversible", "string", "yes, no or external, as the tool declares it."},
	{"idempotent", "bool", "The tool declares that repeating a call does no harm."},
	{"requires_approval", "bool", "The tool's owner wants every call asked about."},
	{"changed", "bool", "The tool is no longer what somebody agreed to."},
	{"hints.read_only", "bool", "Its server says that it only reads."},
	{"hints.destructive", "bool", "Its server says that it may destroy."},
	{"hints.trusted", "bool", "Its server is believed."},
	{"cost", "int", "Cost of the call, as the tool gives it."},
	{"agent", "string", "Name of the agent, empty for none."},
	{"flow", "string", "Name of the flow, empty for none."},
	{"actor", "string", "Whom it is done for: the user of the run."},
	{"session", "string", "Id of the session, empty for none."},
	{"run", "string", "Id of the run, empty for none."},
	{"tenant", "string", "Id of the tenant."},
	{"now", "timestamp", "The moment of the call."},
}

// Variable is one thing that a condition can speak of.
type Variable struct{ Name, Type, Doc string }
