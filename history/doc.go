// Package history reads conversations that other systems keep, and joins them with those of the store: a Remote that never fails its caller,
// and Merge. It imports the root package and the standard library.
package history
