package sqlite

import (
	"context"
	"errors"
	"strings"

	"github.com/holdshort/holdshort"

	lib "modernc.org/sqlite/lib"
)

// explain turns the database's error into ours, with what to do about it.
func explain(op string, err error) error {
	var known *holdshort.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &holdshort.Error{Code: holdshort.StoreUnavailable, Op: op, Message: "the database does not answer", Err: err, Hint: "try again; if it goes on, run holdshort doctor"}
	var fault *failure
	if !errors.As(err, &fault) {
		return e
	}
	switch fault.code & 0xff {
	case lib.SQLITE_FULL:
		e.Code, e.Message, e.Hint = holdshort.StoreFull, "no room on the disk: nothing was written", "free some room; what was acknowledged is safe"
	case lib.SQLITE_READONLY:
		e.Code, e.Message, e.Hint = holdshort.StoreReadOnly, "the database cannot be written: nothing was changed", "check the rights of the file and its folder"
	case lib.SQLITE_CANTOPEN:
		e.Code, e.Message, e.Hint = holdshort.StoreReadOnly, "the database cannot be opened", "check the path and the rights of its folder"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		e.Code, e.Message, e.Hint = holdshort.StoreLocked, "another program holds the database", "close it: one engine per file"
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		e.Code, e.Message, e.Hint = holdshort.SchemaCorrupt, "the file is damaged or no SQLite database", "restore a backup; keep the damaged file for a look"
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_MISMATCH, lib.SQLITE_RANGE, lib.SQLITE_TOOBIG:
		e.Code, e.Message, e.Hint = holdshort.Internal, "the database refused a row", ""
	case lib.SQLITE_ERROR, lib.SQLITE_SCHEMA:
		if text := err.Error(); strings.Contains(text, "no such ") || strings.Contains(text, "has no column") {
			e.Code, e.Message, e.Hint = holdshort.SchemaCorrupt, "the database lacks something that this build needs", "run holdshort migrate --check"
		}
	case lib.SQLITE_IOERR:
		e.Message, e.Hint = "the disk does not answer: nothing was written", "check the disk; what was acknowledged is safe"
	}
	return e
}

// lostCommit: a disk that fails in the middle of a commit may have kept it. Everything before it is definite: nothing was written.
func lostCommit(err error) error {
	var fault *failure
	if errors.As(err, &fault) && fault.code&0xff == lib.SQLITE_IOERR {
		return &holdshort.Error{Code: holdshort.OutcomeUnknown, Op: "commit", Message: "the disk failed: whether it was written shows only when the store is opened again", Err: err,
			Hint: "check the disk, restart, and look before you repeat it"}
	}
	return explain("commit", err)
}

func (s *Store) explain(err error) error { return explain("open "+s.path, err) }

func isTaken(err error) bool {
	var fault *failure
	if !errors.As(err, &fault) {
		return false
	}
	code := fault.code
	return code == lib.SQLITE_CONSTRAINT_UNIQUE || code == lib.SQLITE_CONSTRAINT_PRIMARYKEY || code == lib.SQLITE_CONSTRAINT_ROWID
}
