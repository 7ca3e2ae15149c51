// Package client is the Go client of the HTTP API, with the same verbs. It may import the root package and the standard library, nothing else.
//
// Every POST carries an idempotency key that is kept across its own retries: a call that was answered by nobody is made again without being
// done twice. Errors are *holdshort.Error with the code that the server gave, so errors.Is(err, holdshort.Closed) answers; Refusal has the
// rest of the problem: status, standing request and decision. Gate is the whole cycle of an agent that asks before it acts.
package client
