package config

import (
	"testing"

	"github.com/holdshort/holdshort"
)

// The whole matrix: which store, how lasting, what was written.
func TestMode(t *testing.T) {
	const needsStore = "async HITL requires session_store to be configured"
	tests := []struct {
		store   string
		durable bool
		mode    string
		want    string
		err     string
	}{
		{"", false, "", Blocking, ""},
		{"", false, "auto", Blocking, ""},
		{"", false, "blocking", Blocking, ""},
		{"", false, "async", "", needsStore},
		{"", true, "", Blocking, ""}, // durable without a name means nothing
		{"", true, "auto", Blocking, ""},
		{"", true, "blocking", Blocking, ""},
		{"", true, "async", "", needsStore},
		{"main", true, "", Async, ""},
		{"main", true, "auto", Async, ""},
		{"main", true, "blocking", Blocking, ""},
		{"main", true, "async", Async, ""},
		{"main", false, "", Blocking, ""},
		{"main", false, "auto", Blocking, ""},
		{"main", false, "blocking", Blocking, ""},
		{"main", false, "async", "", "async HITL requires a durable session_store: main is in memory"},
		{"main", true, "Async", "", "invalid hitl.mode: Async (must be 'auto', 'blocking', or 'async')"},
		{"", false, "sometimes", "", "invalid hitl.mode: sometimes (must be 'auto', 'blocking', or 'async')"},
		{"main", false, " ", "", "invalid hitl.mode:   (must be 'auto', 'blocking', or 'async')"},
	}
	for _, tt := range tests {
		got, err := Mode(tt.store, tt.durable, tt.mode)
		switch {
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("Mode(%q, %v, %q) = %q, %v; want %q", tt.store, tt.durable, tt.mode, got, err, tt.want)
		case tt.err != "" && (err == nil || err.Error() != tt.err || holdshort.CodeOf(err) != holdshort.Invalid || got != ""):
			t.Errorf("Mode(%q, %v, %q) = %q, %v; want the error %q", tt.store, tt.durable, tt.mode, got, err, tt.err)
		}
	}
}

// What is true of a file is true of the same thing made in code.
func TestModesOfCodeAndYAMLAgree(t *testing.T) {
	for _, store := range []string{"", "main"} {
		for _, url := range []string{"sqlite:x.db", "sqlite::memory:"} {
			for _, mode := range []string{"", "auto", "blocking", "async", "never"} {
				text := "stores: {main: {url: \"" + url + "\"}}\nmodels: {m: {provider: openai, model: x}}\nagents: {a: {model: m"
				agent := Agent{Model: "m", SessionStore: store}
				if store != "" {
					text += ", session_store: " + store
				}
				if mode != "" {
					text += ", task: {hitl: {mode: " + mode + "}}"
					agent.Task = &Task{HITL: &HITL{Mode: mode}}
				}
				code := Config{Stores: map[string]Store{"main": {URL: url}}, Models: map[string]Model{"m": {Provider: "openai", Model: "x"}}, Agents: map[string]Agent{"a": agent}}
				read, yamlErr := Parse("x.yaml", []byte(text+"}}\n"), nothingSet)
				codeErr := code.Check()
				want, modeErr := code.ModeOf("a")
				if (yamlErr == nil) != (codeErr == nil) || (codeErr == nil) != (modeErr == nil) {
					t.Fatalf("%s: YAML says %v, code says %v, the mode is %v", text, yamlErr, codeErr, modeErr)
				}
				if modeErr != nil {
					if a, b := FaultsOf(yamlErr)[0].Message, FaultsOf(codeErr)[0].Message; a != b || a != modeErr.Error() {
						t.Errorf("%s: YAML says %q, code %q, Mode %q", text, a, b, modeErr)
					}
					continue
				}
				if got, err := read.ModeOf("a"); got != want || err != nil {
					t.Errorf("%s: %q, %v; want %q", text, got, err, want)
				}
			}
		}
	}
}

func TestModeOfNobody(t *testing.T) {
	if _, err := (Config{}).ModeOf("ghost"); holdshort.CodeOf(err) != holdshort.NotFound {
		t.Errorf("%v", err)
	}
}
