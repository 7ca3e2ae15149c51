// Package replay asks rules about calls: those that are on record, as of then, and one that somebody makes up. Nothing runs and nothing changes.
// It may import the root package, flow, model, policy, policy/rulebook, store and tool.
package replay
