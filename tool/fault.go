package tool

import "encoding/json"

// Class of what a tool's other side said was wrong.
type Class string

const (
	Validation     Class = "validation"     // the arguments: a person can put them right
	Authentication Class = "authentication" // 401, 403
	NotFound       Class = "not_found"
	RateLimit      Class = "rate_limit"
	ServerError    Class = "server_error"
	OtherFault     Class = "other"
)

// Fault is an error that says which argument was wrong. One of class Validation is proof that nothing happened.
type Fault struct {
	Class   Class             `json:"class"`
	Status  int               `json:"status,omitempty"`  // of an HTTP answer
	Field   string            `json:"field,omitempty"`   // of the arguments, "a.b" for one within another; empty: nobody said
	Value   json.RawMessage   `json:"value,omitempty"`   // that it had
	Allowed []json.RawMessage `json:"allowed,omitempty"` // what it may be; none: nobody said
	Message string            `json:"message"`           // of the other side, shortened
}

func (f *Fault) Error() string { return f.Message }

// Repairable reports whether a person can put it right by changing the arguments.
func (f *Fault) Repairable() bool { return f.Class == Validation }
