// Package holdshort says what it is for.
package holdshort
