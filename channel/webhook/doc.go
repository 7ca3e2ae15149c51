// Package webhook sends the deliveries of the channel "webhook", events to webhooks and callbacks, signed as the Standard Webhooks specification says.
// It imports the root package, engine and the standard library.
package webhook
