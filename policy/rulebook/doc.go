// Package rulebook is a policy written as rules: a condition in CEL, and what then holds. The first rule that matches says it.
// It may import the root package and package policy.
package rulebook
