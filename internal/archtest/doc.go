// Package archtest holds the architecture: allowed imports per package, package comments, file size, names and habits, each a checker
// over the parsed tree that says where and what to do. It imports the standard library only; the table of packages is in layers.go.
package archtest
