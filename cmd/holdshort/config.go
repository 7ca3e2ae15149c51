package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdshort/holdshort/config"
)

type configCommand struct {
	Check  configCheckCommand  `cmd:"" help:"Check a configuration and say everything that is wrong with it."`
	Schema configSchemaCommand `cmd:"" help:"Print the JSON Schema of holdshort.yaml, for editors."`
}

func (configCommand) Help() string {
	return `Examples:

    holdshort config check
    holdshort config schema > holdshort.schema.json`
}

const defaultConfig = "holdshort.yaml"

type configCheckCommand struct {
	File     string   `arg:"" optional:"" default:"holdshort.yaml" help:"The file. Default: holdshort.yaml."`
	Embedded bool     `help:"Check the file for a Go program that embeds the engine and brings its own tools, flows, store and identity."`
	LeaveOut []string `placeholder:"SECTION" help:"Check as serve with the same flag: without these sections."`
	jsonFlag
}

func (configCheckCommand) Help() string {
	return `Reads the file as serve does, with the same environment, and starts nothing. A file that serve refuses is refused here for the same faults. Exit 0: nothing is wrong. Exit 1: something is.

Examples:

    holdshort config check
    holdshort config check --embedded demo/holdshort.yaml
    holdshort config check /etc/holdshort/holdshort.yaml --json`
}

// checked is the command's JSON.
type checked struct {
	File     string            `json:"file"`
	OK       bool              `json:"ok"`
	Faults   []config.Fault    `json:"faults"`
	Warnings []config.Fault    `json:"warnings"`
	Unbuilt  []string          `json:"unbuilt"` // sections that this build does not run
	Modes    map[string]string `json:"modes"`   // of agents
}

func (c *configCheckCommand) Run(ctx context.Context, out *console) error {
	read, warnings, err := readServable(ctx, servable{file: c.File, leaveOut: c.LeaveOut, embedded: c.Embedded})
	faults := config.FaultsOf(err)
	if err != nil && len(faults) == 0 {
		return err
	}
	result := checked{File: c.File, OK: err == nil, Faults: list(faults), Warnings: list(warnings),
		Unbuilt: list(read.Unbuilt()), Modes: map[string]string{}}
	if err == nil {
		for name := range read.Agents {
			if result.Modes[name], err = read.ModeOf(name); err != nil {
				return err
			}
		}
	}
	switch {
	case c.JSON:
		if err := out.encode(result); err != nil {
			return err
		}
	case result.OK:
		showWarnings(out, warnings)
		out.printf("%s is right\n", c.File)
		for _, name := range slices.Sorted(keysOf(result.Modes)) {
			out.printf("agent %s waits %s\n", name, result.Modes[name])
		}
		if len(result.Unbuilt) > 0 {
			out.printf("not part of this build: %s\n", strings.Join(result.Unbuilt, ", "))
		}
	default:
		showFaults(out, faults)
	}
	if !result.OK {
		return verdict(exitFailed)
	}
	return nil
}

func keysOf(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// showFaults tells on stderr what is wrong with a configuration, with the lines that it stands in.
func showFaults(out *console, faults config.Faults) { showPlaces(out, "holdshort: ", faults) }

// showWarnings prints warnings as faults are printed.
func showWarnings(out *console, warnings config.Faults) {
	showPlaces(out, "holdshort: warning: ", warnings)
}

func showPlaces(out *console, prefix string, faults config.Faults) {
	for _, f := range faults {
		out.notef("%s", prefix+f.Error())
		for line := range strings.Lines(f.Excerpt) {
			out.notef("%s", strings.TrimRight(line, "\n"))
		}
		if f.Hint != "" {
			out.notef("hint: %s", f.Hint)
		}
	}
}

// readServable reads a file and returns its warnings, and every fault that serve would refuse it for.
func readServable(ctx context.Context, s servable) (read config.Config, warnings config.Faults, err error) {
	s.Config, err = config.Read(s.file)
	if err != nil && config.FaultsOf(err) == nil {
		return s.Config, nil, err
	}
	warnings, all := s.check(ctx)
	if all != nil {
		return s.Config, nil, all
	}
	return s.Config, warnings, err
}

// readConfig reads the file that was named, or holdshort.yaml if it is there, and shows what is wrong with it.
func readConfig(out *console, file string) (config.Config, error) {
	c, err := config.Read(file)
	return c, shownFaults(out, err)
}

// shownFaults shows what is wrong with a configuration, if that is what err says.
func shownFaults(out *console, err error) error {
	if faults, ok := errors.AsType[config.Faults](err); ok && !out.jsonErrors {
		showFaults(out, faults)
		return verdict(exitFailed)
	}
	return err
}

type configSchemaCommand struct{}

func (configSchemaCommand) Help() string {
	return `Prints JSON Schema (draft 2020-12). Editors that know YAML take it with a first line
"# yaml-language-server: $schema=holdshort.schema.json".

Examples:

    holdshort config schema > holdshort.schema.json`
}

func (configSchemaCommand) Run(out *console) error {
	schema, err := config.Schema()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", schema)
	return err
}
