package holdshort

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
)

// Ids are UUIDv7 in 26 letters and digits behind a prefix that says what they name: run_01jc…. They sort by the time they were made,
// as strings too, which keeps new rows side by side in an index: random keys cost a factor of three.
type (
	TenantID   string // chosen by the operator, no prefix
	SessionID  string
	MessageID  string
	RunID      string
	RequestID  string
	DecisionID string
	EventID    string
	DeliveryID string
	InboundID  string
	KeyID      string
	WebhookID  string
)

const (
	sessionPrefix  = "ses_"
	messagePrefix  = "msg_"
	runPrefix      = "run_"
	requestPrefix  = "req_"
	decisionPrefix = "dec_"
	eventPrefix    = "evt_"
	deliveryPrefix = "dlv_"
	inboundPrefix  = "inb_"
	keyPrefix      = "key_"
	webhookPrefix  = "whk_"
)

// The makers take the time from the caller: inside a transaction that is Tx.Now.
func NewSessionID(at time.Time) SessionID   { return SessionID(newID(sessionPrefix, at)) }
func NewMessageID(at time.Time) MessageID   { return MessageID(newID(messagePrefix, at)) }
func NewRunID(at time.Time) RunID           { return RunID(newID(runPrefix, at)) }
func NewRequestID(at time.Time) RequestID   { return RequestID(newID(requestPrefix, at)) }
func NewDecisionID(at time.Time) DecisionID { return DecisionID(newID(decisionPrefix, at)) }
func NewEventID(at time.Time) EventID       { return EventID(newID(eventPrefix, at)) }
func NewDeliveryID(at time.Time) DeliveryID { return DeliveryID(newID(deliveryPrefix, at)) }
func NewInboundID(at time.Time) InboundID   { return InboundID(newID(inboundPrefix, at)) }
func NewKeyID(at time.Time) KeyID           { return KeyID(newID(keyPrefix, at)) }
func NewWebhookID(at time.Time) WebhookID   { return WebhookID(newID(webhookPrefix, at)) }

// The parsers take what people and programs send. A wrong one is Invalid, never a lookup.
func ParseSessionID(s string) (SessionID, error)   { return parseID[SessionID](sessionPrefix, s) }
func ParseMessageID(s string) (MessageID, error)   { return parseID[MessageID](messagePrefix, s) }
func ParseRunID(s string) (RunID, error)           { return parseID[RunID](runPrefix, s) }
func ParseRequestID(s string) (RequestID, error)   { return parseID[RequestID](requestPrefix, s) }
func ParseDecisionID(s string) (DecisionID, error) { return parseID[DecisionID](decisionPrefix, s) }
func ParseEventID(s string) (EventID, error)       { return parseID[EventID](eventPrefix, s) }
func ParseDeliveryID(s string) (DeliveryID, error) { return parseID[DeliveryID](deliveryPrefix, s) }
func ParseKeyID(s string) (KeyID, error)           { return parseID[KeyID](keyPrefix, s) }
func ParseWebhookID(s string) (WebhookID, error)   { return parseID[WebhookID](webhookPrefix, s) }

const (
	idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's base 32: no i, l, o, u
	idLength   = 26
	maxTenant  = 64
)

func newID(prefix string, at time.Time) string {
	var u [16]byte
	rand.Read(u[6:]) // never fails: the runtime ends the program when the system has no randomness
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	// The twelve bits after the version hold the fraction of the millisecond, so that ids made within one still sort by time.
	fraction := uint16(uint64(at.Nanosecond()%1_000_000) * 4096 / 1_000_000)
	u[6] = 0x70 | byte(fraction>>8)
	u[7] = byte(fraction)
	u[8] = 0x80 | u[8]&0x3f
	return prefix + encodeID(u)
}

// encodeID writes the 128 bits as 26 digits of five bits, the first of which holds only three.
func encodeID(u [16]byte) string {
	var out [idLength]byte
	var buffer uint32
	bits := 2 // two leading zero bits make 130
	n := 0
	for _, b := range u {
		buffer = buffer<<8 | uint32(b)
		bits += 8
		for bits >= 5 {
			bits -= 5
			out[n] = idAlphabet[buffer>>bits&31]
			n++
		}
	}
	return string(out[:])
}

func parseID[T ~string](prefix, s string) (T, error) {
	body, ok := strings.CutPrefix(s, prefix)
	if !ok || len(body) != idLength || body[0] > '7' {
		return "", badID(prefix, s)
	}
	for i := range len(body) {
		if strings.IndexByte(idAlphabet, body[i]) < 0 {
			return "", badID(prefix, s)
		}
	}
	return T(s), nil
}

func badID(prefix, s string) error {
	return &Error{Code: Invalid, Field: "id", Message: fmt.Sprintf("%q is not an id of the form %s…", clip(s, 60), prefix),
		Hint: "ids are copied whole: prefix, underscore and 26 letters or digits"}
}

// SystemTenant is where the store notes what concerns no tenant: seals, prunings, accepted restores. No tenant can have its name.
const SystemTenant TenantID = "_system"

// ParseTenantID takes lower-case letters, digits, dots, dashes and underscores, 64 at most, the first a letter or digit.
func ParseTenantID(s string) (TenantID, error) {
	ok := s != "" && len(s) <= maxTenant && s[0] != '-' && s[0] != '_' && s[0] != '.'
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
	}
	if !ok {
		return "", &Error{Code: Invalid, Field: "tenant", Message: fmt.Sprintf("%q is not a tenant name", clip(s, 80)),
			Hint: "use 1 to 64 lower-case letters, digits, dots, dashes and underscores"}
	}
	return TenantID(s), nil
}

// clip keeps hostile input out of messages and logs.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
