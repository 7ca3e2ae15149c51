package model

import (
	"errors"
	"fmt"
	"time"
)

// Kind of a model's error.
type Kind string

const (
	RateLimited Kind = "rate_limited" // 429: too much at once
	Overloaded  Kind = "overloaded"   // 5xx
	Unreachable Kind = "unreachable"  // no connection, or it broke
	Timeout     Kind = "timeout"
	Truncated   Kind = "truncated" // the answer ended in the middle
	Malformed   Kind = "malformed" // the answer is not of the protocol
	TooLarge    Kind = "too_large" // the answer is larger than anybody wants
	Rejected    Kind = "rejected"  // another 4xx: the request is wrong, or not allowed
)

// Error of a model. Its text never has a key or a prompt in it.
type Error struct {
	Kind    Kind
	Status  int           // of the HTTP answer; 0: there was none
	After   time.Duration // what the provider asked to wait; 0: it said nothing
	Message string
	Err     error
}

func (e *Error) Error() string {
	text := "model: " + string(e.Kind)
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may go better a moment later. A model has no effects: asking again does no harm.
func Retryable(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case RateLimited, Overloaded, Unreachable, Timeout, Truncated:
		return true
	}
	return false
}
