package holdshort

import (
	"errors"
	"strings"
)

// Code is the stable name of a kind of error: programs switch on it, messages may change. A Code is itself an error, so that
// errors.Is(err, holdshort.NotFound) answers for any Error with that code, however it was wrapped.
type Code string

// The codes of the kernel and its stores.
const (
	Invalid             Code = "invalid"                // the input has the wrong shape
	NotCanonical        Code = "not_canonical"          // JSON that cannot be hashed without losing something
	TooLarge            Code = "too_large"              // over a limit
	NotFound            Code = "not_found"              // unknown id, or of another tenant
	Unauthenticated     Code = "unauthenticated"        // nobody vouched for the caller
	Forbidden           Code = "forbidden"              // known, but not for this actor
	Expired             Code = "expired"                // past its time
	Closed              Code = "closed"                 // the request is decided, expired or canceled already
	AlreadyVoted        Code = "already_voted"          // one vote per actor
	FingerprintMismatch Code = "fingerprint_mismatch"   // what the caller saw is not what stands
	DoesNotFit          Code = "does_not_fit"           // a well-formed decision that this request does not take
	WrongState          Code = "wrong_state"            // the state machine has no such transition
	Conflict            Code = "conflict"               // somebody else wrote the row first
	Duplicate           Code = "duplicate"              // a unique key is taken
	LeaseLost           Code = "lease_lost"             // the lease or its fencing epoch is no longer ours
	DecisionUsed        Code = "decision_used"          // an approval is good for one call, once
	KeyReused           Code = "idempotency_key_reused" // the key was used with another body
	InvalidReply        Code = "invalid_reply"          // a reply that is no answer to the question
	RateLimited         Code = "rate_limited"           // more calls than the caller may make in a while
	SessionTaken        Code = "session_id_taken"       // the session's id belongs to another user
	SeveralOpen         Code = "several_open"           // more than one request could be meant
	NotReady            Code = "not_ready"              // the server starts or stops
	KeyUnknown          Code = "key_unknown"            // signed by a key that the keyring does not have
	MACInvalid          Code = "mac_invalid"            // the signature does not fit: forged, moved or corrupted
	ArgsChanged         Code = "args_changed"           // same operation id, other arguments
	MissingResult       Code = "IDEMPOTENCY_MISSING_RESULT"
	Denied              Code = "denied"            // a policy or a person said no
	TimedOut            Code = "timed_out"         // nobody answered in time, or a tool did not
	Canceled            Code = "canceled"          // somebody called it off
	Panicked            Code = "panicked"          // a flow's own code panicked
	Misused             Code = "flow_misused"      // a flow does what durable code cannot: an effect in a goroutine or inside a step
	LimitReached        Code = "limit_reached"     // more than its cap allows
	JournalMismatch     Code = "journal_mismatch"  // the flow's code no longer does what its journal says
	ToolFailed          Code = "tool_failed"       // the tool said no, and nothing happened
	NotHappened         Code = "not_happened"      // a call whose answer was lost turned out not to have taken effect
	ToolUnknown         Code = "tool_unknown"      // this node has no such tool
	ModelFailed         Code = "model_failed"      // the language model gave no answer that can be used
	AgentUnknown        Code = "agent_unknown"     // this node has no such agent
	FlowUnknown         Code = "flow_unknown"      // this node has no such flow or version
	Poisoned            Code = "poisoned"          // claimed again and again without progress
	Stuck               Code = "stuck"             // its code neither ends nor does anything
	Corrupt             Code = "corrupt"           // a stored row cannot be read
	Quarantined         Code = "quarantined"       // the store was restored from a backup and nobody accepted that yet
	StoreUnavailable    Code = "store_unavailable" // the database does not answer
	OutcomeUnknown      Code = "outcome_unknown"   // the connection was lost in a commit and the database is away: it may have happened
	StoreFull           Code = "store_full"        // no room on the disk
	StoreReadOnly       Code = "store_read_only"   // the database cannot be written
	StoreLocked         Code = "store_locked"      // another process has it
	StoreClosed         Code = "store_closed"      // Close was called
	SchemaNewer         Code = "schema_newer"      // made by a newer release
	SchemaOlder         Code = "schema_older"      // needs migration
	SchemaCorrupt       Code = "schema_corrupt"    // not what its migrations say
	Internal            Code = "internal"          // a fault of ours
)

func (c Code) Error() string { return string(c) }

// Error is the one error type that crosses package boundaries.
type Error struct {
	Code    Code
	Op      string // verb and object: "decide req_…"
	Message string // what is wrong, for people
	Hint    string // what to do next, for people; may be empty
	Field   string // which part of the input; may be empty
	Err     error  // the cause, for the log
}

func (e *Error) Error() string {
	var b strings.Builder
	for _, part := range []string{e.Op, e.Message} {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	if b.Len() == 0 {
		b.WriteString(string(e.Code))
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString(" (")
		b.WriteString(e.Hint)
		b.WriteString(")")
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Is makes an Error match its own code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// CodeOf gives the code of the outermost Error in err's chain, Internal for any other error and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) && e.Code != "" { // "" would read as no error
		return e.Code
	}
	var c Code
	if errors.As(err, &c) {
		return c
	}
	return Internal
}

// HintOf gives the hint of the outermost Error in err's chain that has one.
func HintOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}
