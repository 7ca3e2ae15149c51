// Package readme has the tests of what the README and the pages in docs say: their examples are run, their links and the tests they name exist.
// It imports the standard library alone; what it tries, it tries as the built binary.
package readme
