// Package engine is the kernel: one method for each use case, each one transaction, and the loops that carry runs on.
// It may import the root package, reply, flow, policy, tool, internal/schema and store.
//
// A decision, from the door to the tool: Decide checks it and commits it together with the journal entry that answers the flow and the
// claim of the run for this node (decide.go); the slice replays the journal up to the call that waited (slice.go, recorder.go); the call is
// checked against the signed decision and its `started` row commits (call.go, operation.go); the tool runs; its outcome commits.
package engine
