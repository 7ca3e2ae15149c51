// Package inbox serves the web pages on which people decide, look things up and talk to agents.
// It asks the engine and the policy, knows people by identity, and never sees the store; transports beside it are strangers to it.
package inbox
