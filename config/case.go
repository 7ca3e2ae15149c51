package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/holdshort/holdshort"
)

// Cases is a file of calls and of what the policies are expected to say of them.
type Cases struct {
	Cases []Case `yaml:"cases" need:"yes" doc:"What is expected of which call."`
}

// Case is one call and what is expected of it.
type Case struct {
	Name   string   `yaml:"name" doc:"For people. Default: the tool's."`
	Call   CaseCall `yaml:"call" need:"yes" doc:"The call."`
	Expect Expect   `yaml:"expect" need:"yes" doc:"What is expected."`
}

// CaseCall is a call. What is left out is what the configuration declares of the tool.
type CaseCall struct {
	Tool             string `yaml:"tool" need:"yes" doc:"Name of the tool."`
	Args             any    `yaml:"args" doc:"Arguments. Default: {}."`
	Effect           string `yaml:"effect" enum:"read,write" doc:"Default: as declared."`
	Reversible       string `yaml:"reversible" enum:"yes,no,external" doc:"Default: as declared."`
	Idempotent       *bool  `yaml:"idempotent" doc:"Default: as declared."`
	RequiresApproval *bool  `yaml:"requires_approval" doc:"Default: as declared."`
	Changed          bool   `yaml:"changed" doc:"The tool is no longer what somebody agreed to. Default: false."`
	Hints            *Hints `yaml:"hints" doc:"What its server says of it. Default: nothing."`
	Cost             *int   `yaml:"cost" doc:"Default: as declared."`
	Agent            string `yaml:"agent" doc:"Name of the agent. Default: none."`
	Flow             string `yaml:"flow" doc:"Name of the flow. Default: that of the agent."`
	Actor            string `yaml:"actor" doc:"Whom it is done for. Default: nobody."`
	Session          string `yaml:"session" doc:"Id of the session. Default: none."`
	Run              string `yaml:"run" doc:"Id of the run. Default: none."`
	Tenant           string `yaml:"tenant" doc:"Id of the tenant. Default: default."`
	Now              string `yaml:"now" doc:"When, such as 2026-01-31T22:00:00Z. Default: now."`
	Outside          bool   `yaml:"outside" doc:"The tool lives elsewhere and asks over the API: nothing is declared of it. Default: false."`
}

// Hints are what a server of tools says of one.
type Hints struct {
	ReadOnly    bool  `yaml:"read_only" doc:"It only reads."`
	Destructive bool  `yaml:"destructive" doc:"It may destroy."`
	Trusted     *bool `yaml:"trusted" doc:"The server is believed. Default: as declared."`
}

// Expect is what is expected. What is left out may be anything.
type Expect struct {
	Decision  string    `yaml:"decision" need:"yes" enum:"allow,ask,deny" doc:"What the policies say."`
	Rule      string    `yaml:"rule" doc:"Name of the rule that says it."`
	Reason    string    `yaml:"reason" doc:"Why: tool_requires_review, policy_error, …"`
	Owner     *bool     `yaml:"owner" doc:"Whether the session's own user may decide."`
	Users     []string  `yaml:"users" doc:"People who may decide."`
	Roles     []string  `yaml:"roles" doc:"Roles that may decide."`
	Quorum    int       `yaml:"quorum" min:"0" doc:"How many approvals it takes."`
	Separate  *bool     `yaml:"separate" doc:"Whether whoever asked never counts."`
	ExpiresIn *Duration `yaml:"expires_in" doc:"How long it waits."`
	ValidFor  *Duration `yaml:"valid_for" doc:"How long an approval is good."`
	OnTimeout string    `yaml:"on_timeout" enum:"fail,resume,clear,escalate,approve" doc:"What happens when nobody answers."`
	OnReject  string    `yaml:"on_reject" enum:"continue,cancel,return" doc:"What happens after a no."`
	Editable  []string  `yaml:"editable" doc:"Arguments that a decider may change."`
	Redacted  []string  `yaml:"redacted" doc:"Arguments that are hidden."`
	Blind     []string  `yaml:"blind" doc:"Redacted arguments that may be approved unseen."`
	Priority  string    `yaml:"priority" enum:"low,normal,high,critical" doc:"Its priority."`
	Question  string    `yaml:"question" doc:"Text of the question."`
	Limits    *int      `yaml:"limits" doc:"How many limits it is counted against."`
}

// ReadCases reads a file of cases, as strictly as a configuration.
func ReadCases(file string) (Cases, error) {
	content, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Cases{}, &holdshort.Error{Code: holdshort.NotFound, Op: "read " + file, Message: "there is no such file", Hint: "name the file with the cases"}
	case err != nil:
		return Cases{}, &holdshort.Error{Code: holdshort.Invalid, Op: "read " + file, Err: err, Hint: "check the file and its rights"}
	}
	return ParseCases(file, content, os.LookupEnv)
}

// ParseCases reads cases; name is what faults call the file.
func ParseCases(name string, content []byte, env func(string) (string, bool)) (Cases, error) {
	var c Cases
	if len(content) > maxSize || !utf8.Valid(content) {
		return c, Faults{{File: name, Message: "this is no file of cases", Hint: "check which file this is"}}
	}
	d := &decoder{file: name, env: env, anchors: map[string]ast.Node{}, places: map[string]place{}, budget: 100_000, lines: strings.SplitAfter(string(content), "\n")}
	file, err := parser.ParseBytes(content, 0)
	if err != nil {
		return c, Faults{d.syntax(err)}
	}
	body, fault := d.document(file)
	if fault != nil {
		return c, Faults{*fault}
	}
	if body != nil {
		d.value(body, reflect.ValueOf(&c).Elem(), "")
	}
	if len(d.faults) == 0 {
		k := &checker{at: d.at}
		k.needed(reflect.ValueOf(c), "")
		if len(c.Cases) == 0 && len(k.faults) == 0 { // a test of nothing is never right
			k.wrong("cases", "write at least one", "there are no cases")
		}
		d.faults = k.faults
	}
	if len(d.faults) == 0 {
		return c.named(), nil
	}
	return c, d.faults.Sorted()
}

// named gives every case a name.
func (c Cases) named() Cases {
	for i := range c.Cases {
		if c.Cases[i].Name == "" {
			c.Cases[i].Name = fmt.Sprintf("%d: %s", i+1, c.Cases[i].Call.Tool)
		}
	}
	return c
}
