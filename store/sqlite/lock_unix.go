//go:build unix

package sqlite

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/holdshort/holdshort"
)

// fileLock says that this process has the database. The system lets go of it when the process ends, however it ends.
type fileLock struct{ file *os.File }

func acquireLock(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &holdshort.Error{Code: holdshort.StoreReadOnly, Op: "lock " + path, Err: err, Hint: "check the rights of the folder"}
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(file, 100))
		file.Close()
		return nil, &holdshort.Error{Code: holdshort.StoreLocked, Op: "open " + strings.TrimSuffix(path, ".lock"),
			Message: fmt.Sprintf("another process has this database (%s)", strings.TrimSpace(string(holder))), Err: err,
			Hint: "one engine per SQLite file: stop the other process, or use PostgreSQL for several"}
	}
	file.Truncate(0)
	fmt.Fprintf(file, "pid %d\n", os.Getpid()) // for the message above; nothing depends on it
	return &fileLock{file}, nil
}

// release lets go of the lock before it closes the file: a child that is being started has the same file until its exec, and a lock lasts as
// long as anybody has it.
func (l *fileLock) release() {
	syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN) // if it fails, closing the file lets go of it
	l.file.Close()
}
