package tool

import (
	"errors"
	"fmt"
	"slices"
)

// definite is an error that proves that nothing happened.
type definite struct{ err error }

func (d definite) Error() string { return d.err.Error() }
func (d definite) Unwrap() error { return d.err }

// Definite marks an error as proof that nothing happened: the other side refused. Without it an error of a tool that writes leaves its
// outcome unknown.
func Definite(err error) error {
	if err == nil {
		return nil
	}
	return definite{err}
}

// NotSent marks an error of a call that never left: no connection, no credentials.
func NotSent(err error) error { return Definite(err) }

// IsDefinite reports whether err proves that a call of t did nothing. A declaration that panics proves nothing.
func (t Tool) IsDefinite(err error) (proof bool) {
	if err == nil {
		return false
	}
	defer func() {
		if recover() != nil {
			proof = false
		}
	}()
	var d definite
	var f *Fault
	return errors.As(err, &d) || errors.As(err, &f) && f.Repairable() || t.Definite != nil && t.Definite(err)
}

// definiteStatuses are answers with which a server refuses before it does anything.
var definiteStatuses = []int{400, 401, 403, 404, 405, 410, 422, 429}

// StatusError makes the error of an HTTP answer: definite for the statuses that refuse before anything was done, ambiguous for the others.
func StatusError(status int, message string) error {
	err := fmt.Errorf("status %d: %s", status, message)
	if slices.Contains(definiteStatuses, status) {
		return Definite(err)
	}
	return err
}
