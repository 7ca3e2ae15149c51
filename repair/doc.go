// Package repair turns what a person wrote about a call that failed for its arguments into a patch of those arguments, and never picks by mistake.
// It is pure (no I/O, no clock, no goroutines) and may import the root package, reply, tool and internal/schema.
package repair
