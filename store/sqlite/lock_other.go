//go:build !unix

package sqlite

import "github.com/holdshort/holdshort"

type fileLock struct{}

// Without a lock that ends with the process, two engines could share a file: refuse.
func acquireLock(path string) (*fileLock, error) {
	return nil, &holdshort.Error{Code: holdshort.StoreLocked, Op: "lock " + path, Message: "this system has no file locks that the SQLite store can use",
		Hint: "use PostgreSQL here"}
}

func (l *fileLock) release() {}
