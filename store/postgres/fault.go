package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/holdshort/holdshort"
)

// explain turns the database's error into ours, with what to do about it. It never shows the connection string.
func explain(op string, err error) error {
	var known *holdshort.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	e := &holdshort.Error{Code: holdshort.StoreUnavailable, Op: op, Message: "the database does not answer", Err: err, Hint: "try again; if it goes on, run holdshort doctor"}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		e.Err = errors.Unwrap(connect) // its own text names user and database
		e.Hint = "check that the server runs at that address and takes connections, then try again"
	}
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return e
	}
	switch {
	case fault.Code == "53200":
		e.Message, e.Hint = "the database has no memory or locks left: nothing was written", "try again; raise max_locks_per_transaction if it goes on"
	case fault.Code == "55P03":
		e.Message, e.Hint = "another transaction holds the row: nothing was written", "try again"
	case fault.Code == "53100":
		e.Code, e.Message, e.Hint = holdshort.StoreFull, "the database has no room: nothing was written", "free some room on the database's disk; what was acknowledged is safe"
	case fault.Code == "25006":
		e.Code, e.Message, e.Hint = holdshort.StoreReadOnly, "the database is read-only: nothing was changed", "connect to the primary, not to a replica"
	case fault.Code == "42501" || strings.HasPrefix(fault.Code, "28"):
		e.Code, e.Message, e.Hint = holdshort.Forbidden, "the database refuses this user", "grant the user rights on the schema, and check name and password"
	case fault.Code == "3D000":
		e.Code, e.Message, e.Hint = holdshort.NotFound, "there is no such database", "create it: createdb NAME"
	case strings.HasPrefix(fault.Code, "42"):
		e.Code, e.Message, e.Hint = holdshort.SchemaCorrupt, "the database lacks something that this build needs", "run holdshort migrate --check"
	case fault.Code == uniqueViolation:
		e.Code, e.Message, e.Hint = holdshort.Duplicate, "this key is taken", ""
	case strings.HasPrefix(fault.Code, "22"), strings.HasPrefix(fault.Code, "23"):
		e.Code, e.Message, e.Hint = holdshort.Internal, "the database refused a row", ""
	case fault.Code == "57014":
		e.Message = "the database took too long: nothing was written"
	}
	return e
}

const uniqueViolation = "23505"

func sqlState(err error) string {
	var fault *pgconn.PgError
	if errors.As(err, &fault) {
		return fault.Code
	}
	return ""
}

// isLast: the server said this and hung up.
func isLast(err error) bool {
	code := sqlState(err)
	return strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08")
}

func isTaken(err error) bool { return sqlState(err) == uniqueViolation }

// again: a deadlock or a serialisation failure undid the whole transaction; the same again may well succeed.
func again(err error) bool {
	code := sqlState(err)
	return code == "40P01" || code == "40001" || code == "53200"
}
