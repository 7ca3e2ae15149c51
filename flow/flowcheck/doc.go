// Package flowcheck finds what must not stand in a flow: clocks, randomness, goroutines, input and output outside a step.
// It may import the standard library only. Call Dir from a test of the package that has the flows.
//
// A flow is any function whose first parameter is a *flow.Context. It runs again from the top whenever it goes on, so between its effects it
// must do the same each time. What is inside the function literals that flow.Step and flow.Model are given is free. The check reads source
// one package at a time and knows no other package's types: what hides behind a call of another function it does not see.
//
// A line that is right all the same says so: //flowcheck:allow, and why.
package flowcheck
