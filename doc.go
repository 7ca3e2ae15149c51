// Package holdshort is the vocabulary of the product: the nouns, their state machines, their errors and what binds a decision to what it decided.
// It is pure (no I/O, no clock, no goroutines) and imports only the standard library.
//
// Every transition is a function of a state and an input that gives a new state or a coded error. The machines stand in tables
// (run.go, request.go, operation.go, delivery.go, session.go), the pictures in docs/architecture.md are drawn from those tables by a
// test, and another test walks every state with every input.
package holdshort
