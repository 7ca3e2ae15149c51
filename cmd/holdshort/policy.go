package main

import (
	"errors"
	"os"
	"strings"
	_ "time/tzdata" // rules speak of time zones, and not every machine knows them

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/policy/rulebook"
)

type policyCommand struct {
	Test   policyTestCommand   `cmd:"" help:"Run a file of cases against the policies of a configuration."`
	Replay policyReplayCommand `cmd:"" help:"Show what the policies of a configuration would have said of the recorded calls."`
}

func (policyCommand) Help() string {
	return `Examples:

    holdshort policy test policy_test.yaml
    holdshort policy replay --since 30d --config changed.yaml`
}

// rulesFlag names the policies that a command is about.
type rulesFlag struct {
	Config string `placeholder:"FILE" env:"HOLDSHORT_CONFIG" help:"Configuration with the policies. Default: holdshort.yaml."`
}

// rules reads the configuration and compiles its policies. What is wrong elsewhere in the file, such as a secret that is not set on this
// machine, is none of their business: it is told, and they are read all the same.
func (f rulesFlag) rules(out *console) (config.Config, *rulebook.Book, error) {
	file := f.Config
	if file == "" {
		file = defaultConfig
		if _, err := os.Stat(file); err != nil {
			return config.Config{}, nil, &holdshort.Error{Code: holdshort.NotFound, Op: "read " + file, Message: "there is no such file", Hint: "name the configuration with --config"}
		}
	}
	read, err := config.Read(file)
	faults := config.FaultsOf(err)
	if err != nil && len(faults) == 0 {
		return read, nil, err
	}
	for _, f := range faults {
		if f.Path == "" || strings.HasPrefix(f.Path, "policies") || strings.HasPrefix(f.Path, "tools") {
			return read, nil, shownFaults(out, err)
		}
	}
	if len(faults) > 0 && !out.jsonErrors {
		out.notef("holdshort: not looked at: %s", faults[0].Error())
	}
	book, err := read.Book(rulebook.Options{})
	if wrong, ok := errors.AsType[rulebook.Faults](err); ok {
		err = &holdshort.Error{Code: holdshort.Invalid, Op: "read " + file, Message: wrong[0].Error(), Hint: wrong[0].Hint}
	}
	return read, book, err
}
