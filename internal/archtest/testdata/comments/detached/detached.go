// Package detached has a comment that godoc does not see.

package detached // want `begins "Package detached"`
