package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/policy/replay"
	"github.com/holdshort/holdshort/policy/rulebook"
	"github.com/holdshort/holdshort/setup"
	"github.com/holdshort/holdshort/store"
)

// rulesPage is what the policy page shows: the rules that a server judges by, and its past to compare changed ones with.
func rulesPage(parts *setup.Parts, s store.Store) *replay.Rules {
	rules := &replay.Rules{Store: s, Read: changedRules}
	if parts == nil {
		return rules
	}
	rules.Policy, rules.Book, rules.Places, rules.Tools = parts.Policy, parts.Book, parts.Places, parts.Tools
	for _, a := range parts.Listed {
		rules.Agents = append(rules.Agents, a.Name)
	}
	return rules
}

// pasted is what faults call the text of a form.
const pasted = "line"

// changedRules reads the policies of a text that somebody pasted: a whole configuration, its policies section, or the rules alone. What is wrong
// elsewhere in it is none of their business. Variables of the environment are not filled in: whoever pastes must not learn them.
func changedRules(text []byte) (*rulebook.Book, error) {
	if nesting(text) > deepestRules {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Message: "its brackets lie too deep in one another", Hint: "paste the policies as they stand in the configuration"}
	}
	bare := bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("-")) && !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("---"))
	if bare {
		text = append([]byte("policies:\n"), text...)
	}
	read, err := config.Parse(pasted, text, func(string) (string, bool) { return "", false })
	faults := config.FaultsOf(err)
	if err != nil && len(faults) == 0 {
		return nil, err
	}
	faults = slices.DeleteFunc(faults, func(f config.Fault) bool { return f.Path != "" && !strings.HasPrefix(f.Path, "policies") })
	if bare {
		for i := range faults {
			faults[i].Line = max(faults[i].Line-1, 1)
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if len(read.Policies) == 0 && !bytes.Contains(text, []byte("policies:")) {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Message: "there are no policies in it", Hint: "paste the section that begins with policies:"}
	}
	book, err := read.Book(rulebook.Options{})
	if wrong, ok := errors.AsType[rulebook.Faults](err); ok {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Message: wrong[0].Error(), Hint: wrong[0].Hint}
	}
	return book, err
}

// deepestRules is how far brackets may lie in one another: reading them takes time that grows with its square, and nobody can call it off.
const deepestRules = 1000

// nesting is how far brackets lie in one another at most, as far as that can be told without reading the text.
func nesting(text []byte) (deepest int) {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		deepest = max(deepest, depth)
	}
	return deepest
}
