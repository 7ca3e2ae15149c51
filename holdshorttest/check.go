package holdshorttest

import (
	"strings"

	"github.com/holdshort/holdshort/flow/flowcheck"
)

// CheckFlows fails the test for each place in the code of a folder, and of those below it ("./..." or "."), where a flow does what no
// replay repeats: clock, randomness, goroutines, input and output outside a step.
func CheckFlows(t TB, path string) {
	t.Helper()
	root := strings.TrimSuffix(strings.TrimSuffix(path, "..."), "/")
	if root == "" {
		root = "."
	}
	found, err := flowcheck.Dir(root)
	if err != nil {
		t.Fatalf("holdshorttest: check the flows in %s: %v", root, err)
	}
	for _, f := range found {
		t.Errorf("%v", f)
	}
}
