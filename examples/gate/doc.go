// Package gate holds worked examples of gate mode: raise, wait, claim, act, report, with nothing but the standard library of Go, Python and
// JavaScript. Its tests run each of them against a real server; it may import the root package and client.
package gate
