// Package testall says whether the exhaustive variants of tests run. It imports the standard library only.
package testall

import "os"

// Enabled reports whether HOLDSHORT_TEST_ALL=1 asks for every variant of every test.
func Enabled() bool { return os.Getenv("HOLDSHORT_TEST_ALL") == "1" }
