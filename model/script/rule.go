package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/holdshort/holdshort"
)

// Rule is one answer and what it is the answer to.
type Rule struct {
	// When it answers. Default: always.
	When When `json:"when,omitzero" yaml:"when"`
	// Say is the text of the answer. $1 is a group of when.user, then of when.result; {result} is the result of the tool, {result.order.id} a part of it,
	// {results} every result of the batch. $$ is a dollar sign.
	Say string `json:"say,omitempty" yaml:"say"`
	// Call is what it wants done.
	Call []CallSpec `json:"call,omitempty" yaml:"call"`
	// Wait is how long it takes to think. Default: not at all.
	Wait time.Duration `json:"wait,omitempty" yaml:"wait"`
}

// When says which input a rule answers: all that is set must hold. The latest input is what the user said last or, if tools ran since then,
// their results, of which the newest that fits counts.
type When struct {
	// User is a regular expression that is found in what the user said last. Alone it answers only before tools ran.
	User string `json:"user,omitempty" yaml:"user"`
	// Tool whose result came last.
	Tool string `json:"tool,omitempty" yaml:"tool"`
	// Result is a regular expression that is found in the result of the tool.
	Result string `json:"result,omitempty" yaml:"result"`
	// Failed is whether there is a reason instead of a result. Default: either.
	Failed *bool `json:"failed,omitempty" yaml:"failed"`
}

// CallSpec is a call to be made.
type CallSpec struct {
	Tool string `json:"tool" yaml:"tool"`
	// Args may have $1 and {result.x} in their texts, which become numbers and booleans where the schema of the tool wants them.
	Args map[string]any `json:"args,omitempty" yaml:"args"`
}

// rule is a Rule that was read.
type rule struct {
	Rule
	user, result *regexp.Regexp
}

func (w When) aboutTools() bool { return w.Tool != "" || w.Result != "" || w.Failed != nil }

func (w When) always() bool { return w.User == "" && !w.aboutTools() }

func compile(rules []Rule) ([]rule, error) {
	if len(rules) == 0 {
		return nil, invalid("rules", "a script needs at least one rule", "add a rule with say or call", nil)
	}
	compiled := make([]rule, 0, len(rules))
	for i, r := range rules {
		field := fmt.Sprintf("rules[%d]", i)
		if i > 0 && rules[i-1].When.always() {
			return nil, invalid(field, "this rule can never answer: the one before it has no when and answers everything", "put the rule without when at the end", nil)
		}
		c := rule{Rule: r}
		var err error
		if c.user, err = pattern(r.When.User); err != nil {
			return nil, invalid(field+".when.user", "not a regular expression", "write it in the syntax of RE2", err)
		}
		if c.result, err = pattern(r.When.Result); err != nil {
			return nil, invalid(field+".when.result", "not a regular expression", "write it in the syntax of RE2", err)
		}
		if r.Say == "" && len(r.Call) == 0 {
			return nil, invalid(field, "this rule answers nothing", "give it say, call, or both", nil)
		}
		if r.Wait < 0 {
			return nil, invalid(field+".wait", "a time before now", "give it a duration such as 200ms", nil)
		}
		for k, spec := range r.Call {
			at := fmt.Sprintf("%s.call[%d]", field, k)
			if spec.Tool == "" {
				return nil, invalid(at+".tool", "no tool is named", "name the tool to call", nil)
			}
			if _, err := json.Marshal(spec.Args); err != nil {
				return nil, invalid(at+".args", "arguments that JSON cannot hold", "use texts, numbers, booleans, lists and objects", err)
			}
		}
		compiled = append(compiled, c)
	}
	return compiled, nil
}

func pattern(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	return regexp.Compile(text)
}

func invalid(field, message, hint string, cause error) error {
	return &holdshort.Error{Code: holdshort.Invalid, Op: "read script: " + field, Message: message, Hint: hint, Field: field, Err: cause}
}
