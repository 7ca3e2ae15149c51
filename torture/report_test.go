package torture

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	part := &Report{}
	part.Count(Line{Points: 4, Passes: 5, Effects: 3, Unknowns: 1})
	part.Violate(AtMostOnce, "%s took effect %d times", "op", 2)
	all := &Report{Store: "sqlite"}
	all.Merge("single approval", part)
	all.Merge("edit", &Report{})
	if !all.Broken() || all.Points != 4 || all.Effects != 3 || all.Unknowns != 1 || all.Violations[AtMostOnce] != 1 || all.Line.Violations != 1 {
		t.Errorf("%+v", all.Line)
	}
	for _, want := range []string{"single approval", "P4", "op took effect 2 times", "everything ends"} {
		if text := all.String(); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	raw, err := all.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Store      string
		Points     int
		Violations map[Promise]int `json:"violations_by_promise"`
		Lines      []Line
		Faults     []string
	}
	if err := json.Unmarshal(raw, &read); err != nil || read.Points != 4 || len(read.Violations) != len(Promises) || len(read.Lines) != 2 || len(read.Faults) != 1 {
		t.Errorf("%+v (%v)", read, err)
	}
	for p := range promiseTexts {
		if _, ok := read.Violations[p]; !ok {
			t.Errorf("%s is not counted", p)
		}
	}
}

// TestFaultsAreMet: a pass in which the fault never comes would prove nothing.
func TestFaultsAreMet(t *testing.T) {
	for _, mode := range allModes {
		bed := NewSQLite(t.TempDir())
		report := &Report{}
		met, err := Play(t.Context(), SingleApproval, bed, "acme", Fault{Point: 3, Mode: mode}, report)
		if err == nil {
			err = bed.Close()
		}
		if err != nil || met.Reached == "" {
			t.Errorf("%s: %+v (%v)", mode, met, err)
		}
	}
}
