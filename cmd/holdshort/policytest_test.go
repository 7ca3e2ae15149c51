package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// The policies that are there to be read do what they say: each has a file of cases beside it, which reaches every rule.
func TestPoliciesWorthReading(t *testing.T) {
	files, err := filepath.Glob("../../policy/rulebook/testdata/*_cases.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"policy", "test", file, "--config", strings.Replace(file, "_cases", "", 1)}, &console{stdout: &stdout, stderr: &stderr}, &grammar{})
		if code != exitOK || strings.Contains(stdout.String(), "no case ends at") || stderr.Len() > 0 {
			t.Errorf("%s: exit %d\n%s%s", file, code, stdout.String(), stderr.String())
		}
	}
}
