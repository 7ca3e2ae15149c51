package holdshort

import (
	"crypto/sha256"
	"encoding/json"
	"hash"
	"slices"
	"strings"
	"time"
)

// Event is an audit fact, written in the transaction of the fact. It holds ids, codes and digests, never text, arguments or results.
type Event struct {
	ID       EventID         `json:"id"`
	Position int64           `json:"position,omitempty"` // in the order of commits; 0 until it is stamped
	Type     string          `json:"type"`
	Stream   string          `json:"stream"` // run, else session, else tenant: its hash chain
	Seq      int64           `json:"seq"`    // within the stream, from 1
	Prev     []byte          `json:"prev"`   // the hash of the event before it in the stream; empty for the first
	At       time.Time       `json:"at"`
	Session  SessionID       `json:"session_id,omitempty"`
	Run      RunID           `json:"run_id,omitempty"`
	Request  RequestID       `json:"request_id,omitempty"`
	Trace    string          `json:"trace_id,omitempty"`
	Flow     string          `json:"flow,omitempty"`
	Actor    string          `json:"actor,omitempty"`
	Channel  string          `json:"channel,omitempty"`
	Code     string          `json:"code,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"` // what else the fact needs, by id or digest
}

// TenantStream is the stream of events that belong to no run and no session.
const TenantStream = "tenant"

// StreamOf gives the stream that an event belongs to.
func (e Event) StreamOf() string {
	switch {
	case e.Run != "":
		return string(e.Run)
	case e.Session != "":
		return string(e.Session)
	}
	return TenantStream
}

// Hash covers the whole event except its position, which is given after it was written, under the tenant it belongs to. Each field is
// written as its length in eight bytes, big-endian, and its bytes, in this order, behind the name of the format.
func (e Event) Hash(tenant TenantID) [32]byte {
	b := make([]byte, 0, 640)
	b = appendField(b, "holdshort-event-1")
	b = appendField(b, string(tenant))
	b = appendField(b, string(e.ID))
	b = appendField(b, e.Type)
	b = appendField(b, e.Stream)
	b = appendNumber(b, e.Seq)
	b = appendField(b, string(e.Prev))
	b = appendNumber(b, e.At.UnixMicro())
	for _, s := range [...]string{string(e.Session), string(e.Run), string(e.Request), e.Trace, e.Flow, e.Actor, e.Channel, e.Code, string(e.Data)} {
		b = appendField(b, s)
	}
	return sha256.Sum256(b)
}

// Seal is a signed root over every event since the seal before it, so that a whole stream cannot vanish unnoticed.
type Seal struct {
	Number    int64     `json:"number"`
	From      int64     `json:"from"` // first position
	To        int64     `json:"to"`   // last position
	Root      []byte    `json:"root"` // over position, tenant and hash of each
	Prev      []byte    `json:"prev"` // the hash of the seal before it
	At        time.Time `json:"at"`
	KeyID     string    `json:"key_id"`
	Signature []byte    `json:"signature"`
}

// Message is what the signature covers.
func (s Seal) Message() []byte {
	b := appendField(nil, "holdshort-seal-1")
	b = appendNumber(appendNumber(appendNumber(b, s.Number), s.From), s.To)
	b = appendField(appendField(b, string(s.Root)), string(s.Prev))
	b = appendField(appendNumber(b, s.At.UnixMicro()), s.KeyID)
	sum := sha256.Sum256(b)
	return sum[:]
}

// Hash is what the next seal carries: it covers the signature too.
func (s Seal) Hash() []byte {
	sum := sha256.Sum256(appendField(appendField(nil, string(s.Message())), string(s.Signature)))
	return sum[:]
}

// Root gathers the events of a seal, in the order of their positions.
type Root struct {
	h       hash.Hash
	scratch []byte
}

// Add takes the next event's position, tenant and hash.
func (r *Root) Add(position int64, tenant TenantID, eventHash [32]byte) {
	if r.h == nil {
		r.h = sha256.New()
		r.h.Write(appendField(nil, "holdshort-root-1"))
	}
	r.scratch = append(appendField(appendNumber(r.scratch[:0], position), string(tenant)), eventHash[:]...)
	r.h.Write(r.scratch)
}

// Sum is the root of what was added.
func (r *Root) Sum() []byte {
	if r.h == nil {
		return nil
	}
	return r.h.Sum(nil)
}

// EventNames is the closed catalogue: a fact without a name here cannot be written.
var EventNames = []string{
	"run.created", "run.started", "run.waiting", "run.resumed", "run.completed", "run.failed", "run.canceled", "run.held", "run.released",
	"hitl.interrupt.paused", "hitl.interrupt.resumed",
	"hitl.request.created", "hitl.request.queued", "hitl.request.asked", "hitl.request.reasked", "hitl.request.voted", "hitl.request.decided",
	"hitl.request.expired", "hitl.request.canceled", "hitl.request.assigned", "hitl.request.commented", "hitl.request.viewed",
	"hitl.request.revealed", "hitl.request.claimed",
	"hitl.confirm.requested", "hitl.confirm.resolved", "hitl.confirm.timed_out",
	"hitl.escalation.created", "hitl.escalation.resolved", "hitl.escalation.timed_out",
	"hitl.live_takeover.started", "hitl.live_takeover.ended",
	"operation.started", "operation.done", "operation.failed", "operation.unknown", "operation.reconciled", "operation.refused",
	"response:prepared", "response:sent", "response:failed",
	"message.received", "message.duplicate", "message.stale",
	"access.denied", "key.created", "key.revoked", "policy.loaded", "audit.sealed", "audit.pruned", "events.gap",
	"delivery.parked", "delivery.dead",
	"login.created", "login.redeemed", "login.ended",
	"webhook.created", "webhook.changed", "webhook.rotated", "webhook.enabled", "webhook.disabled", "webhook.deleted", "webhook.tested",
	"session.erased", "store.restore_accepted", "flow.emitted", "run.posted",
}

var eventNames = func() map[string]bool {
	known := make(map[string]bool, len(EventNames))
	for _, name := range EventNames {
		known[name] = true
	}
	return known
}()

// CheckEvent refuses a name outside the catalogue.
func CheckEvent(e Event) error {
	if !eventNames[e.Type] {
		return &Error{Code: Internal, Message: "event " + e.Type + " is not in the catalogue", Hint: "add it to holdshort.EventNames and docs/events.md first"}
	}
	return nil
}

// MatchEvent reports whether name fits one of the globs: `*` stands for any run of characters, over dots and colons alike.
func MatchEvent(name string, globs []string) bool {
	return len(globs) == 0 || slices.ContainsFunc(globs, func(g string) bool { return glob(g, name) })
}

// glob reports whether name matches pattern. It goes back only to the last star, so a hostile pattern costs no more than
// its length times the name's.
func glob(pattern, name string) bool {
	p, n, star, resume := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0: // let the star take one more
			resume++
			p, n = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
